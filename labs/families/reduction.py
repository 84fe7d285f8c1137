"""The family of reductions: kernels that add up x, of any length, block by block.

A shape is (n,). The numbers in x are whole, so that every float32 sum is exact, and all different.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape, smaller
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from labs.families.shared_memory import (
    computed_size,
    meeting,
)
from labs.families.sums import Sums
from labs.families.vectors import REFUSED, numbers
from labs.families.wrong_sums import wrong_sums
from labs.targets.counts import wavefronts_per_request
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount


def reduction(
    sums: Sums,
    constant: str | None = None,
    probes: Probes = Probes(),  # noqa: B008, frozen
    **told,
) -> KernelExercise:
    """An exercise of this family: a kernel whose first parameter is x and whose last is the result.

    constant: the starter's name for the number of threads. probes: what this exercise knows of its
    own mistakes, asked before what the family knows. told: the fields of KernelExercise that
    the family leaves open; parameters and inputs as well, where the kernel needs memory besides x,
    and the reference, where it does not add up x.
    """
    known = Probes(
        constants=(*probes.constants, *other_block(sums, constant)),
        refused=(*probes.refused, *refused()),
        unknown=probes.unknown,
        wrong=() if "reference" in told else wrong_sums(sums),
    )
    family = {
        "parameters": ("x", "partials"), "inputs": inputs, "reference": sums.reference, **told,
    }  # fmt: skip
    return KernelExercise(
        sizes=("n",), launch=sums.launch, probes=known, vary=smaller,
        **family,
    )  # fmt: skip


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray]:
    """x: the numbers from 1 to n in any order, float32. n is below 5793: their sum is exact."""
    return (numbers(shape, seed),)


# --------------------------------------------------------------------------------------- targets


def each_element_once(of: str = "x") -> Target:
    """Each element of an input is loaded once."""

    def measure(seen: Run) -> float:
        return seen.total(of, "load", "words") / seen.shape[0]

    def cause(seen: Run, value: float) -> str:
        most = max(seen.accesses(of), key=lambda access: access.words)
        return (
            f"`{most.array}` has {counted(seen.shape[0], 'element')}, and "
            f"{counted(seen.total(of, 'load', 'words'), 'word')} of it are loaded, "
            f"{most.words:,} of them at {at_line(most.site)}. Which elements are loaded more "
            "than once, and by whom?"
        )

    words = f"each element of `{of}` is loaded once"
    what = "loads per element" if of == "x" else f"loads per element of {of}"
    return Target(what, 1, words, measure, cause, True)


def full_loads(of: str = "x") -> Target:
    """Each request that loads an input serves 32 lanes: one thread alone loads nothing."""

    def measure(seen: Run) -> float:
        lanes = seen.total(of, "load", "lanes")
        return 32 * seen.total(of, "load", "requests") / lanes if lanes else 0.0

    def cause(seen: Run, value: float) -> str:
        worst = min(seen.accesses(of), key=lambda access: access.lanes / access.requests)
        return (
            f"{at_line(worst.site)}: a request to `{worst.array}` serves "
            f"{worst.lanes / worst.requests:.3g} of 32 lanes on average. The other lanes of the "
            "warp wait."
        )

    words = f"each load of `{of}` serves all 32 lanes of a warp"
    return Target(f"requests to load {of} for 32 lanes", 1, words, measure, cause)


def shared_requests_per_block(at_most: float) -> Target:
    """Loads and stores of shared memory, each counted once for a warp that takes part."""

    def of_lines(seen: Run) -> list[AccessCount]:
        return [one for one in seen.trace.access_counts if one.space == "shared"]

    def measure(seen: Run) -> float:
        blocks = seen.job.launch(seen.shape).blocks
        return sum(one.requests for one in of_lines(seen)) / blocks

    def cause(seen: Run, value: float) -> str:
        blocks = seen.job.launch(seen.shape).blocks
        most = max(of_lines(seen), key=lambda one: one.requests)
        return (
            f"each block makes {value:.4g} requests to shared memory, and the target is "
            f"{at_most:g}. Most of them stand at {at_line(most.site)}: "
            f"{most.requests / blocks:.4g} requests to {most.kind} `{most.array}`, in which "
            f"{most.lanes / most.requests:.3g} of 32 lanes are active on average."
        )

    words = f"at most {at_most:g} requests to shared memory per block"
    return Target("shared requests per block", at_most, words, measure, cause)


def no_bank_conflict() -> Target:
    """Each request to shared memory takes one wavefront."""

    def cause(seen: Run, value: float) -> str:
        lines = [one for one in seen.trace.access_counts if one.wavefronts > one.requests]
        worst = max(lines, key=lambda one: one.wavefronts / one.requests)
        return (
            f"{at_line(worst.site)}: a {worst.kind} of `{worst.array}` takes {value:.3g} "
            f"wavefronts per request. {meeting(worst)}"
        )

    return replace(wavefronts_per_request(1), words="no bank conflict", cause=cause)


def no_atomics() -> Target:
    """No atomic operation: those on one word are made one after the other."""

    def measure(seen: Run) -> float:
        return float(sum(one.lanes for one in seen.trace.access_counts if one.kind == "atomic"))

    def cause(seen: Run, value: float) -> str:
        most = max(
            (one for one in seen.trace.access_counts if one.kind == "atomic"),
            key=lambda one: one.lanes,
        )
        return (
            f"{at_line(most.site)} makes {most.lanes:,} atomic operations on `{most.array}`. Those "
            "on one word are made one after the other, and the task asks for a tree."
        )

    return Target("atomic operations", 0, "no atomic operations", measure, cause)


def other_block(sums: Sums, constant: str | None) -> tuple[Callable, ...]:
    """The probe for a constant of the reader's that is not the number of threads."""
    return (partial(_other_block, sums, constant),) if constant else ()


def refused() -> tuple[Callable, ...]:
    """For what cannot be compiled."""
    return (computed_size, _divided, *REFUSED)


# -------------------------------------------------------------------- what does not fit the launch


def _other_block(sums: Sums, constant: str, kernel) -> str | None:
    """The reader's constant is not the number of threads."""
    code = kernel.py_func.__code__
    threads = read_source(kernel.py_func).names.get(constant)
    uses = constant in code.co_names + code.co_freevars
    if not uses or not isinstance(threads, int) or threads == sums.threads:
        return None
    return f"This launch has blocks of {sums.threads} threads, and your `{constant}` is {threads}."


def _divided(kernel, message: str) -> str | None:
    """`/` makes a float, which is no index."""
    for node in ast.walk(read_source(kernel.py_func).tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            return (
                f"`{ast.unparse(node)}` in line {node.lineno} divides with `/`, and that makes a "
                "number with a fraction, also where nothing is left over. For whole numbers "
                "there is `//`."
            )
    return None


# ----------------------------------------------------------------- what the virtual GPU has found


# -------------------------------------------------------------------- sums that nobody has stored
