"""The launches of a kernel exercise: their shapes, arguments, grids and right results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from labs.checking.vocabulary import FUNCTION, KERNEL, Vocabulary
from utils.ladder.step import Launch

Shape = tuple[int, ...]


def nearby(shape: Shape, random: Random) -> Shape:
    """Return a random shape in which no size differs by more than an eighth, or by 3 if small.

    A size of 1 does not change, and one below 6 changes by at most half of it.
    """
    reach = [max(size // 8, min(3, size // 2)) for size in shape]
    return tuple(
        size if size == 1 else size + random.randint(-most, most)
        for size, most in zip(shape, reach, strict=True)
    )


def smaller(shape: Shape, random: Random) -> Shape:
    """Return a random nearby shape in which no size grows, so that sums are exact."""
    return tuple(map(min, shape, nearby(shape, random)))


def in_steps(*steps: int) -> Callable[[Shape, Random], Shape]:
    """Return a function that draws a shape in whole steps, for kernels without edges.

    Each size becomes one step smaller, stays, or becomes one step larger; one step is its minimum,
    and does not change. steps: the step of each size, such as the sides of a tile.
    """

    def draw(shape: Shape, random: Random) -> Shape:
        return tuple(
            size if size == step else max(step, size + step * random.randint(-1, 1))
            for size, step in zip(shape, steps, strict=True)
        )

    return draw


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """The launches of a kernel that the reader writes.

    decorator: "cuda.jit" for a kernel, "njit" for a CPU function. A CPU function is interpreted as
    a kernel of one thread, so that its loads, its stores and their order are known too.
    parameters: the names of the kernel's parameters; the last one is the result.
    scratch: parameters other than the result that the kernel may change, such as a counter.
    sizes: the names of a shape's numbers, such as ("m", "n", "k").
    vary: draws another shape for a grader, to replace any shape but the first.
    shapes: the first fits all blocks, so that counts are whole numbers. Odd ones follow. The
    smallest shape is last, because an error is easier to read at any other shape.
    launch: returns the launch for a shape. inputs: returns all arguments but the result for a shape
    and a seed, as whole numbers in float32, so that sums are exact. reference: returns the right
    result for these inputs, float64.
    """

    parameters: tuple[str, ...]
    shapes: tuple[Shape, ...]
    decorator: str = "cuda.jit"
    scratch: tuple[str, ...] = ()
    launch: Callable[[Shape], Launch]
    inputs: Callable[[Shape, int], tuple]
    reference: Callable[..., np.ndarray]
    sizes: tuple[str, ...] = ()
    vary: Callable[[Shape, Random], Shape] = nearby

    @property
    def on_cpu(self) -> bool:
        """True for a CPU function, False for a kernel."""
        return self.decorator == "njit"

    @property
    def words(self) -> Vocabulary:
        """The vocabulary of verdicts on this job: that of a kernel, or that of a CPU function."""
        return FUNCTION if self.on_cpu else KERNEL

    @property
    def result(self) -> str:
        """The name, in the exercise, of the parameter into which the kernel writes its result."""
        return self.parameters[-1]
