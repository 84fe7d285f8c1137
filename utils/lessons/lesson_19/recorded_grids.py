"""Recorded rates of a reduction with different numbers of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from utils.errors import CourseError
from utils.figures.page import as_html
from utils.figures.points import where_from
from utils.ladder.ladder import is_of_a_ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.counting import as_step
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_19.bandwidth_by_blocks import shares_by_blocks
from utils.lessons.recorded import recorded_ms
from utils.machine.occupancy import occupancy
from utils.measuring import records
from virtual_gpu.pictures.svg import Picture

# The constant for the number of elements that a thread adds.
PER_THREAD = "PER_THREAD"


def gains(*steps: Step | Variant, shape: str) -> list[float]:
    """Return the recorded speed-ups of each step over the one before it, in the order of the steps.

    A speed-up is the time before over the time after. The list has one number less than there are
    steps. `shape` is the problem size as on the command line. Raises CourseError for a step without
    a record.
    """
    return [recorded_ms(one, shape) / recorded_ms(two, shape) for one, two in pairwise(steps)]


@dataclass(frozen=True)
class RecordedGrid:
    """A recorded grid of a step at one problem size.

    `blocks` is the number of blocks, `per_thread` the number of elements that a thread adds, and
    `share` the reached fraction of the data sheet's bandwidth.
    """

    blocks: int
    per_thread: int
    share: float


def grids(step: Step, shape: str) -> list[RecordedGrid]:
    """Return every recorded grid of a step with the default block size, fewest blocks first.

    `shape` is the problem size as on the command line. Raise CourseError if the device shown has no
    record of the step at this shape, or if the step has no constant PER_THREAD.
    """
    step = as_step(step)
    size, rows = ladder_of(step).parse(shape), _recorded(step, shape)
    shares = dict(zip(rows["params"], rows["efficiency"], strict=True))
    variants = [step.variant(**{PER_THREAD: each}) for each in step.choices[PER_THREAD]]
    recorded = [
        RecordedGrid(
            each.launch(size).blocks, each.constants[PER_THREAD], float(shares[each.params])
        )
        for each in variants
        if each.params in shares
    ]
    return sorted(recorded, key=lambda grid: grid.blocks)


def share_of_blocks(step: Step, blocks: int, shape: str = "2^30") -> float:
    """Return the recorded fraction of the data sheet's bandwidth with this number of blocks.

    The blocks have the default size. shape: the number of elements as on the command line. Raise
    CourseError for a number of blocks without a record.
    """
    recorded = {grid.blocks: grid.share for grid in grids(step, shape)}
    if blocks not in recorded:
        raise CourseError(
            f"{as_step(step).name} with {blocks} blocks is not recorded at {shape}: choose one of "
            f"{', '.join(map(str, recorded))}."
        )
    return recorded[blocks]


def blocks_at_once(step: Step, shape: str = "2^30") -> int:
    """Return the number of blocks of the default size that the device shown runs at once.

    It follows from the kernel's resources as the driver reported them when the kernel was recorded
    at this shape. Raises CourseError if the step is not recorded there.
    """
    step = as_step(step)
    device, variant = device_shown(), step.variant()
    rows = _recorded(step, shape)
    row = rows[rows["params"] == variant.params].iloc[0]
    threads = variant.launch(ladder_of(step).parse(shape)).threads
    used = threads, int(row["registers"]), int(row["shared_bytes"])
    return occupancy(device.compute_capability, *used).blocks * device.sms


def draw_blocks(step: Step, shapes: Mapping[str, str], enough: float, fewest: int = 32) -> Picture:
    """Draw the recorded share of the bandwidth, in percent, against the number of blocks.

    A dotted line is Little's law, and a dashed one the number of blocks that run at once. The
    device is the one shown.

    Parameters
    ----------
    step : Step
        A step of the ladder of reductions.
    shapes : mapping of str to str
        Shapes as on the command line, by the labels of their curves.
    enough : float
        The number of blocks that Little's law needs for the full bandwidth.
    fewest : int
        The smallest grid that is drawn, in blocks.
    """
    curves = {
        label: [(grid.blocks, grid.share) for grid in grids(step, shape) if grid.blocks >= fewest]
        for label, shape in shapes.items()
    }
    where = where_from(_recorded(step, next(iter(shapes.values()))))
    figure = shares_by_blocks(curves, enough, blocks_at_once(step), where)
    return Picture(as_html(figure), figure.alt_text)


def _recorded(step: Step, shape: str) -> pd.DataFrame:
    """Return all records of a step at a shape on the device shown, with any constants.

    Raise CourseError if there are none, or if the step has no constant PER_THREAD.
    """
    step = as_step(step)
    ladder = ladder_of(step)
    frame = records.measured(device_shown().name, ladder.name)
    elements = getattr(ladder.parse(shape), "elements", None)
    rows = frame[(frame["step"] == step.name) & (frame["elements"] == elements)]
    if rows.empty or not is_of_a_ladder(step) or PER_THREAD not in step.choices:
        raise CourseError(
            f"{step.name} is not recorded at {shape} with several grids: choose reduce6 or reduce7."
        )
    return rows
