"""The family of reductions: kernels that add up x, of any length, block by block.

A shape is (n,). The numbers in x are whole, so that every float32 sum is exact, and all different.
What goes wrong is in `labs.reduction_probes`, and, by wrong sums, in `labs.reduction_sums`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from labs.exercise import Exercise, Probes, Shape, Target, smaller
from labs.reduction_probes import findings, other_block, refused, unwritten
from labs.reduction_sums import wrong_sums
from labs.run import Run
from labs.shared_memory import meeting
from labs.targets import wavefronts_per_request
from labs.vectors import numbers
from labs.words import at_line, counted
from utils.ladder.step import Launch
from utils.virtual_gpu.counters import AccessCount


@dataclass(frozen=True)
class Sums:
    """Which sums a launch computes.

    threads: of a block. each: elements of a thread, so that a block adds threads·each of them.
    whole: whether the result is one sum of everything, and not one sum of each block.
    """

    threads: int = 256
    each: int = 1
    whole: bool = False

    @property
    def per_block(self) -> int:
        """Elements that a block adds."""
        return self.threads * self.each

    def launch(self, shape: Shape) -> Launch:
        """Enough blocks for n elements."""
        return Launch(grid=(self.blocks(shape[0]),), block=(self.threads,))

    def blocks(self, n: int) -> int:
        """Blocks of the launch for n elements."""
        return -(-n // self.per_block)

    def reference(self, x: np.ndarray, *scratch) -> np.ndarray:
        """The sums, float64: shape (blocks,), or (1,) where there is one of everything."""
        whole = np.zeros(self.blocks(x.size) * self.per_block)
        whole[: x.size] = x
        return whole.reshape(1 if self.whole else -1, -1 if self.whole else self.per_block).sum(1)

    def own(self, result: int, n: int) -> range:
        """The elements of x that belong to an element of the result."""
        if self.whole:
            return range(n)
        return range(result * self.per_block, min(n, (result + 1) * self.per_block))


def reduction(
    sums: Sums,
    constant: str | None = None,
    probes: Probes = Probes(),  # noqa: B008, frozen
    **told,
) -> Exercise:
    """An exercise of this family: a kernel whose first parameter is x and whose last is the result.

    constant: the starter's name for the number of threads. probes: what this exercise knows of its
    own mistakes, asked before what the family knows. told: the fields of Exercise that the family
    leaves open; parameters and inputs as well, where the kernel needs memory besides x.
    """
    known = Probes(
        constants=(*probes.constants, *other_block(sums, constant)),
        refused=(*probes.refused, *refused()),
        unknown=probes.unknown,
        idle=probes.idle,
        findings=(*probes.findings, *findings(sums)),
        unwritten=(*probes.unwritten, *unwritten(sums)),
        wrong=(*probes.wrong, *wrong_sums(sums)),
    )
    family = {"parameters": ("x", "partials"), "inputs": inputs, **told}
    return Exercise(
        sizes=("n",), launch=sums.launch, reference=sums.reference, probes=known, vary=smaller,
        **family,
    )  # fmt: skip


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray]:
    """x: the numbers from 1 to n in any order, float32. n is below 5793: their sum is exact."""
    return (numbers(shape, seed),)


# --------------------------------------------------------------------------------------- targets


def each_element_once() -> Target:
    """Each element of x is loaded once."""

    def measure(seen: Run) -> float:
        return seen.total("x", "load", "words") / seen.shape[0]

    def cause(seen: Run, value: float) -> str:
        most = max(seen.accesses("x"), key=lambda access: access.words)
        return (
            f"`{most.array}` has {counted(seen.shape[0], 'element')}, and "
            f"{counted(seen.total('x', 'load', 'words'), 'word')} of it are loaded, "
            f"{most.words:,} of them at {at_line(most.site)}. Which elements are loaded more "
            "than once, and by whom?"
        )

    words = "each element of `x` is loaded once"
    return Target("loads per element", 1, words, measure, cause, True)


def shared_requests_per_block(at_most: float) -> Target:
    """Loads and stores of shared memory, each counted once for a warp that takes part."""

    def of_lines(seen: Run) -> list[AccessCount]:
        return [one for one in seen.trace.access_counts if one.space == "shared"]

    def measure(seen: Run) -> float:
        blocks = seen.exercise.launch(seen.shape).blocks
        return sum(one.requests for one in of_lines(seen)) / blocks

    def cause(seen: Run, value: float) -> str:
        blocks = seen.exercise.launch(seen.shape).blocks
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
