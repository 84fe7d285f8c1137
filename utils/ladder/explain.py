"""Run a step on the virtual GPU, either traced with its own arrays or only counted."""

from __future__ import annotations

import numpy as np

from utils.ladder.memory import untouched
from utils.ladder.problems import poisoned
from utils.ladder.step import Call, Launch, Variant
from utils.ladder.tasks import Shape
from virtual_gpu import Trace, trace


def trace_step(variant: Variant, shape: Shape, kind: str = "uniform", **observed) -> Trace:
    """Run one launch of the step's own kernel on the virtual GPU and return its trace.

    `kind` is the kind of inputs, one of `problems.KINDS`. Other arguments go to
    `virtual_gpu.trace`: `blocks` limits the number of blocks that run, `record` names a block whose
    events are kept, and `values` also keeps the values that its threads load and store.
    """
    problem = variant.step.task.problem(shape, kind)
    out = poisoned(problem.reference.shape)
    return _traced(variant.main_call(shape, problem.inputs, out), **observed)


def count_step(variant: Variant, shape: Shape, blocks: int) -> Trace:
    """Return a trace of `blocks` thread blocks of a step's own kernel, for its counts.

    The blocks are spread over the grid; one block alone is the first. The shape may be of any size:
    all arrays hold zeros that are never touched as a whole, so even huge arrays cost no memory.
    """
    task = variant.step.task
    inputs = tuple(np.zeros(size, task.dtype) for size in task.input_shapes(shape))
    out = np.zeros(task.output_shape(*vars(shape).values()), np.float32)
    return _traced(variant.main_call(shape, inputs, out, untouched), blocks=blocks)


def _traced(call: Call, **observed) -> Trace:
    """Run a call on the virtual GPU and return its trace; `observed` goes to `trace`."""
    launch = call.launch or Launch((1,), (1,))  # a CPU function runs as one thread
    return trace(
        call.kernel,
        launch.grid,
        launch.block,
        *call.arguments,
        shared_bytes=launch.shared_bytes,
        **observed,
    )
