"""A target for the reduction tree: the same threads add as in the tree of the first reduction."""

from __future__ import annotations

import math

import numpy as np

from labs.checking.phrasing import block_number, counted
from labs.checking.run import Run
from labs.checking.target import Target
from utils.translation import translate
from virtual_gpu.counts.recorder import Recording

OFTEN = {0: "not at all", 1: "once"}


def same_adding_threads() -> Target:
    """Return the target that thread t adds in a step of stride s exactly if 2·s divides t.

    The strides are 1, 2, 4 and so on. The count is the number of threads of block 0, or of a drawn
    block if these are more, that make more or fewer additions than that. An addition is a store
    into shared memory after the first barrier.
    """

    def others(run: Run, block: Recording) -> int:
        """Return the number of threads of a block that do not add as often as in the given tree."""
        return int((_additions(block) != _expected(run)).sum())

    def measure(run: Run) -> float:
        return float(max(others(run, block) for block in run.samples))

    def cause(run: Run, value: float) -> str:
        block = max(run.samples, key=lambda one: others(run, one))
        made, expected = _additions(block), _expected(run)
        first = int(np.flatnonzero(made != expected)[0])
        return translate(
            "{threads} of block {block} add more or less often than in the given tree: thread "
            "{thread} adds {made}, and in the given tree it adds {expected}. Let the same threads "
            "add in each step, the multiples of `2 * stride`, and change only how they are found.",
            threads=counted(int(value), "thread"),
            block=block_number(block.block),
            thread=first,
            made=_often(int(made[first])),
            expected=_often(int(expected[first])),
        )

    words = "the same threads add in each step"
    return Target("threads that add more or less often", 0, words, measure, cause)


def _additions(recording: Recording) -> np.ndarray:
    """Return the number of additions of each thread of a block, int64 of shape (threads,).

    An addition is a store into shared memory after the first barrier.
    """
    shared = {one.name for one in recording.arrays if one.space == "shared"}
    added, is_loaded = np.zeros(math.prod(recording.shape), int), False
    for event in recording.events:
        is_loaded |= event.kind == "barrier"
        if is_loaded and event.kind == "store" and event.array in shared:
            added += event.first >= 0
    return added


def _expected(run: Run) -> np.ndarray:
    """Return the number of steps in which each thread should add, int64 of shape (threads,)."""
    threads = np.arange(run.job.launch(run.shape).threads)
    steps = threads.size.bit_length() - 1  # of the tree of a block, whose size is a power of two
    return sum((threads % (2 << step) == 0).astype(int) for step in range(steps))


def _often(times: int) -> str:
    """Return a number of times in words: "not at all", "once" or "2 times"."""
    return translate(OFTEN[times]) if times in OFTEN else counted(times, "time")
