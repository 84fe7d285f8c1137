"""Targets of sums by warp shuffles, and a probe for shuffles that cannot be compiled."""

from __future__ import annotations

import re

import numpy as np

from labs.checking.phrasing import block_number, counted
from labs.checking.run import Run
from labs.checking.target import Target
from utils.translation import translate
from virtual_gpu.counts.recorder import Event

STEPS = 5  # of a tree over the 32 lanes of a warp


def added_by_shuffles() -> Target:
    """Return the target of at least 5 shuffles in each thread of a drawn block.

    A tree over the 32 lanes of a warp needs 5. The count is the number of shuffles that are missing
    in the thread with the fewest. A shuffle on which the result does not depend is left out. At
    shapes that do not fill all blocks all shuffles of the thread with the most count, because a
    block of few elements may need fewer.
    """

    def used(run: Run) -> np.ndarray:
        """Return how many shuffles on which the result depends each thread takes part in.

        It is an int64 array of shape (threads,) for the drawn block.
        """
        events = run.drawn.trace.recording.events
        return _taking_part(run, [o for o in events if o.kind == "shuffle" and run.uses(o)])

    def measure(run: Run) -> float:
        return float(max(0, STEPS - used(run).min()))

    def at_edges(run: Run) -> float:
        return float(max(0, STEPS - _shuffles(run).max()))

    def cause(run: Run, value: float) -> str:
        fewest = used(run)
        return translate(
            "thread {thread} of block {block} takes part in {shuffles} on which the result "
            "depends, and the lanes of a warp need {steps} to add their values. The task is to add "
            "them by shuffles.",
            thread=int(fewest.argmin()),
            block=block_number(run.drawn_block),
            shuffles=counted(int(fewest.min()), "shuffle"),
            steps=STEPS,
        )

    words = f"the lanes of each warp add by shuffles, at least {STEPS}"
    return Target("missing shuffles", 0, words, measure, cause, at_edges=at_edges)


def few_shuffles(at_most: int) -> Target:
    """Return the target of at most `at_most` shuffles in a thread, at every shape.

    Those of a drawn block count.
    """

    def measure(run: Run) -> float:
        return float(_shuffles(run).max())

    def cause(run: Run, value: float) -> str:
        return translate(
            "thread {thread} of block {block} takes part in {shuffles}; the target is {at_most}. "
            "In a tree each step halves the number of values that are left.",
            thread=int(_shuffles(run).argmax()),
            block=block_number(run.drawn_block),
            shuffles=counted(int(value), "shuffle"),
            at_most=at_most,
        )

    words = f"at most {at_most} shuffles of a thread"
    return Target("shuffles of a thread", at_most, words, measure, cause, True)


def _shuffles(run: Run) -> np.ndarray:
    """Return in how many shuffles each thread of the drawn block takes part, int64, (threads,)."""
    events = run.drawn.trace.recording.events
    return _taking_part(run, [one for one in events if one.kind == "shuffle"])


def _taking_part(run: Run, events: list[Event]) -> np.ndarray:
    """Return in how many of these events each thread of a block takes part, int64, (threads,)."""
    threads = np.zeros(run.job.launch(run.shape).threads, int)
    return sum((one.first >= 0 for one in events), threads)


def other_arguments(kernel, message: str) -> str | None:
    """Return a sentence on the arguments of a shuffle if a call has wrong ones, else None.

    message: the error message of the kernel, which cannot be compiled; it must be about the
    arguments of a shuffle.
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
