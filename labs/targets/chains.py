"""Targets of sums that are added in several independent chains, found by the rounding of float32.

A chain is a series of additions, each to the result of the one before. A float32 loses each 1 that
is added to 2^24. So if one term of a sum is 2^24 and all others are 1, the sum lacks exactly the
ones that follow the 2^24 in its chain.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.job import Shape
from labs.checking.phrasing import counted
from labs.checking.run import Run, run_kernel
from labs.checking.target import Target, essential
from labs.targets.data_flow import steered
from utils.translation import translate
from virtual_gpu import Finding

LARGE = np.float32(2**24)
FIRST = 8  # multiply-adds whose followers are looked at
MOST_OPERATIONS = 2.5  # per term: a multiplication, an addition, and a part of the last additions
PERIOD = 32  # terms after which a kernel chooses the same sums again: a tile along k
# A longest chain may be longer by this factor if chains do not divide the terms evenly.
UNEVEN = 1.5


def independent_chains(chains: int, k: int) -> Target:
    """Return the target that a sum of a matrix product is added in at least `chains` chains.

    The count is the number of terms of the longest chain at the first shape, where a sum has `k`
    terms, and its limit is k / `chains`, rounded down; at a shape with another k it is scaled by
    it. One block is launched again, with inputs from which rounding shows the chains. If a kernel
    hides them, the count is `k`, that of a single chain. At a shape that does not fill all blocks,
    the block is launched with k terms and as many more as the shape has left over there. There a
    count of up to UNEVEN times the limit is returned as the limit.
    """

    def measure(run: Run) -> float:
        return k if _hides_chains(run) else longest_chain(run) * k / run.shape[2]

    def at_edges(run: Run) -> float:
        m, n, terms = run.shape
        terms = k + terms % chains
        count = longest_chain(run, (m, n, terms)) * k / terms
        return count if count > UNEVEN * k / chains else min(count, k // chains)

    def cause(run: Run, value: float) -> str:
        if run.shape[2] >= k and _hides_chains(run):
            return translate(
                "rounding does not show in which order the terms of a sum are added. Add each term "
                "by one addition of float32, and let no condition depend on the numbers."
            )
        told = translate(
            "{terms} of the {k} terms of a sum are added one after the other, each to the result "
            "of the one before, and the target is {fewer}. Rounding shows it: a term of 2^24 makes "
            "all ones that follow in its chain disappear.",
            terms=int(value),
            k=k,
            fewer=k // chains,
        )
        if run.shape == run.job.shapes[0]:
            return told
        where = translate("{where}, the sums are added in this way.", where=run.where)
        return f"{told} {where}"

    words = f"each sum is added in at least {chains} independent chains of equal length"
    what = "terms in the longest chain"
    return essential(Target(what, k // chains, words, measure, cause, at_edges=at_edges))


def _hides_chains(run: Run) -> bool:
    """Return True if rounding cannot show how a kernel adds.

    That is so if nothing is lost, if there are more operations than a multiplication and an
    addition per term, or if a condition or an index depends on an element of a or b.
    """
    operations = sum(line.float32_ops for line in run.trace.counts.values())
    many = operations > MOST_OPERATIONS * math.prod(run.shape)
    return many or longest_chain(run) <= 1 or steered(run, "a", "b") is not None


def neighbours_apart(count: int) -> Target:
    """Return the target that any `count` multiply-adds in a row are in different chains.

    The count is the number of pairs of multiply-adds that are in the same chain although fewer than
    `count` steps are between them; its limit is 0. Only pairs whose first multiply-add is among the
    first FIRST ones of a thread are tested. They are numbered in the order in which the thread
    reads their terms. One block of 32×32 threads is launched again.
    """
    words = f"{count} multiply-adds in a row are in {count} different chains"

    def measure(run: Run) -> float:
        return len(_together(run, count))

    def cause(run: Run, value: float) -> str:
        first, second, apart = _together(run, count)[0]
        return translate(
            "a thread adds term {second} to the same sum as term {first}, {steps} later, so this "
            "multiply-add waits for that one. Give any {count} multiply-adds in a row to {count} "
            "different sums.",
            first=first,
            second=second,
            steps=counted(apart, "step"),
            count=count,
        )

    return essential(Target("neighbouring terms in one chain", 0, words, measure, cause))


def _together(run: Run, count: int) -> list[tuple[int, int, int]]:
    """Return (term, later term, steps between them) of each tested pair in the same chain.

    The pairs are each of the first FIRST terms that thread 0 reads, with those that it reads fewer
    than `count` steps later; if the result has fewer rows than there are pairs, only the first
    pairs are tested. One block is launched again.
    """
    order = order_of_terms(run)
    pairs = [
        (order[step], order[step + apart], apart)
        for step in range(FIRST)
        for apart in range(1, count)
    ]
    job = replace(run.job, inputs=partial(_pairs_alone, [pair[:2] for pair in pairs]))
    again = run_kernel(job, run.kernel, run.shape, run.patience, blocks=1, counts=False)
    return [pair for pair, row in zip(pairs, again.out, strict=False) if row[0] == LARGE]


def order_of_terms(run: Run) -> list[int]:
    """Return the terms of the first tile along k in the order in which thread 0 reads them.

    They are PERIOD numbers from 0 on. Thread 0 reads its terms from row 0 of the tile of a, so
    their places in memory are the terms. If no shared array is read in this way, the numbers are in
    ascending order.
    """
    places: dict[str, list[int]] = defaultdict(list)
    first_block = run.samples[0]
    shared = {one.name for one in first_block.arrays if one.space == "shared"}
    for event in first_block.events:
        if (event.kind, event.width) == ("load", 1) and event.array in shared:
            places[event.array].append(int(event.first[0]))
    for found in places.values():
        first = [place - min(found) for place in found[:PERIOD]]
        if sorted(first) == list(range(PERIOD)):
            return first
    return list(range(PERIOD))


def _pairs_alone(
    pairs: Sequence[tuple[int, int]], shape: Shape, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b for which row r of a·b is 2^24 if the terms of pair r share a chain.

    In row r of a, the first term of the pair is 2^24; the second one, and each PERIOD-th term after
    it, is 1; all others are 0. All of b is 1. In the same chain the ones are lost, and otherwise
    the product is larger. pairs: (index of the first term, index of the second). shape: (m, n, k).
    seed: not used.
    """
    m, n, k = shape
    a = np.zeros((m, k), np.float32)
    for row, (large, one) in enumerate(pairs):
        a[row, large], a[row, one::PERIOD] = LARGE, 1
    return a, np.ones((k, n), np.float32)


def beyond_the_sums(run: Run, finding: Finding) -> str | None:
    """Return a sentence if the finding says that a thread uses a sum beyond its array, else None.

    finding: the flaw that the virtual GPU found, such as `sums[4]` of an array of 4. run: not used.
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


def longest_chain(run: Run, shape: Shape | None = None) -> int:
    """Return the number of terms in the longest chain of a sum, as one block of the kernel adds it.

    The block is launched with inputs in which one term of each sum is 2^24, and all others are 1.
    It is the first term of the sums in row 0, the second one in row 1 and so on. If there are fewer
    than FIRST rows, further launches test the first FIRST terms. shape: (m, n, k) of the launch;
    None for that of the run.
    """
    m, _, k = shape = shape or run.shape
    lost = []
    for first in range(0, min(FIRST, k), m):
        job = replace(run.job, inputs=partial(_one_large_term, first))
        again = run_kernel(job, run.kernel, shape, run.patience, blocks=1, counts=False)
        block = again.out[~again.unwritten]
        lost.append((np.float64(LARGE) + k - 1 - block).max(initial=0))
    return int(max(lost)) + 1


def _one_large_term(first: int, shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b of ones, except that term first + r in row r of a is 2^24, float32.

    shape: (m, n, k). seed: not used.
    """
    m, n, k = shape
    a = np.ones((m, k), np.float32)
    np.fill_diagonal(a[:, first:], LARGE)
    return a, np.ones((k, n), np.float32)
