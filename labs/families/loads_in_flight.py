"""The family of copies with several loads in flight: each thread copies four elements.

A shape is (n,). The launch has one block of 256 threads per 1024 elements; the kernel decides which
four elements a thread copies. The numbers in x all differ, so each value of the result identifies
its source.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np
from numba import typeof, types

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, block_number, counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from labs.families.vectors import REFUSED, THREADS, numbers
from labs.targets.counts import input_loads_per_element
from labs.targets.data_flow import steered
from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.step import Launch
from utils.translation import translate
from virtual_gpu.counts.recorder import Event, Recording

if TYPE_CHECKING:
    from gpu_xray import XRay

EACH = 4  # elements per thread
STORES = ("store", "atomic")
# A fence waits for all loads before it, and the others for the value that they pass on.
OTHER_WAITS = ("fence", "fence_block", "shuffle", "vote", "match")
BLOCK = THREADS * EACH  # elements per block


def launch(shape: Shape) -> Launch:
    """Return a launch with a block of 256 threads per 1024 elements, rounded up. shape: (n,)."""
    return Launch(grid=(cdiv(shape[0], BLOCK),), block=(THREADS,))


def copy_exercise(targets: tuple[Target, ...], **fields) -> KernelExercise:
    """Return an exercise whose kernel (x, out) copies x into out, four elements per thread.

    targets: the exercise's own targets; that each element is loaded once comes last in any case.
    fields: the remaining fields of KernelExercise.
    """
    return KernelExercise(
        parameters=("x", "out"),
        sizes=("n",),
        launch=launch,
        inputs=lambda shape, seed: (numbers(shape, seed),),
        reference=lambda x: x.astype(np.float64),
        probes=Probes(refused=REFUSED),
        targets=(*targets, input_loads_per_element(1)),
        **fields,
    )


# --------------------------------------------------------------------------------------- targets


def waits_in_source() -> Target:
    """Return the target that each thread of block 0 and of a drawn block waits at most once.

    A thread waits at a store into out or into shared memory, at a fence, a shuffle, a vote or a
    match if it has loaded from x since it last waited. The count is the number of waits of the
    thread that waits most often. It is 4 if an address or a condition depends on a loaded value,
    because then a load waits for another one. At shapes that do not fill all blocks, only the waits
    in block 0 count, and none if block 0 is partial.
    """

    def measure(run: Run) -> float:
        waits = (len(one) for block in run.samples for one in _waits(run, block))
        return float(EACH if steered(run, "x") else max(waits))

    def at_edges(run: Run) -> float:
        """Return the most waits of a thread of block 0, or 0 if block 0 is partial.

        In a partial block a kernel may test loads one by one. Block 0 is the first sample.
        """
        if run.shape[0] < BLOCK:
            return 0.0
        return float(max(map(len, _waits(run, run.samples[0]))))

    def cause(run: Run, value: float) -> str:
        if line := steered(run, "x"):
            return translate(
                "{where} needs a loaded value for an address or a condition. So the thread waits "
                "there until the value has arrived.",
                where=at_line(line),
            )
        block = max(run.samples, key=lambda one: max(map(len, _waits(run, one))))
        waits = _waits(run, block)
        thread = max(range(THREADS), key=lambda one: len(waits[one]))
        loads, store = waits[thread][0]
        if store.kind not in STORES:
            return translate(
                "{line}: thread {thread} of block {block} waits here for its values when it has "
                "begun {loads} of its {each}, and the loads behind it begin later. The thread "
                "waits {times}.",
                line=_line(run, store),
                thread=thread,
                block=block_number(block.block),
                loads=counted(loads, "load"),
                each=EACH,
                times=counted(len(waits[thread]), "time"),
            )
        return translate(
            "{line}: thread {thread} of block {block} stores here when it has begun {loads} of its "
            "{each}. A store waits until its value has arrived, and the loads behind it begin "
            "later. The thread waits {times}.{slices}",
            line=_line(run, store),
            thread=thread,
            block=block_number(block.block),
            loads=counted(loads, "load"),
            each=EACH,
            times=counted(len(waits[thread]), "time"),
            slices=_slices(run),
        )

    words = "one wait of a thread for all its loads, in the source, counted in two blocks"
    return Target("waits in the source", 1, words, measure, cause, at_edges=at_edges)


def waits_in_machine_code() -> Target:
    """Return the target that each thread waits at most once, by the machine code of the kernel.

    The count is 4, the loads of a thread, divided by the number of loads before the first use of a
    loaded value, or 4 if there is no such load. It is None if the kernel cannot be compiled here:
    without a compiler for CUDA, or if the compiler refuses it.
    """

    def measure(run: Run) -> float | None:
        machine_code = _compiled(run)
        return machine_code and EACH / max(1, machine_code.loads_before_use)

    def cause(run: Run, value: float) -> str:
        loads = _compiled(run).loads_before_use
        return (
            f"in the machine code only {counted(loads, 'load')} stand{'s' * (loads == 1)} before "
            f"the first use of a loaded value, and {EACH} "
            "are needed. What does the kernel do with a value before it has begun all its loads? "
            "An element of a local array whose index is not known to the compiler is written to "
            "memory at once, and that is a use."
        )

    words = "one wait in the machine code, too"
    return Target("waits in the machine code", 1, words, measure, cause, of_machine=True)


def _compiled(run: Run) -> XRay | None:
    """Compile the kernel for the arguments of a run and return the x-ray of its machine code.

    Returns None if it cannot be compiled here, for example because there is no compiler.
    """
    from gpu_xray import xray  # this import takes half a second, which most checks do not need

    try:
        return xray(run.kernel, types.void(*map(typeof, (*run.inputs, run.out))))
    except CourseError:
        return None


def _waits(run: Run, block: Recording) -> list[list[tuple[int, Event]]]:
    """Return, per thread of a block, the events at which it waits, as pairs (loads, event).

    loads: the number of loads that the thread has begun since it last waited. event: a store, or
    another event of OTHER_WAITS. The pairs are in the order of execution.
    """
    waits: list[list[tuple[int, Event]]] = [[] for _ in range(THREADS)]
    loads = np.zeros(THREADS, int)
    for event in _moves(run, block):
        taking_part = np.flatnonzero(event.first >= 0)
        if event.kind == "load":
            loads[taking_part] += 1
            continue
        for thread in taking_part[loads[taking_part] > 0]:
            waits[thread].append((int(loads[thread]), event))
        loads[taking_part] = 0
    return waits


def _slices(run: Run) -> str:
    """Return a sentence, after a space, that slices load nothing, or "" without a slice."""
    slices = [
        ast.unparse(node)
        for node in ast.walk(run.tree)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    ]
    if not slices:
        return ""
    return translate(
        " A slice such as `{slices}` loads nothing by itself: each element that you use does.",
        slices=slices[0],
    )


def _line(run: Run, event: Event) -> str:
    """Return a phrase on the source line of an event, such as "line 7, `out[i] = x[i]`".

    It is only "line 7" if the run has no counts for this line.
    """
    sites = [one for one in run.trace.counts if one.line == event.line]
    return at_line(sites[0]) if sites else f"line {event.line}"


def _moves(run: Run, block: Recording) -> list[Event]:
    """Return a block's events that load from x, store anything or wait, in the order of execution.

    Atomics count as stores.
    """
    loading, others = ("load", run.names["x"]), (*STORES, *OTHER_WAITS)
    return [one for one in block.events if one.kind in others or (one.kind, one.array) == loading]
