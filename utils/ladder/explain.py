"""A step on the virtual GPU: traced with its own arrays, or only counted."""

from __future__ import annotations

import numpy as np

from utils.ladder.memory import untouched
from utils.ladder.problems import poisoned
from utils.ladder.step import Call, Variant
from utils.ladder.tasks import Shape
from virtual_gpu import Trace, trace


def trace_step(variant: Variant, shape: Shape, kind: str = "uniform", **observed) -> Trace:
    """One launch of the step's own kernel on the virtual GPU: findings, and counts by line.

    kind: of inputs, as in `problems.KINDS`. observed: as for `trace`: blocks, to run only so many;
    record, a block whose events are kept; values, with what its threads load and store.
    """
    problem = variant.step.task.problem(shape, kind)
    out = poisoned(problem.reference.shape)
    return _traced(variant.main_call(shape, problem.inputs, out), **observed)


def count_step(variant: Variant, shape: Shape, blocks: int) -> Trace:
    """As `trace_step`, for shapes of any size: all arrays hold zeros, which cost no memory."""
    inputs = tuple(np.zeros(size, np.float32) for size in variant.step.task.input_shapes(shape))
    out = np.zeros(variant.step.task.output_shape(*vars(shape).values()), np.float32)
    return _traced(variant.main_call(shape, inputs, out, untouched), blocks=blocks)


def _traced(call: Call, **observed) -> Trace:
    return trace(
        call.kernel,
        call.launch.grid,
        call.launch.block,
        *call.arguments,
        shared_bytes=call.launch.shared_bytes,
        **observed,
    )
