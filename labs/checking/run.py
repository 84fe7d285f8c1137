"""Runs: one launch of a reader's kernel on the virtual GPU, with its result and its trace.

A CPU function is launched as a kernel of one thread, and its accesses are recorded in order.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np

from labs.checking.job import Job, Shape
from utils.translation import translate
from virtual_gpu import Trace, VirtualGpuError, trace
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount
from virtual_gpu.counts.recorder import Event, Recording
from virtual_gpu.machine.change import Change

Block = tuple[int, ...]  # coordinates: x, or (x, y, z)
SEED = 5
# The most iterations of all loops, summed over threads; a right kernel makes less than a million.
LANE_ROUNDS = 3e6
# The most iterations of a CPU function, whose one thread makes at most a thousand if it is right.
CPU_ROUNDS = 3e4
WORD = 4  # bytes
MOST_TRIED = 3  # loads of one shared array whose use is tried
EVENTS = 20_000  # the most events that a recording keeps
# A NaN that arithmetic does not make: an element that holds it was never written.
UNWRITTEN = np.uint32(0x7FC0_0BAD)


@dataclass(frozen=True, eq=False)
class Run:
    """One launch of a kernel at one shape.

    job: what was launched, with the right result. kernel: the reader's kernel. shape: the problem
    sizes. inputs: the arguments before the launch, without the result. left: the same arguments
    after the launch. out: the result, float32. trace: what the virtual GPU counted and found.
    printed: True if the kernel printed. patience: the seconds that a launch may take. seed: the
    seed of the inputs, from which a block is drawn, too.
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
    seed: int

    @cached_property
    def right(self) -> np.ndarray:
        """The right result as a float64 array, computed from the inputs by the job's reference."""
        return self.job.reference(*self.inputs)

    @property
    def where(self) -> str:
        """A phrase on the shape to begin a sentence, such as "At m×n×k = 16×128×24"."""
        sizes = f"{'×'.join(self.job.sizes)} = " if self.job.sizes else ""
        return translate("At {shape}", shape=f"{sizes}{'×'.join(map(str, self.shape))}")

    @cached_property
    def unwritten(self) -> np.ndarray:
        """A boolean array of the result's shape, True for each element that was never written."""
        return self.out.view(np.uint32) == UNWRITTEN

    @cached_property
    def wrong(self) -> np.ndarray:
        """A boolean array of the result's shape, True for each element whose value is wrong.

        Elements that were never written are wrong, too.
        """
        return self.out != self.right

    @cached_property
    def names(self) -> dict[str, str]:
        """A dict from the exercise's name of each parameter to the reader's name."""
        reader_names = inspect.signature(self.kernel.py_func).parameters
        return dict(zip(self.job.parameters, reader_names))

    @property
    def result(self) -> str:
        """The reader's name of the parameter for the result."""
        return self.names[self.job.result]

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The syntax tree of the kernel's function, with the line numbers of the reader's file."""
        return read_source(self.kernel.py_func).tree

    def array(self, parameter: str) -> np.ndarray:
        """Return the argument for a parameter: an input before the launch, or the result after it.

        parameter: its name in the exercise.
        """
        return dict(zip(self.job.parameters, (*self.inputs, self.out)))[parameter]

    def parameter(self, array: str) -> str | None:
        """Return the exercise's name of the parameter that the reader calls `array`, or None."""
        return next((name for name, other in self.names.items() if other == array), None)

    def accesses(self, parameter: str, kind: str = "load") -> list[AccessCount]:
        """Return the accesses to a parameter in global memory: one AccessCount per source line.

        parameter: its name in the exercise. kind: "load", "store" or "atomic". The list is in the
        order in which the lines were first executed.
        """
        name = self.names[parameter]
        wanted = (name, kind, "global")  # a shared array may have the name of a parameter
        return [o for o in self.trace.access_counts if (o.array, o.kind, o.space) == wanted]

    def total(self, parameter: str, kind: str, count: str) -> int:
        """Return one count of a parameter's accesses, summed over all source lines.

        kind: "load", "store" or "atomic". count: the attribute of AccessCount, such as "requests".
        """
        return sum(getattr(one, count) for one in self.accesses(parameter, kind))

    def lane_step(self, parameter: str, kind: str = "load") -> int | None:
        """Return the words from lane 0 to lane 1 in the first request where both are active.

        The request is a load, or another `kind` of access, of the array `parameter`. A word has 4
        bytes. The number is negative if lane 1's address is lower. Returns None if there is no such
        request.
        """
        for one in self.accesses(parameter, kind):
            for lanes in one.first:
                if (lanes[:2] >= 0).all():
                    return int(lanes[1] - lanes[0]) // WORD
        return None

    def at(self, shape: Shape, blocks: int | None = None) -> Run:
        """Launch the kernel again at another shape and return the run.

        blocks: run only the first `blocks` blocks; None runs all.
        """
        return run_kernel(self.job, self.kernel, shape, self.patience, blocks, seed=self.seed)

    @cached_property
    def drawn_block(self) -> Block:
        """The coordinates (x, y, z) of a block that is drawn from the seed and the shape.

        It is (0, 0, 0) only if the launch has no other block.
        """
        launch = self.job.launch(self.shape)
        x, y, _ = (*launch.grid, 1, 1)[:3]
        number = Random(f"{self.seed} {self.shape}").randrange(1, max(2, launch.blocks))
        number %= launch.blocks
        return number % x, number // x % y, number // (x * y)

    @cached_property
    def samples(self) -> tuple[Recording, ...]:
        """The recorded events of block 0 and of the drawn block, as a tuple of two recordings.

        Each block was launched alone. If the drawn block is block 0, the tuple has one recording.
        """
        drawn = self.drawn.trace.recording
        first = (0, 0, 0)
        return (drawn,) if self.drawn_block == first else (self.alone(first).trace.recording, drawn)

    def alone(self, block: Block) -> Run:
        """Launch one block alone, and return the run with the recording and without counts."""
        return self._again(blocks=1, record=block, values=True, counts=False)

    @cached_property
    def drawn(self) -> Run:
        """A launch of the drawn block alone, with the recording of its events."""
        return self.alone(self.drawn_block)

    def uses(self, event: Event) -> bool:
        """Return True if the drawn block's result depends on what a load or shuffle delivers.

        That is tested in two ways. At least half of the values must differ when the inputs have
        another seed, so that constants such as zeros do not count. And the block's result must
        change when the block is launched again and these threads get changed values. If such a
        launch ends in an error, the test counts as passed. event: a load from shared memory, or a
        shuffle, of the drawn block.
        """
        return self._depends_on_input(event) and self._changes_result(event)

    def _depends_on_input(self, event: Event) -> bool:
        """Return True if at least half of an event's values change with the seed of the inputs.

        Also return True if, for the other seed, the block executes another instruction there,
        executes too few instructions to come there, or ends in an error. event: one of the drawn
        block.
        """
        events, others = self.drawn.trace.recording.events, self._events_for_other_inputs
        number = next(i for i, one in enumerate(events) if one is event)
        other = others[number] if number < len(others) else None
        if other is None or (other.line, other.operation) != (event.line, event.operation):
            return True
        own = event.first >= 0
        return bool(2 * np.mean(event.values[own] != other.values[own]) >= 1)

    @cached_property
    def _events_for_other_inputs(self) -> tuple[Event, ...]:
        """The drawn block's events for the inputs of another seed; () if they end in an error."""
        try:
            again = run_kernel(
                self.job, self.kernel, self.shape, self.patience, blocks=1, record=self.drawn_block,
                seed=self.seed + 1, values=True, counts=False,
            )  # fmt: skip
        except VirtualGpuError:
            return ()
        return again.trace.recording.events

    def _changes_result(self, event: Event) -> bool:
        """Return True if the drawn block's result changes when this event gives other values.

        The block is launched again for this; an error counts as a change. event: a load or a
        shuffle.
        """
        first = event.first if event.sources is None else event.sources
        change = Change(event.array.partition(" (")[0], first, max(1, event.width))
        try:
            again = self._again(blocks=1, record=self.drawn_block, change=change, counts=False)
        except VirtualGpuError:
            return True
        return again.out.tobytes() != self.drawn.out.tobytes()

    @cached_property
    def used_shares(self) -> dict[str, float]:
        """A dict from the name of each shared array to the used share of its loaded words, 0 to 1.

        The loads are those of the drawn block. A load counts as used if `is_exchanged` and `uses`
        are True: most of its words come from other threads, and the block's result depends on them.
        At most MOST_TRIED loads of each array, drawn from the seed, are tried, and the share is
        that of their words. It is 0 for an array that is never loaded.
        """
        recording, random = self.drawn.trace.recording, Random(self.seed)
        shares = {}
        for array in (one.name for one in recording.arrays if one.space == "shared"):
            loads = [o for o in recording.events if (o.array, o.kind) == (array, "load")]
            tried = random.sample(loads, min(len(loads), MOST_TRIED))
            words = [int((one.first >= 0).sum()) * one.width for one in tried]
            used = sum(
                count
                for one, count in zip(tried, words)
                if is_exchanged(recording, one) and self.uses(one)
            )
            shares[array] = used / max(1, sum(words))
        return shares

    def recorded(self, block: int) -> Recording:
        """Launch the whole kernel again and return the recorded events of one block, in order.

        block: the index of the block.
        """
        return self._again(record=block, counts=False).trace.recording

    def _again(self, **options) -> Run:
        """Launch the kernel again with the same inputs, and return the run.

        options: keyword arguments of `run_kernel`.
        """
        return run_kernel(
            self.job, self.kernel, self.shape, self.patience, seed=self.seed, **options
        )


def is_exchanged(recording: Recording, load: Event) -> bool:
    """Return True if at least half of the words that a load reads come from other threads.

    A word comes from the thread of the block that stored it last before the load. A word that no
    thread has stored counts as one of another thread. load: an event of the recording, a load from
    a shared array.
    """
    threads, steps = np.flatnonzero(load.first >= 0), np.arange(load.width)
    places = load.first[threads, None] + steps
    writer = np.full(places.max() + 1, -1)
    for event in recording.events:
        if event is load:
            break
        if event.array == load.array and event.kind != "load":
            storing = np.flatnonzero(event.first >= 0)
            stored = event.first[storing, None] + np.arange(event.width)
            inside = stored < len(writer)
            by = np.broadcast_to(storing[:, None], stored.shape)
            writer[stored[inside]] = by[inside]
    return bool(2 * np.mean(writer[places] != threads[:, None]) >= 1)


def run_kernel(
    job: Job,
    kernel: Callable,
    shape: Shape,
    patience: float,
    blocks: int | None = None,
    record: int | Block | None = None,
    seed: int = SEED,
    change: Change | None = None,
    values: bool = False,
    counts: bool = True,
) -> Run:
    """Launch a kernel once on the virtual GPU, without showing its prints, and return its run.

    patience: the seconds that the launch may take. blocks: run only the first `blocks` blocks; None
    runs all. record: the index or the coordinates of a block whose events are recorded, or None; a
    CPU function is always recorded. seed: the seed of the inputs. change: a change of the words
    that some threads read, or None; with it no events are recorded. values: True to record what is
    loaded and stored. counts: False to count nothing, if only the result and the recording are
    needed. Raises VirtualGpuError if the kernel cannot be compiled, raises an error or does not
    end.
    """
    launch, inputs = job.launch(shape), job.inputs(shape, seed)
    arguments = tuple(np.copy(one) if isinstance(one, np.ndarray) else one for one in inputs)
    out = np.full(job.reference(*inputs).shape, UNWRITTEN).view(np.float32)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        traced = trace(
            kernel, launch.grid, launch.block, *arguments, out,
            shared_bytes=launch.shared_bytes, blocks=blocks,
            patience=patience, lane_rounds=CPU_ROUNDS if job.on_cpu else LANE_ROUNDS,
            record=0 if job.on_cpu else record, events=0 if change else EVENTS, change=change,
            values=values, counts=counts,
        )  # fmt: skip
    return Run(
        job, kernel, shape, inputs, arguments, out, traced, bool(printed.getvalue()), patience, seed
    )
