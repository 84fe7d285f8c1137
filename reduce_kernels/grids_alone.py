"""`python -m reduce_kernels grids-alone`: time `reduce6` with grids near those that run at once.

The H200 has room for 8 blocks of 256 threads on each of its 132 SMs: 1,056 in all. A grid of just
these blocks has no second round and no empty place; with one block less a place stays empty, and
with one more that block runs alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle

from reduce_kernels import LADDER
from utils.division import cdiv
from utils.ladder.shapes import ReduceShape
from utils.ladder.step import Variant
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ArrayTime, require_right_sum, time_sums

BLOCK = 256
ELEMENTS = 2**30
GRIDS = (1024, 1055, 1056, 1057, 2112, 4224, 65_536)  # blocks
EACH = tuple(cdiv(ELEMENTS, BLOCK * blocks) for blocks in GRIDS)
STEP = replace(LADDER.step("reduce6"), choices={"BLOCK": (BLOCK,), "PER_THREAD": EACH})


def variants() -> tuple[Variant, ...]:
    """Return `reduce6` with the elements per thread that give each grid of GRIDS, in its order."""
    return tuple(STEP.variant(PER_THREAD=each) for each in EACH)


def blocks_of(variant: Variant) -> int:
    """Return the number of blocks with which the variant sums ELEMENTS elements."""
    return variant.launch(ReduceShape(ELEMENTS)).blocks


def recorded_times() -> tuple[ArrayTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def measured(device: str, lengths: Sequence[int] = (ELEMENTS,)) -> Iterator[ArrayTime]:
    """Yield an ArrayTime per grid for each length, the grids in the order of `variants`.

    All grids of a length come one after the other, and their repetitions are interleaved. The name
    of a kernel has its constants. device: its name, for the rows. lengths: numbers of float32; with
    others than ELEMENTS the grids have other numbers of blocks. Raises CourseError if a sum is
    wrong.
    """
    for variant in variants():
        require_right_sum(variant)
    rows = time_sums(variants(), device, lengths)
    for variant, row in zip(cycle(variants()), rows, strict=False):
        yield replace(row, kernel=str(variant))


EXPERIMENT = Experiment(
    name="grids-alone",
    help="time reduce6 with grids near the blocks that run at once",
    row=ArrayTime,
    size="elements",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
