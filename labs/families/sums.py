"""Which elements each sum of a reduction adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.checking.job import Shape
from utils.division import cdiv
from utils.ladder.step import Launch


@dataclass(frozen=True)
class Sums:
    """Which elements of x are added to which sum: one sum per block, or one sum of all elements.

    threads: the threads of a block. each: the elements per thread, so that a block adds
    threads·each consecutive elements. whole: True if the result is one sum of all elements, False
    if it is one sum per block.
    """

    threads: int = 256
    each: int = 1
    whole: bool = False

    @property
    def per_block(self) -> int:
        """The number of elements of x that a block adds: threads·each."""
        return self.threads * self.each

    def launch(self, shape: Shape) -> Launch:
        """Return the one-dimensional launch whose blocks cover n elements. shape: (n,)."""
        return Launch(grid=(self.blocks(shape[0]),), block=(self.threads,))

    def blocks(self, n: int) -> int:
        """Return the number of blocks that cover n elements, rounded up."""
        return cdiv(n, self.per_block)

    def reference(self, x: np.ndarray, *scratch) -> np.ndarray:
        """Return the right sums of x, float64, with shape (blocks,), or (1,) if `whole` is True.

        scratch: the kernel's other arguments, which are not used.
        """
        whole = np.zeros(self.blocks(x.size) * self.per_block)
        whole[: x.size] = x
        return whole.reshape(1 if self.whole else -1, -1 if self.whole else self.per_block).sum(1)

    def elements_of(self, result: int, n: int) -> range:
        """Return the range of indices of x that belong to one element of the result.

        result: the index of this element. n: the length of x.
        """
        if self.whole:
            return range(n)
        return range(result * self.per_block, min(n, (result + 1) * self.per_block))
