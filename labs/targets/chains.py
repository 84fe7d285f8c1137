"""Targets of sums that are added in several independent chains, as the rounding of float32 shows.

A float32 loses each 1 that is added to 2^24. So an element of a product whose terms are one 2^24
and ones otherwise lacks the ones that follow the 2^24 in its chain, and no others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.job import Shape
from labs.checking.run import Run, run_kernel
from labs.checking.target import Target, essential
from utils.translation import translate
from virtual_gpu import Finding

LARGE = np.float32(2**24)
FIRST = 8  # terms whose neighbours are looked at
PERIOD = 32  # terms after which a kernel chooses the same sums again: a tile along k


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


def neighbours_apart(count: int) -> Target:
    """Return the target that `count` terms in a row are in as many different chains.

    The count is the number of pairs among the first terms, less than `count` apart, that are in one
    chain, and its limit is 0. One block of 32×32 threads is launched again.
    """
    pairs = [(term, term + apart) for term in range(FIRST) for apart in range(1, count)]

    def together(run: Run) -> list[tuple[int, int]]:
        job = replace(run.job, inputs=partial(_pairs_alone, pairs))
        again = run_kernel(job, run.kernel, run.shape, run.patience, blocks=1)
        return [pair for pair, row in zip(pairs, again.out, strict=False) if row[0] == LARGE]

    def measure(run: Run) -> float:
        return len(together(run))

    def cause(run: Run, value: float) -> str:
        first, second = together(run)[0]
        return translate(
            "the terms {first} and {second} are added to the same sum. A thread takes its terms in "
            "order, so this multiply-add waits for one just before it. Give any {count} terms in a "
            "row to {count} different sums.",
            first=first,
            second=second,
            count=count,
        )

    words = f"{count} terms in a row are in {count} different chains"
    return essential(Target("neighbouring terms in one chain", 0, words, measure, cause))


def _pairs_alone(
    pairs: Sequence[tuple[int, int]], shape: Shape, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b, with which row r of the product shows whether pair r shares a chain.

    Its terms are 2^24 for the first of the pair, and 1 for the second and each PERIOD later. Alone
    in a chain the ones add up to more than a float32 loses beside 2^24. shape: (m, n, k).
    """
    m, n, k = shape
    a = np.zeros((m, k), np.float32)
    for row, (large, one) in enumerate(pairs):
        a[row, large], a[row, one::PERIOD] = LARGE, 1
    return a, np.ones((k, n), np.float32)


def beyond_the_sums(run: Run, finding: Finding) -> str | None:
    """Return a sentence if a kernel uses an element that its local array of sums lacks, else None.

    run: ignored.
    """
    used = re.search(r"uses (\w+)\[(\d+)\]; dimension 0 of \1 has (\d+) elements", finding.message)
    if used is None:
        return None
    array, index, size = used.groups()
    return translate(
        "A thread has {size} sums, number 0 to {last}, and this line chooses number {index} of "
        "`{array}`.",
        size=size,
        last=int(size) - 1,
        index=index,
        array=array,
    )


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
