"""The family of copies: each thread moves several elements, as many of them at once as it can.

A shape is (n,). The launch has blocks of 256 threads, one for every 1024 elements, so that a thread
has four; which ones is its own choice. The numbers in x are all different: each value of the result
says which element it was.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np
from numba import typeof, types

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from labs.families.vectors import REFUSED, THREADS, numbers
from utils.errors import CourseError
from utils.ladder.step import Launch
from virtual_gpu.counts.recorder import Event

if TYPE_CHECKING:
    from gpu_xray import XRay

EACH = 4  # elements of a thread
BLOCK = THREADS * EACH  # elements of a block


def launch(shape: Shape) -> Launch:
    """A block for every 1024 elements."""
    return Launch(grid=(-(-shape[0] // BLOCK),), block=(THREADS,))


def several(**told) -> KernelExercise:
    """An exercise of this family: a kernel (x, out) that copies.

    told: the fields of KernelExercise that the family leaves open.
    """
    return KernelExercise(
        parameters=("x", "out"),
        sizes=("n",),
        launch=launch,
        inputs=lambda shape, seed: (numbers(shape, seed),),
        reference=lambda x: x.astype(np.float64),
        probes=Probes(refused=REFUSED),
        **told,
    )


# --------------------------------------------------------------------------------------- targets


def waits_in_source() -> Target:
    """How often a thread waits for what it has loaded, by the order of its loads and stores."""

    def measure(seen: Run) -> float:
        return float(max(map(len, _waits(seen))))

    def cause(seen: Run, value: float) -> str:
        waits = _waits(seen)
        thread = max(range(THREADS), key=lambda one: len(waits[one]))
        loads, store = waits[thread][0]
        return (
            f"{_line(seen, store)}: thread {thread} stores here when it has begun "
            f"{counted(loads, 'load')} of its {EACH}. A store waits until its value has arrived, "
            f"and the loads behind it begin later. The thread waits "
            f"{counted(len(waits[thread]), 'time')}.{_slices(seen)}"
        )

    words = "one wait of a thread for all its loads, in the source, counted in block 0"
    return Target("waits in the source", 1, words, measure, cause)


def waits_in_machine_code() -> Target:
    """The same of what the compiler made; unknown where the compiler is missing."""

    def measure(seen: Run) -> float | None:
        machine_code = _compiled(seen)
        return machine_code and EACH / machine_code.loads_before_use

    def cause(seen: Run, value: float) -> str:
        loads = _compiled(seen).loads_before_use
        return (
            f"in the machine code only {counted(loads, 'load')} stand{'s' * (loads == 1)} before "
            f"the first use of a loaded value, and {EACH} "
            "are needed. What does the kernel do with a value before it has begun all its loads? "
            "An element of a local array whose index is not known to the compiler is written to "
            "memory at once, and that is a use."
        )

    words = "one wait in the machine code, too"
    return Target("waits in the machine code", 1, words, measure, cause, of_machine=True)


def _compiled(seen: Run) -> XRay | None:
    """What the compiler made of the kernel; None where it is missing."""
    from gpu_xray import xray  # half a second, which a check without it need not wait

    try:
        return xray(seen.kernel, types.void(*map(typeof, (*seen.inputs, seen.out))))
    except CourseError:
        return None


def _waits(seen: Run) -> list[list[tuple[int, Event]]]:
    """For each thread of block 0: the loads before each store that waits, and that store."""
    waits: list[list[tuple[int, Event]]] = [[] for _ in range(THREADS)]
    loads = np.zeros(THREADS, int)
    for event in _moves(seen, 0):
        taking_part = np.flatnonzero(event.first >= 0)
        if event.kind == "load":
            loads[taking_part] += 1
            continue
        for thread in taking_part[loads[taking_part] > 0]:
            waits[thread].append((int(loads[thread]), event))
        loads[taking_part] = 0
    return waits


def _slices(seen: Run) -> str:
    """For who takes a slice for a load."""
    taken = [
        ast.unparse(node)
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
    ]
    if not taken:
        return ""
    return f" A slice such as `{taken[0]}` loads nothing by itself: each element that you use does."


def _line(seen: Run, event: Event) -> str:
    sites = [one for one in seen.trace.counts if one.line == event.line]
    return at_line(sites[0]) if sites else f"line {event.line}"


def _moves(seen: Run, block: int) -> list[Event]:
    """What a block loads from x and stores into out, in order."""
    arrays = {("load", seen.names["x"]), ("store", seen.result)}
    return [one for one in seen.recorded(block).events if (one.kind, one.array) in arrays]


# ---------------------------------------------------------------------------- indices too far out


# ------------------------------------------------------------------------- elements never written


# ----------------------------------------------------------------------------------- wrong values


