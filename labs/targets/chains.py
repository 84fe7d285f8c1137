"""Targets of sums that are added in several independent chains, as the rounding of float32 shows.

A float32 loses each 1 that is added to 2^24. So an element of a product whose terms are one 2^24
and ones otherwise lacks the ones that follow the 2^24 in its chain, and no others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from labs.checking.job import Shape
from labs.checking.run import Run, run_kernel
from labs.checking.target import Target, essential
from utils.translation import translate

LARGE = np.float32(2**24)


def independent_chains(chains: int) -> Target:
    """Return the target that a sum of a matrix product is added in at least `chains` chains.

    The count is the number of terms of the longest chain divided by k / `chains`, at the first
    shape, and its limit is 1. One block is launched again, with terms from which rounding shows the
    chains.
    """

    def measure(run: Run) -> float:
        return longest_chain(run) * chains / run.shape[2]

    def cause(run: Run, value: float) -> str:
        return translate(
            "{terms} of the {k} terms of a sum are added one after the other, each to the result "
            "of the one before, and the target is {fewer}. Rounding shows it: a term of 2^24 makes "
            "all ones that follow in its chain disappear.",
            terms=longest_chain(run),
            k=run.shape[2],
            fewer=run.shape[2] // chains,
        )

    words = f"each sum is added in at least {chains} independent chains of equal length"
    return essential(Target("longest chain, as a share", 1, words, measure, cause))


def longest_chain(run: Run) -> int:
    """Return the number of terms in the longest chain of a sum, as one block of the kernel adds it.

    Row r of the product has 2^24 as its term number r, for as many rows as the block computes.
    """
    job = replace(run.job, inputs=_one_large_term)
    again = run_kernel(job, run.kernel, run.shape, run.patience, blocks=1)
    block = again.out[~again.unwritten]
    lost = np.float64(LARGE) + run.shape[2] - 1 - block
    return int(lost.max(initial=0)) + 1


def _one_large_term(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b: ones, with 2^24 on the diagonal of a. shape: (m, n, k)."""
    m, n, k = shape
    a = np.ones((m, k), np.float32)
    np.fill_diagonal(a, LARGE)
    return a, np.ones((k, n), np.float32)
