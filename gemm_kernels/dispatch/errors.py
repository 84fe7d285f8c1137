"""How far the estimate was off at timed shapes, and what that says about shapes near them.

`python -m gemm_kernels tune-shapes` writes the errors of a device next to its timings. For a new
shape, each tiling is given the mean error that it had at the timed shapes; the nearer one of them
is, the more it counts. Far from all timed shapes, and on other devices, the estimate stays.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from gemm_kernels.dispatch import constants
from gemm_kernels.parts.strided import Tiling
from utils.ladder.shapes import GemmShape

# The numbers of slices that a tile may have; few, because each one needs a kernel that adds them.
SLICES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# An error counts by exp(-d²/2), where d is the distance from its timing. A distance of 1 is a
# factor of 4 in m, n or k, or a factor of 2 in the number of slices. These two and DOUBT were
# chosen by the regret at shapes whose own errors were left out.
NEAR_SIDES, NEAR_SLICES = 2.0, 1.0
# How many timings the estimate itself counts as.
DOUBT = 1.0


@dataclass(frozen=True)
class EstimateError:
    """The error of the estimate at one timing: a row of a file in `data/tuned`.

    kind: the kind of kernel, or a way to use it, as in `estimate`.
    error: the logarithm of the measured time over the estimated one.
    """

    kind: str
    shape: GemmShape
    tiling: Tiling
    error: float


@dataclass(frozen=True, eq=False)
class Errors:
    """All errors of one kind on a device, in arrays that a choice can use at once.

    tilings: each tiling with each number of slices in `SLICES`.
    sides: log2 of m, n and k per shape.
    sums, counts: the sum of the errors and their number, per tiling, shape and number of slices,
        spread over the numbers of slices near it.
    """

    tilings: tuple[Tiling, ...]
    sides: np.ndarray
    sums: np.ndarray
    counts: np.ndarray

    def factors(self, shape: GemmShape, is_held_out: bool = False) -> dict[Tiling, float]:
        """Return tiling with its slices -> the factor to multiply its estimated time with.

        If is_held_out, errors at the shape itself do not count.
        """
        apart = ((self.sides - np.log2([shape.m, shape.n, shape.k])) ** 2).sum(axis=1)
        near = np.exp(-apart / (2 * NEAR_SIDES**2))
        if is_held_out:
            near[apart == 0] = 0
        sums, counts = (near @ each for each in (self.sums, self.counts))
        return dict(
            zip(self.tilings, np.exp(sums / (counts + DOUBT)).ravel().tolist(), strict=True)
        )


def file_of(device: str) -> Path:
    """Return the path of the CSV file with the errors of a device's estimates."""
    path = constants.file_of(device)
    return path.with_name(f"{path.stem}_errors.csv")


@cache
def known(device: str) -> dict[str, Errors]:
    """Return kind of kernel -> the errors that the file of a device holds; {} without a file.

    They are read once and cached.
    """
    path = file_of(device)
    if not path.exists():
        return {}
    # `rows.read` checks each value, which would add half a second to the first product.
    with path.open(encoding="utf-8", newline="") as file:
        lines = defaultdict(list)
        for kind, *numbers in list(csv.reader(file))[1:]:
            lines[kind].append(numbers)
    return {kind: _in_arrays(np.array(of_kind, float)) for kind, of_kind in lines.items()}


def _in_arrays(table: np.ndarray) -> Errors:
    """Return the errors of a table: a row has m, n, k, the constants of a tiling and the error."""
    shapes, of_shape = np.unique(table[:, :3], axis=0, return_inverse=True)
    kernels, of_kernel = np.unique(table[:, 3:9], axis=0, return_inverse=True)
    at = of_kernel.ravel(), of_shape.ravel(), np.searchsorted(SLICES, table[:, 9])
    sums, counts = (np.zeros((len(kernels), len(shapes), len(SLICES))) for _ in range(2))
    np.add.at(sums, at, table[:, 10])
    np.add.at(counts, at, 1)
    slices = np.log2(SLICES)
    spread = np.exp(-(((slices[:, None] - slices) / NEAR_SLICES) ** 2) / 2)
    tilings = tuple(Tiling(*map(int, kernel), each) for kernel in kernels for each in SLICES)
    return Errors(tilings, np.log2(shapes), sums @ spread, counts @ spread)
