"""One launch of a reader's kernel on the virtual GPU, and what was seen of it.

A function of the CPU is launched as a kernel of one thread, and what it touched is kept in order.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labs.checking.job import Job, Shape
from virtual_gpu import Trace, trace
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount
from virtual_gpu.counts.recorder import Recording

SEED = 5
# Of all loops, counted for each thread; a right kernel takes less than a million at any shape.
LANE_ROUNDS = 3e6
# The same for a function of the CPU, whose one thread takes a thousand at most.
CPU_ROUNDS = 3e4
WORD = 4  # bytes
EVENTS = 20_000  # that a recording keeps
# A NaN that arithmetic does not make: an element that holds it was never written.
UNWRITTEN = np.uint32(0x7FC0_0BAD)


@dataclass(frozen=True, eq=False)
class Run:
    """What a kernel did at one shape.

    inputs: as they were before the launch. left: the same arguments as the launch left them.
    out: the result. printed: whether the kernel printed. patience: seconds that a launch may take.
    """

    job: Job
    kernel: Callable
    shape: Shape
    inputs: tuple
    left: tuple
    out: np.ndarray
    trace: Trace
    printed: bool
    patience: float

    @cached_property
    def right(self) -> np.ndarray:
        """The reference."""
        return self.job.reference(*self.inputs)

    @property
    def where(self) -> str:
        """The shape, to begin a sentence: At m×n×k = 16×128×24."""
        sizes = f"{'×'.join(self.job.sizes)} = " if self.job.sizes else ""
        return f"At {sizes}{'×'.join(map(str, self.shape))}"

    @cached_property
    def unwritten(self) -> np.ndarray:
        """For each element of the result whether it was never written."""
        return self.out.view(np.uint32) == UNWRITTEN

    @cached_property
    def wrong(self) -> np.ndarray:
        """For each element of the result whether its value is wrong."""
        return self.out != self.right

    @cached_property
    def names(self) -> dict[str, str]:
        """The reader's name of each parameter of the job."""
        theirs = inspect.signature(self.kernel.py_func).parameters
        return dict(zip(self.job.parameters, theirs))

    @property
    def result(self) -> str:
        """The reader's name of the result."""
        return self.names[self.job.result]

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The kernel's syntax tree."""
        return read_source(self.kernel.py_func).tree

    def array(self, parameter: str) -> np.ndarray:
        """The argument of this name: an input as it was before the launch, or the result."""
        return dict(zip(self.job.parameters, (*self.inputs, self.out)))[parameter]

    def parameter(self, array: str) -> str | None:
        """The exercise's name for what the reader calls so; None for no parameter."""
        return next((ours for ours, theirs in self.names.items() if theirs == array), None)

    def accesses(self, parameter: str, kind: str = "load") -> list[AccessCount]:
        """The counts of each source line that accessed this parameter, first execution first."""
        name = self.names[parameter]
        wanted = (name, kind, "global")  # a shared array may have the name of a parameter
        return [o for o in self.trace.access_counts if (o.array, o.kind, o.space) == wanted]

    def total(self, parameter: str, kind: str, count: str) -> int:
        """One count (requests, words, sectors ...) over all lines."""
        return sum(getattr(one, count) for one in self.accesses(parameter, kind))

    def lane_step(self, parameter: str, kind: str = "load") -> int | None:
        """Words from lane 0 to lane 1 in the first request where both are active."""
        for one in self.accesses(parameter, kind):
            for lanes in one.first:
                if (lanes[:2] >= 0).all():
                    return int(lanes[1] - lanes[0]) // WORD
        return None

    def at(self, shape: Shape, blocks: int | None = None) -> Run:
        """The same kernel at another shape; ``blocks``: only so many of them, the first ones."""
        return run(self.job, self.kernel, shape, self.patience, blocks)

    def recorded(self, block: int) -> Recording:
        """What one block of this launch does, in order; the launch runs again for it."""
        again = run(self.job, self.kernel, self.shape, self.patience, record=block)
        return again.trace.recording


def run(
    job: Job,
    kernel: Callable,
    shape: Shape,
    patience: float,
    blocks: int | None = None,
    record: int | None = None,
    seed: int = SEED,
) -> Run:
    """Launch a kernel once, or only some of its blocks; record: a block whose events are kept.

    seed: of the inputs. Raises VirtualGpuError.
    """
    launch, inputs = job.launch(shape), job.inputs(shape, seed)
    given = tuple(np.copy(one) if isinstance(one, np.ndarray) else one for one in inputs)
    out = np.full(job.reference(*inputs).shape, UNWRITTEN).view(np.float32)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        seen = trace(
            kernel, launch.grid, launch.block, *given, out,
            shared_bytes=launch.shared_bytes, blocks=blocks,
            patience=patience, lane_rounds=CPU_ROUNDS if job.on_cpu else LANE_ROUNDS,
            record=0 if job.on_cpu else record, events=EVENTS,
        )  # fmt: skip
    return Run(
        job, kernel, shape, inputs, given, out, seen, bool(printed.getvalue()), patience
    )
