"""The family of matrix products: kernels (a, b, c) with c = a·b.

A shape is (m, n, k): a is m×k, b is k×n, c is m×n, all float32 and whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from labs.families.wrong_products import WRONG_PRODUCTS
from utils.ladder.problems import draw
from utils.ladder.step import Launch


@dataclass(frozen=True)
class Split:
    """How a launch shares c out.

    block: threads along x and y; x counts columns of c, y counts rows. columns: of c that one
    thread computes, so that a block covers block[0]·columns columns and block[1] rows.
    """

    block: tuple[int, int]
    columns: int = 1

    @property
    def width(self) -> int:
        """Columns of c that a block covers."""
        return self.block[0] * self.columns

    def launch(self, shape: Shape) -> Launch:
        """Enough blocks to cover c."""
        m, n, _ = shape
        return Launch(grid=(-(-n // self.width), -(-m // self.block[1])), block=self.block)


def matrix_product(split: Split, **told) -> KernelExercise:
    """Return an exercise of this family.

    told: the fields of KernelExercise that the family leaves open.
    """
    return KernelExercise(
        parameters=("a", "b", "c"),
        sizes=("m", "n", "k"),
        launch=split.launch,
        inputs=inputs,
        reference=reference,
        probes=Probes(wrong=WRONG_PRODUCTS),
        **told,
    )


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """a, m×k, and b, k×n: whole numbers, so that float32 sums are exact."""
    m, n, k = shape
    return draw("integers", (m, k), seed), draw("integers", (k, n), seed + 1)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product, float64."""
    return a.astype(np.float64) @ b


def loads_per_multiply_add(at_most: float) -> Target:
    """Words loaded from global memory for each multiply-add, at the shape that fits."""

    def shares(seen: Run) -> dict[str, float]:
        work = math.prod(seen.shape)
        return {one: seen.total(one, "load", "words") / work for one in ("a", "b")}

    def measure(seen: Run) -> float:
        return sum(shares(seen).values())

    def cause(seen: Run, value: float) -> str:
        told = " and ".join(f"{s:.4g} of `{seen.names[p]}`" for p, s in shares(seen).items())
        most = max(
            (access for one in ("a", "b") for access in seen.accesses(one)),
            key=lambda access: access.words,
        )
        return (
            f"a multiply-add costs {value:.4g} loads from global memory, {told}; the target is "
            f"{at_most:g}. Line {most.site.line} alone loads {counted(most.words, 'word')}."
        )

    words = f"at most {at_most:g} loads per multiply-add"
    return Target("loads per multiply-add", at_most, words, measure, cause)
