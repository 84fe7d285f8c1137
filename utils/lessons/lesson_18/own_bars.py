"""The counts and bars of the reader's kernel, alone or between those of two recorded kernels."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from utils.errors import CourseError
from utils.ladder.step import Variant
from utils.lessons.block_sums import block_of, blocks, issued_by_block
from utils.lessons.cards import Beside, Card, Stack
from utils.lessons.lesson_18 import time_bars
from utils.translation import translate


def beside_the_experiment(kernel) -> Stack:
    """Return the shared-memory counts and the bars of the reader's `without_remainder`.

    The lesson shows those of the course's kernels above them, on the same scale.
    """
    recorded = import_module("reduce_kernels.remainder").variants()[1]
    return _shown(yours=_with_launch_of(recorded, kernel))


def beside_the_trees(yours: Variant) -> Stack:
    """Return the shared-memory counts and the bars of the reader's `tree`.

    The lesson shows those of reduce1 and reduce2 above them, on the same scale.
    """
    return _shown(yours=yours)


def beside_idle_threads(yours: Variant) -> Stack:
    """Return the shared-memory counts and the bars of three kernels.

    The kernels are reduce2, the reader's `add_while_loading` and reduce3. If a block of the
    reader's kernel passes fewer barriers than one of reduce3, because idle warps leave, they are
    reduce3, the reader's kernel and the recorded `warps_leave`.
    """
    three = _step("reduce3")
    if block_of(yours).barriers >= block_of(three).barriers:
        return _shown(reduce2=_step("reduce2"), yours=yours, reduce3=three)
    experiment = import_module("reduce_kernels.remainder")
    leave = experiment.WARPS_LEAVE.variant(BLOCK=experiment.BLOCK)
    return _shown(reduce3=three, yours=yours, warps_leave=leave)


def _with_launch_of(recorded: Variant, kernel) -> Variant:
    """Return the reader's kernel as a step that is launched as a recorded one is."""
    step = replace(recorded.step, name="yours", build=lambda BLOCK: kernel)
    return step.variant(**recorded.constants)


def _step(name: str) -> Variant:
    experiment = import_module("reduce_kernels.remainder")
    return experiment.LADDER.step(name).variant(BLOCK=experiment.BLOCK)


def _shown(**kernels: Variant) -> Stack:
    """Return the table of one block's shared-memory counts, with the bars of the kernels beside it.

    The table is that of `blocks`, and the bars are those of `time_bars.draw`. `yours` is one of the
    keywords; this kernel has no recorded time. If its instructions cannot be counted, or have only
    an upper bound, a card below the picture says why.
    """
    rows = import_module("reduce_kernels.remainder").recorded_times()
    counted = Beside((blocks(**kernels), time_bars.draw(rows, **kernels)))
    try:
        is_bound = issued_by_block(kernels["yours"]).at_most
    except CourseError as error:
        return Stack((counted, Card("ask", (str(error),))))
    if not is_bound:
        return Stack((counted,))
    note = translate(
        "“≤” marks an upper bound: the machine code of this kernel has jumps, so some warps skip "
        "instructions that are counted here."
    )
    return Stack((counted, Card("ask", (note,))))
