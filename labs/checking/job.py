"""The launches of a kernel exercise: their shapes, arguments, grids and right results."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np

from labs.checking.vocabulary import FUNCTION, KERNEL, Vocabulary
from utils.ladder.step import Launch

Shape = tuple[int, ...]


def nearby(shape: Shape, random: Random) -> Shape:
    """Return a random shape whose sizes differ by at most an eighth, or by 3 if that is more.

    A size below 6 changes by at most half of it, and a size of 1 does not change.
    """
    reach = [max(size // 8, min(3, size // 2)) for size in shape]
    return tuple(
        size if size == 1 else size + random.randint(-most, most)
        for size, most in zip(shape, reach, strict=True)
    )


def smaller(shape: Shape, random: Random) -> Shape:
    """Return a random shape whose sizes are equal to those of `shape` or smaller.

    A size is smaller by at most an eighth, or by 3 if that is more. A size below 6 loses at most
    half of it, and a size of 1 does not change.
    """
    return tuple(map(min, shape, nearby(shape, random)))


def whole_blocks(shape: Shape, random: Random) -> Shape:
    """Return a random shape of whole blocks, whose last size is larger than that of `shape`.

    So a kernel is found that has its idea only up to the sizes of `shape`, which is known and has
    whole blocks, too. Each size is a multiple of the largest power of two that divides the size of
    `shape`, because the sides of blocks and tiles are powers of two. The last size grows by one
    such step. Each other size loses one, keeps its value or grows by one, and the product of all
    sizes grows by at most a quarter, or by what the last size alone adds. In a shape of one size,
    the size grows by one or two steps, and a step is a quarter of the power if the power is above
    4.
    """
    steps = [size & -size for size in shape]
    if len(shape) == 1:
        step = steps[0] // 4 if steps[0] > 4 else steps[0]
        return (shape[0] + step * random.randint(1, 2),)
    last = shape[-1] + steps[-1]
    most = math.prod(shape) * max(Fraction(last, shape[-1]), Fraction(5, 4))
    while True:
        others = zip(shape[:-1], steps[:-1], strict=True)
        drawn = (*(size + step * random.randint(-1, 1) for size, step in others), last)
        if 0 < math.prod(drawn) <= most:
            return drawn


@dataclass(frozen=True)
class WholeSteps:
    """A function of a shape and a Random that changes each size by at most one of its steps.

    It returns the new shape. steps: the step per size.
    """

    steps: tuple[int, ...]

    def __call__(self, shape: Shape, random: Random) -> Shape:
        """Return a random shape: each size is one step smaller, unchanged, or one step larger.

        No size becomes smaller than its step, and a size that equals its step stays.
        """
        return tuple(
            size if size == step else max(step, size + step * random.randint(-1, 1))
            for size, step in zip(shape, self.steps, strict=True)
        )


def in_steps(*steps: int) -> WholeSteps:
    """Return a function of a shape and a Random that changes each size by at most one step.

    It returns a new shape, in which each size is one step smaller, unchanged, or one step larger,
    but never less than one step. A size that equals its step stays. steps: the step per size, such
    as the sides of a tile. It is meant for kernels that need sizes divisible by their tiles, so all
    shapes of such an exercise fill all blocks.
    """
    return WholeSteps(steps)


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """The launches of a kernel that the reader writes: their shapes, arguments and right results.

    A shape is a tuple of problem sizes, such as (m, n, k). decorator: "cuda.jit" for a kernel,
    "njit" for a CPU function. A CPU function is interpreted as a kernel of one thread, so that its
    loads, its stores and their order are known too. parameters: the names of the kernel's
    parameters; the last one is the result. scratch: parameters other than the result that the
    kernel may change, such as a counter. sizes: the names of a shape's numbers, such as ("m", "n",
    "k"). vary: returns a random similar shape, with which a grader replaces any shape but the
    first. whole: returns a random shape near the first one that fills all blocks, too.
    of_blocks: True if the sizes of a shape are numbers of blocks.

    shapes: the shapes to launch. The first fills all blocks, so that counts per block are whole
    numbers. Shapes with partial blocks follow. The smallest shape is last, because the judge stops
    at the first error, and an error is easier to understand at a larger shape.

    launch: returns the launch for a shape. inputs: returns a tuple of all arguments but the result
    for a shape and a seed; floats are whole numbers in float32, so that sums are exact. reference:
    takes these inputs and returns the right result as a float64 array.
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
    whole: Callable[[Shape, Random], Shape] = whole_blocks
    of_blocks: bool = False

    @property
    def always_whole(self) -> bool:
        """True if every shape fills all blocks, so that all targets are tested at each."""
        return self.of_blocks or isinstance(self.vary, WholeSteps)

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
        """The exercise's name of the parameter into which the kernel writes its result."""
        return self.parameters[-1]
