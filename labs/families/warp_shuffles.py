"""Targets of sums by warp shuffles, and a probe for shuffles that cannot be compiled."""

from __future__ import annotations

import re

import numpy as np

from labs.checking.phrasing import counted
from labs.checking.run import Run
from labs.checking.target import Target
from utils.translation import translate

STEPS = 5  # of a tree over the 32 lanes of a warp


def added_by_shuffles() -> Target:
    """Return the target of at least 5 shuffles in each thread of block 0.

    A tree over the 32 lanes of a warp needs 5. The count is the number of shuffles that are missing
    in the thread with the fewest.
    """

    def measure(run: Run) -> float:
        return float(max(0, STEPS - _shuffles(run).min()))

    def cause(run: Run, value: float) -> str:
        fewest = _shuffles(run)
        return translate(
            "thread {thread} of block 0 takes part in {shuffles}, and the lanes of a warp need "
            "{steps} to add their values. The task is to add them by shuffles.",
            thread=int(fewest.argmin()),
            shuffles=counted(int(fewest.min()), "shuffle"),
            steps=STEPS,
        )

    words = f"the lanes of each warp add by shuffles, at least {STEPS}"
    return Target("missing shuffles", 0, words, measure, cause)


def few_shuffles(at_most: int) -> Target:
    """Return the target of at most `at_most` shuffles in each thread of block 0."""

    def measure(run: Run) -> float:
        return float(_shuffles(run).max())

    def cause(run: Run, value: float) -> str:
        return translate(
            "thread {thread} of block 0 takes part in {shuffles}; the target is {at_most}. In a "
            "tree each step halves the number of values that are left.",
            thread=int(_shuffles(run).argmax()),
            shuffles=counted(int(value), "shuffle"),
            at_most=at_most,
        )

    words = f"at most {at_most} shuffles of a thread"
    return Target("shuffles of a thread", at_most, words, measure, cause)


def _shuffles(run: Run) -> np.ndarray:
    """Return in how many shuffles each thread of block 0 takes part, int64 of shape (threads,)."""
    shuffles = np.zeros(run.job.launch(run.shape).threads, int)
    for event in run.samples[-1].events:
        if event.kind == "shuffle":
            shuffles += event.first >= 0
    return shuffles


def other_arguments(kernel, message: str) -> str | None:
    """Return a sentence if a shuffle is called without a mask as its first argument, else None.

    message: the error message of the kernel, which cannot be compiled.
    """
    if "shfl_" not in message or not re.search(r"called with these|mask, lane or pred", message):
        return None
    name = re.search(r"shfl_\w+", message)[0]
    return translate(
        "`cuda.{name}` takes three arguments, in this order: the mask, which is a whole "
        "number, the value that the lanes hand on, and the distance.",
        name=name,
    )


REFUSED = (other_arguments,)
