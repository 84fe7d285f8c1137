"""What a block of a reduction asks for, and what the number of blocks does to its rate."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from utils.errors import CourseError
from utils.figures.look import number
from utils.figures.points import where_from
from utils.figures.share_figures import share_lines
from utils.ladder.shapes import FLOAT32_BYTES
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant, watch
from utils.lessons.lesson import device_shown
from utils.machine.occupancy import WARP, occupancy
from utils.measuring import records

# Whole blocks of every step, and several of them.
SHAPE = "2^14"
# The constant that says how many elements a thread adds.
PER_THREAD = "PER_THREAD"


@dataclass(frozen=True)
class Asked:
    """What one block asks for: barriers, requests of its warps to shared memory, and elements."""

    barriers: float
    requests: float
    elements: float


def asked_of(step: Step | Variant, shape: str = SHAPE) -> Asked:
    """Counted on the virtual GPU, where whole blocks fit the shape."""
    variant, totals = as_variant(step), watch(step, shape).totals
    size = variant.step.ladder.parse(shape)
    launch = variant.launch(size)
    requests = totals["shared_load_requests"] + totals["shared_store_requests"]
    return Asked(
        totals["barriers"] / launch.blocks / -(-launch.threads // WARP),
        requests / launch.blocks,
        size.elements / launch.blocks,
    )


def of_a_block(**steps: Step | Variant) -> Table:
    """A row for each step: what one block adds, and what it asks for.

    steps: by the name that the reader sees, with _ for spaces.
    """
    rows = []
    for name, step in steps.items():
        asked = asked_of(step)
        cells = (asked.elements, asked.barriers, asked.requests)
        rows.append((f"`{name.replace('_', ' ')}`", *map(number, cells)))
    head = ("", "elements", "barriers", "requests to shared memory")
    return table("One block of 256 threads, on the virtual GPU", head, rows)


@dataclass(frozen=True)
class Grid:
    """A recorded grid: blocks, elements per thread, and the share of the data sheet's bandwidth.

    under_way: bytes that all threads together have asked for at once, at most.
    """

    blocks: int
    per_thread: int
    share: float
    gb_per_s: float
    under_way: float


def grids(step: Step, shape: str, loads: int) -> list[Grid]:
    """Every recorded number of blocks of the default size, fewest first.

    loads: of a thread that are under way at once, at most. CourseError where nothing is recorded.
    """
    size, found = step.ladder.parse(shape), _recorded(step, shape)
    grids = []
    for per_thread in sorted(step.choices[PER_THREAD], reverse=True):
        variant = step.variant(**{PER_THREAD: per_thread})
        rows = found[found["params"] == variant.params]
        if len(rows):
            row, launch = rows.iloc[0], variant.launch(size)
            under_way = min(launch.blocks, _at_once(row, launch.threads)) * launch.threads
            under_way *= min(loads, per_thread) * FLOAT32_BYTES
            grids.append(
                Grid(launch.blocks, per_thread, row["efficiency"], row["gb_per_s"], under_way)
            )
    return grids


def blocks_at_once(step: Step, shape: str = "2^30") -> int:
    """How many blocks of the default size the device shown holds at once."""
    rows = _recorded(step, shape)
    row = rows[rows["params"] == step.variant().params].iloc[0]
    return _at_once(row, step.variant().launch(step.ladder.parse(shape)).threads)


def share_of_blocks(step: Step, blocks: int, shape: str = "2^30") -> float:
    """The recorded share of the data sheet's bandwidth with so many blocks of the default size.

    CourseError for a number of blocks that is not recorded.
    """
    recorded = {grid.blocks: grid.share for grid in grids(step, shape, loads=1)}
    if blocks not in recorded:
        raise CourseError(
            f"{step.name} with {blocks} blocks is not recorded at {shape}: choose one of "
            f"{', '.join(map(str, recorded))}."
        )
    return recorded[blocks]


def block_counts(step: Step, shapes: dict[str, str], needed: float, loads: int) -> Figure:
    """The recorded share of the bandwidth against the number of blocks; dotted: Little's law.

    shapes: as on the command line, by their labels. needed: bytes under way in one SM for all of
    the bandwidth. loads: of a thread that are under way at once, at most.
    """
    needed *= device_shown().sms
    rows = [
        {"label": label, "x": one.blocks, "share": one.share, "model": one.under_way / needed}
        for label, shape in shapes.items()
        for one in grids(step, shape, loads)
    ]
    points = pd.DataFrame(rows)
    points["model"] = points["model"].clip(upper=1)
    where = where_from(_recorded(step, next(iter(shapes.values()))))
    ticks = (64, 1024, 16384, 262144)
    return share_lines(points, "blocks", "How many blocks?", where, ticks=ticks)


def _recorded(step: Step, shape: str) -> pd.DataFrame:
    """What the device shown has recorded of a step at a shape, whatever the constants."""
    frame = records.measured(device_shown().name, step.ladder.name)
    elements = step.ladder.parse(shape).elements
    found = frame[(frame["step"] == step.name) & (frame["elements"] == elements)]
    if found.empty:
        raise CourseError(f"{step.name} is not recorded at {shape}: `--record` makes a record.")
    return found


def _at_once(row: pd.Series, threads: int) -> int:
    """Blocks that the device shown holds at once, by what the driver said of the kernel."""
    device = device_shown()
    held = occupancy(
        device.compute_capability, threads, int(row["registers"]), int(row["shared_bytes"])
    )
    return held.blocks * device.sms
