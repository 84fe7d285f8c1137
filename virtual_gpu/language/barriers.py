"""Compiles barriers and memory fences of a block and of the whole grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numbers import operations
from .call_expression import CallExpression, Handler
from .frame import Evaluate


def syncthreads(call: CallExpression) -> Evaluate:
    """Compile ``cuda.syncthreads``, the barrier of a block; the closure returns None.

    The closure reports the barrier if some live threads of a block do not reach it.
    """
    call.arguments(0)
    site = call.site

    def evaluate(frame, mask):
        frame.run.barrier(mask, site)

    return evaluate


def block_vote(combine: Callable) -> Handler:
    """Return the handler of ``cuda.syncthreads_count``, ``_and`` or ``_or``.

    ``combine(votes, voters)`` computes the result of each block from the number of its threads for
    which the predicate holds and the number that take part. Both are arrays with one entry per
    block. A call returns the result of the block as an int32 in each of its lanes; it raises
    Unsupported if the predicate is no integer.
    """

    def handler(call: CallExpression) -> Evaluate:
        (predicate,) = call.arguments(1)
        site = call.site

        def evaluate(frame, mask):
            run, value = frame.run, predicate(frame, mask)
            if value.dtype.kind not in "iu":
                what = f"a predicate of type {value.dtype}"
                raise call.refuse(f"{what} (Numba refuses it, too: write int() around it)")
            holds = operations.truth(value) & mask.lanes
            run.barrier(mask, site)
            votes = holds.reshape(run.batch.blocks, -1).sum(axis=1)
            voters = mask.lanes.reshape(run.batch.blocks, -1).sum(axis=1)
            return np.repeat(combine(votes, voters).astype(np.int32), run.batch.width)

        return evaluate

    return handler


def fence(whole_grid: bool) -> Handler:
    """Return the handler of a memory fence, such as ``cuda.threadfence``.

    After the fence, an atomic may publish the thread's earlier writes: to all blocks if
    ``whole_grid``, else to its own block.
    """

    def handler(call: CallExpression) -> Evaluate:
        call.arguments(0)
        site, kind = call.site, "fence" if whole_grid else "fence_block"

        def evaluate(frame, mask):
            frame.run.clock.fence(mask, whole_grid)
            frame.run.record(kind, mask, site)

        return evaluate

    return handler


GRID_GROUP = object()  # cuda.cg.this_grid()


def this_grid(call: CallExpression) -> Evaluate:
    """Compile ``cuda.cg.this_grid``, which returns GRID_GROUP.

    The kernel becomes cooperative: all blocks run at once.
    """
    call.arguments(0)
    call.compiler.cooperative = call.compiler.syncs_grid = True
    return lambda frame, mask: GRID_GROUP
