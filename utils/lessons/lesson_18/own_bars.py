"""The bars of the reader's kernel without a remainder, between those of two recorded kernels."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from utils.errors import CourseError
from utils.lessons.block_sums import issued_by_block
from utils.lessons.cards import Card, Stack
from utils.lessons.lesson_18 import time_bars


def beside_the_experiment(kernel) -> Stack:
    """Draw the bars of reduce0, of the reader's `without_remainder`, and of the recorded one.

    The reader's kernel has no recorded time. If its instructions cannot be counted, a card below
    the picture says why.
    """
    experiment = import_module("reduce_kernels.remainder")
    reduce0, recorded = experiment.variants()[:2]
    step = replace(recorded.step, name="yours", build=lambda BLOCK: kernel)
    yours = step.variant(BLOCK=experiment.BLOCK)
    rows = experiment.recorded_times()
    drawn = time_bars.draw(rows, reduce0=reduce0, yours=yours, without_remainder=recorded)
    try:
        issued_by_block(yours)
    except CourseError as error:
        return Stack((drawn, Card("ask", (str(error),))))
    return Stack((drawn,))
