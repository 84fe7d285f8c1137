"""A target for the reduction tree: the same threads add as in the tree of the first reduction."""

from __future__ import annotations

import numpy as np

from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Target
from utils.translation import translate

OFTEN = {0: "not at all", 1: "once"}


def same_adding_threads() -> Target:
    """Return the target that thread t adds in a step of stride s exactly if 2·s divides t.

    The strides are 1, 2, 4 and so on. The count is the number of threads of block 0 that make more
    or fewer additions than that, at the first shape. An addition is a store into shared memory
    after the first barrier.
    """

    def measure(run: Run) -> float:
        return float((_additions(run) != _expected(run)).sum())

    def cause(run: Run, value: float) -> str:
        made, expected = _additions(run), _expected(run)
        first = int(np.flatnonzero(made != expected)[0])
        return translate(
            "{threads} of block 0 add more or less often than in the given tree: thread {thread} "
            "adds {made}, and there it adds {expected}. Let the same threads add in each step, the "
            "multiples of `2 * stride`, and change only how they are found.",
            threads=counted(int(value), "thread"),
            thread=first,
            made=_often(int(made[first])),
            expected=_often(int(expected[first])),
        )

    words = "the same threads add in each step"
    return Target("threads that add more or less often", 0, words, measure, cause)


def iterations_of_the_tree() -> Target:
    """Return the target that a thread makes at most two loop iterations per step of the tree.

    The count is the iterations of all loops per thread, at the first shape. A loop that divides by
    repeated subtraction makes far more.
    """

    def measure(run: Run) -> float:
        launch = run.job.launch(run.shape)
        return sum(run.trace.turns.values()) / launch.blocks / launch.threads / _steps(run)

    def cause(run: Run, value: float) -> str:
        launch = run.job.launch(run.shape)
        site, count = max(run.trace.turns.items(), key=lambda one: one[1])
        return translate(
            "the loop at {where} makes {iterations:.3g} iterations per thread, and the tree has "
            "only {steps} steps. A loop that finds the remainder by subtraction costs more than "
            "`%`. Which bits of the thread's number tell it at once?",
            where=at_line(site),
            iterations=count / launch.blocks / launch.threads,
            steps=_steps(run),
        )

    words = "at most two iterations of loops per step of the tree"
    return Target("loop iterations per step of the tree", 2, words, measure, cause)


def _steps(run: Run) -> int:
    """Return the number of steps of the tree of a block, whose threads are a power of two."""
    return run.job.launch(run.shape).threads.bit_length() - 1


def _additions(run: Run) -> np.ndarray:
    """Return the number of additions of each thread of block 0, int64 of shape (threads,)."""
    recording = run.first_block
    shared = {one.name for one in recording.arrays if one.space == "shared"}
    added, is_loaded = np.zeros(run.job.launch(run.shape).threads, int), False
    for event in recording.events:
        is_loaded |= event.kind == "barrier"
        if is_loaded and event.kind == "store" and event.array in shared:
            added += event.first >= 0
    return added


def _expected(run: Run) -> np.ndarray:
    """Return the number of steps in which each thread should add, int64 of shape (threads,)."""
    threads = np.arange(run.job.launch(run.shape).threads)
    return sum((threads % (2 << step) == 0).astype(int) for step in range(_steps(run)))


def _often(times: int) -> str:
    """Return a number of times in words: "not at all", "once" or "2 times"."""
    return translate(OFTEN[times]) if times in OFTEN else counted(times, "time")
