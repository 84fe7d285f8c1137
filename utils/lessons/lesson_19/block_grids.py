"""What the number of blocks does to the rate of a reduction, as it was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from utils.errors import CourseError
from utils.figures.page import show
from utils.figures.points import where_from
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_19.block_figures import shares_by_blocks
from utils.lessons.recorded import recorded_ms
from utils.machine.occupancy import occupancy
from utils.measuring import records

# The constant that says how many elements a thread adds.
PER_THREAD = "PER_THREAD"


def gains(*steps: Step | Variant, shape: str) -> list[float]:
    """How many times faster each was than the one before it, recorded at a shape."""
    return [recorded_ms(one, shape) / recorded_ms(two, shape) for one, two in pairwise(steps)]


@dataclass(frozen=True)
class Grid:
    """A recorded grid: blocks, elements per thread, and the share of the data sheet's bandwidth."""

    blocks: int
    per_thread: int
    share: float


def grids(step: Step, shape: str) -> list[Grid]:
    """Every recorded number of blocks of the default size, fewest first.

    CourseError where nothing is recorded.
    """
    size, found = ladder_of(step).parse(shape), _recorded(step, shape)
    shares = dict(zip(found["params"], found["efficiency"], strict=True))
    variants = [step.variant(**{PER_THREAD: each}) for each in step.choices[PER_THREAD]]
    recorded = [
        Grid(each.launch(size).blocks, each.constants[PER_THREAD], float(shares[each.params]))
        for each in variants
        if each.params in shares
    ]
    return sorted(recorded, key=lambda grid: grid.blocks)


def share_of_blocks(step: Step, blocks: int, shape: str = "2^30") -> float:
    """The recorded share of the data sheet's bandwidth with so many blocks of the default size.

    CourseError for a number of blocks that is not recorded.
    """
    recorded = {grid.blocks: grid.share for grid in grids(step, shape)}
    if blocks not in recorded:
        raise CourseError(
            f"{step.name} with {blocks} blocks is not recorded at {shape}: choose one of "
            f"{', '.join(map(str, recorded))}."
        )
    return recorded[blocks]


def blocks_at_once(step: Step, shape: str = "2^30") -> int:
    """How many blocks of the default size the device shown holds at once.

    By what the driver said of the kernel when it was recorded at this shape.
    """
    device, variant = device_shown(), step.variant()
    rows = _recorded(step, shape)
    row = rows[rows["params"] == variant.params].iloc[0]
    threads = variant.launch(ladder_of(step).parse(shape)).threads
    used = threads, int(row["registers"]), int(row["shared_bytes"])
    return occupancy(device.compute_capability, *used).blocks * device.sms


def draw_blocks(step: Step, shapes: Mapping[str, str], enough: float, fewest: int = 32) -> None:
    """The recorded share of the bandwidth against the number of blocks; dotted: Little's law.

    shapes: as on the command line, by their labels. enough: so many blocks have enough under way,
    by the law. fewest: smaller grids are left out.
    """
    curves = {
        label: [(grid.blocks, grid.share) for grid in grids(step, shape) if grid.blocks >= fewest]
        for label, shape in shapes.items()
    }
    where = where_from(_recorded(step, next(iter(shapes.values()))))
    show(shares_by_blocks(curves, enough, blocks_at_once(step), where))


def _recorded(step: Step, shape: str) -> pd.DataFrame:
    """What the device shown has recorded of a step at a shape, whatever the constants."""
    ladder = ladder_of(step)
    frame = records.measured(device_shown().name, ladder.name)
    elements = ladder.parse(shape).elements
    found = frame[(frame["step"] == step.name) & (frame["elements"] == elements)]
    if found.empty:
        raise CourseError(f"{step.name} is not recorded at {shape}: `--record` makes a record.")
    return found
