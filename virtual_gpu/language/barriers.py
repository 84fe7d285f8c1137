"""Barriers and fences of a block and of the whole grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numbers import operations
from .call import Call, Handler
from .frame import Evaluate


def syncthreads(call: Call) -> Evaluate:
    """``cuda.syncthreads``: a barrier of the block."""
    call.arguments(0)
    site = call.site

    def evaluate(frame, mask):
        frame.run.barrier(mask, site)

    return evaluate


def block_vote(combine: Callable) -> Handler:
    """syncthreads_count, _and, _or: a barrier that also counts a predicate over the block."""

    def handler(call: Call) -> Evaluate:
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
    """A fence: what a thread did may be released by an atomic, to all blocks or to its own."""

    def handler(call: Call) -> Evaluate:
        call.arguments(0)
        return lambda frame, mask: frame.run.clock.fence(mask, whole_grid)

    return handler


GRID_GROUP = object()  # cuda.cg.this_grid()


def this_grid(call: Call) -> Evaluate:
    """``cuda.cg.this_grid``: its barrier needs all blocks at once."""
    call.arguments(0)
    call.compiler.cooperative = call.compiler.syncs_grid = True
    return lambda frame, mask: GRID_GROUP
