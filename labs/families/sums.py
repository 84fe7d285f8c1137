"""Which elements each block of a reduction adds up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.checking.job import Shape
from utils.ladder.step import Launch


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
