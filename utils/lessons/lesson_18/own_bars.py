"""The counts and bars of the reader's kernel, between those of two recorded kernels."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from utils.errors import CourseError
from utils.ladder.step import Variant
from utils.lessons.block_sums import block_of, blocks, issued_by_block
from utils.lessons.cards import Card, Stack
from utils.lessons.lesson_18 import time_bars
from utils.translation import translate


def beside_the_experiment(kernel) -> Stack:
    """Return a table of shared-memory counts and bars of times of three kernels, as `_beside` does.

    The kernels are reduce0, the reader's `without_remainder`, and the course's kernel of this
    experiment.
    """
    reduce0, recorded = import_module("reduce_kernels.remainder").variants()[:2]
    return _beside(reduce0, _with_launch_of(recorded, kernel), recorded)


def beside_the_trees(yours: Variant) -> Stack:
    """Return a table of shared-memory counts and bars of times of three kernels, as `_beside` does.

    The kernels are reduce1, the reader's `tree` and reduce2.
    """
    return _beside(_step("reduce1"), yours, _step("reduce2"))


def beside_idle_threads(yours: Variant) -> Stack:
    """Return a table of shared-memory counts and bars of times of three kernels, as `_beside` does.

    The kernels are reduce2, the reader's `add_while_loading` and reduce3. If a block of the
    reader's kernel passes fewer barriers than one of reduce3, because idle warps leave, they are
    reduce3, the reader's kernel and the recorded `warps_leave`.
    """
    three = _step("reduce3")
    if block_of(yours).barriers >= block_of(three).barriers:
        return _beside(_step("reduce2"), yours, three)
    experiment = import_module("reduce_kernels.remainder")
    return _beside(three, yours, experiment.WARPS_LEAVE.variant(BLOCK=experiment.BLOCK))


def _with_launch_of(recorded: Variant, kernel) -> Variant:
    """Return the reader's kernel as a step that is launched as a recorded one is."""
    step = replace(recorded.step, name="yours", build=lambda BLOCK: kernel)
    return step.variant(**recorded.constants)


def _step(name: str) -> Variant:
    experiment = import_module("reduce_kernels.remainder")
    return experiment.LADDER.step(name).variant(BLOCK=experiment.BLOCK)


def _beside(before: Variant, yours: Variant, course: Variant) -> Stack:
    """Return the table of one block's shared-memory counts and the bars of three kernels.

    The table is that of `blocks`, and the bars are those of `time_bars.draw`. The reader's kernel
    has no recorded time. If its instructions cannot be counted, or have only an upper bound, a card
    below the picture says why.
    """
    shown = {before.step.name: before, "yours": yours, course.step.name: course}
    rows = import_module("reduce_kernels.remainder").recorded_times()
    parts = (blocks(**shown), time_bars.draw(rows, **shown))
    try:
        is_bound = issued_by_block(yours).at_most
    except CourseError as error:
        return Stack((*parts, Card("ask", (str(error),))))
    if not is_bound:
        return Stack(parts)
    note = translate(
        "“≤” marks an upper bound: the machine code of this kernel has jumps, so some warps skip "
        "instructions that are counted here."
    )
    return Stack((*parts, Card("ask", (note,))))
