"""The family of matrix products: kernels (a, b, c) with c = a·b.

A shape is (m, n, k): a is m×k, b is k×n, c is m×n, all float32 and whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.other_size import right_for_small_numbers
from utils.division import cdiv
from utils.ladder.problems import draw
from utils.ladder.step import Launch
from utils.translation import translate


@dataclass(frozen=True)
class Split:
    """The rectangle of c that each thread block computes.

    block: the threads along x, for the columns of c, and along y, for its rows. columns, rows: the
    number of columns and of rows of c that one thread computes. A block covers block[0]·columns
    columns and block[1]·rows rows.
    """

    block: tuple[int, int]
    columns: int = 1
    rows: int = 1

    @property
    def width(self) -> int:
        """The number of columns of c that a block covers."""
        return self.block[0] * self.columns

    @property
    def height(self) -> int:
        """The number of rows of c that a block covers."""
        return self.block[1] * self.rows

    def launch(self, shape: Shape) -> Launch:
        """Return a launch whose blocks cover c, with (blocks along n, blocks along m) as its grid.

        shape: (m, n, k).
        """
        m, n, _ = shape
        return Launch(grid=(cdiv(n, self.width), cdiv(m, self.height)), block=self.block)


def matrix_product(
    split: Split,
    record: type[KernelExercise] = KernelExercise,
    probes: Probes = Probes(wrong=WRONG_PRODUCTS),  # noqa: B008, frozen
    targets: tuple[Target, ...] = (),
    **fields,
) -> KernelExercise:
    """Return an exercise whose kernel (a, b, c) stores the product a·b into c.

    split: the rectangle of c that each block computes. record: the class of the exercise. probes:
    those of the exercise. targets: the exercise's own targets; that the kernel is right for small
    numbers comes first in any case. fields: the remaining fields of the class.
    """
    return record(
        parameters=("a", "b", "c"),
        sizes=("m", "n", "k"),
        launch=split.launch,
        inputs=inputs,
        reference=reference,
        probes=probes,
        targets=(right_for_small_numbers(), *targets),
        **fields,
    )


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random matrices a, of shape (m, k), and b, of shape (k, n), in float32.

    All elements are whole numbers, so that their sums are exact. shape: (m, n, k).
    """
    m, n, k = shape
    return draw("integers", (m, k), seed), draw("integers", (k, n), seed + 1)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product a·b as a float64 array of shape (m, n)."""
    # OpenBLAS sets the flag of an invalid operation on some processors, for finite elements, too.
    with np.errstate(invalid="ignore"):
        return a.astype(np.float64) @ b


def loads_per_multiply_add(at_most: float) -> Target:
    """Return the target of at most `at_most` words loaded from a and b per multiply-add.

    The words have 4 bytes, are loaded from global memory, and are counted at the first shape, which
    fills all blocks.
    """

    def shares(run: Run) -> dict[str, float]:
        """Return the words loaded per multiply-add, with the keys "a" and "b"."""
        work = math.prod(run.shape)
        return {one: run.total(one, "load", "words") / work for one in ("a", "b")}

    def measure(run: Run) -> float:
        return sum(shares(run).values())

    def cause(run: Run, value: float) -> str:
        parts = " and ".join(f"{s:.4g} of `{run.names[p]}`" for p, s in shares(run).items())
        most = max(
            (access for one in ("a", "b") for access in run.accesses(one)),
            key=lambda access: access.words,
        )
        return translate(
            "a multiply-add costs {value:.4g} loads from global memory, {parts}; the target is "
            "{at_most:g}. Line {line} alone loads {words}.",
            value=value,
            parts=parts,
            at_most=at_most,
            line=most.site.line,
            words=counted(most.words, "word"),
        )

    words = f"at most {at_most:g} loads per multiply-add"
    return Target("loads per multiply-add", at_most, words, measure, cause)


def one_load_per_term(parameter: str) -> Target:
    """Return the target that a thread loads one element of an input per term, at every shape.

    This element then serves all elements of c that the thread computes. The count is the number of
    words loaded from the input, per thread of the launch and term of a sum. parameter: "a", of
    which a thread needs one row, or "b", of which it needs one column.
    """

    def measure(run: Run) -> float:
        launch = run.job.launch(run.shape)
        return run.total(parameter, "load", "words") / (
            launch.blocks * launch.threads * run.shape[2]
        )

    def cause(run: Run, value: float) -> str:
        most = max(run.accesses(parameter), key=lambda one: one.words)
        values = {"where": at_line(most.site), "array": most.array, "value": value}
        if parameter == "b":
            return translate(
                "{where} loads the same elements of `{array}` again for other rows: {value:.3g} "
                "words per thread and term, and the target is 1. One word of `{array}` is to serve "
                "all rows of a thread, at any shape.",
                **values,
            )
        return translate(
            "{where} loads the same elements of `{array}` again for other columns: {value:.3g} "
            "words per thread and term, and the target is 1. One word of `{array}` is to serve all "
            "columns of a thread, at any shape.",
            **values,
        )

    line = "row" if parameter == "a" else "column"
    words = f"each thread loads an element of its {line} of `{parameter}` once"
    what = f"loads of {parameter} per thread and term"
    return Target(what, 1, words, measure, cause, every_shape=True)
