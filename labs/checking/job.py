"""What the launch of a kernel exercise is: its arguments, its grid, and the right result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from labs.checking.vocabulary import FUNCTION, KERNEL, Kind
from utils.ladder.step import Launch

Shape = tuple[int, ...]


def nearby(shape: Shape, random: Random) -> Shape:
    """A shape whose sizes differ by an eighth at most, or by three where they are small."""
    reach = [max(size // 8, min(3, size // 2)) for size in shape]
    return tuple(
        size if size == 1 else size + random.randint(-most, most)
        for size, most in zip(shape, reach, strict=True)
    )


def smaller(shape: Shape, random: Random) -> Shape:
    """The same, and none is larger: for sums that would no longer be exact."""
    return tuple(map(min, shape, nearby(shape, random)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """What a kernel that the reader writes is launched with.

    decorator: "cuda.jit" for a kernel, "njit" for a function of the CPU. This one is run step by
    step as a kernel of one thread, so that loads, stores and their order are known of it as well.
    parameters: of the kernel; the result is the last one.
    scratch: those of them besides the result that the kernel may change, such as a counter.
    sizes: what the numbers of a shape are called, such as ("m", "n", "k").
    vary: another shape for a grader, in place of one that is not the first.
    shapes: the first fits all blocks, so that counts are whole numbers; then odd ones; ones last,
    because an error is easier to read at any other shape.
    launch: for a shape. inputs: for a shape and a seed, all arguments but the result, float32 whole
    numbers, so that sums are exact. reference: the right result for these inputs, float64.
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
        """Whether it is a function of the CPU, and no kernel."""
        return self.decorator == "njit"

    @property
    def kind(self) -> Kind:
        """What a verdict calls it."""
        return FUNCTION if self.on_cpu else KERNEL

    @property
    def result(self) -> str:
        """The parameter that the kernel writes."""
        return self.parameters[-1]
