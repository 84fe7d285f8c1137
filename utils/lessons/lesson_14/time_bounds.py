"""Bars of the time that wavefronts and instructions alone need for a product of lesson 14."""

from __future__ import annotations

from functools import cache

from gemm_kernels import buffers_alone
from utils.figures.resource_bars import ResourceTimes, draw_resources
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Variant
from utils.lessons import recorded
from utils.lessons.counting import watch
from utils.lessons.lesson_14.big_loop import EXPERIMENT, recorded_big_loops
from utils.lessons.recorded import row_with
from utils.machine import devices
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import WARP, limits_of
from utils.measuring.roofline import SECTORS_PER_WAVEFRONT
from virtual_gpu.pictures.svg import Picture

SIZE, SIDE, DEPTH = 4096, 128, 8  # of the matrices, of a block's tile of c, of a tile along k
LONGEST = 4.4  # ms, the end of the scale of all pictures


def times_of(variant: Variant) -> ResourceTimes:
    """Return the ms of a product at `SIZE`, with tiles of 128×128×8, on the reference device.

    wavefronts: one per cycle and SM. instructions: one per cycle and scheduler, of the recorded
    loop over tiles. Both are at the boost clock. recorded: as from `recorded_ms`. Raises KeyError
    if the loop is not recorded, and CourseError if the time is not.
    """
    device = devices.find(REFERENCE)
    tiles = (SIZE // SIDE) ** 2 * SIZE // DEPTH
    ms_per_cycle = tiles / device.sms / device.boost_clock_mhz / 1e3
    schedulers = limits_of(device.compute_capability).sub_partitions
    warps = variant.launch(_shape(DEPTH)).threads // WARP
    loop = recorded_big_loops()[device.arch, str(variant)]
    return ResourceTimes(
        recorded=recorded_ms(variant),
        wavefronts=wavefronts_per_tile(variant) * ms_per_cycle,
        instructions=warps * len(loop.names) / schedulers * ms_per_cycle,
    )


@cache
def wavefronts_per_tile(variant: Variant) -> float:
    """Return the wavefronts of a block per tile along k.

    They are those of loads and stores of shared memory, and one per request or per four sectors of
    the loads from global memory, whichever is more.
    """
    return (_wavefronts(variant, 4) - _wavefronts(variant, 2)) / 2


def _wavefronts(variant: Variant, tiles: int) -> float:
    """Return the wavefronts of a product with one tile of c, and `tiles` tiles along k.

    One block computes it. tiles: the number of tiles along k.
    """
    totals = watch(variant, str(_shape(tiles * DEPTH))).totals
    shared = totals["shared_load_wavefronts"] + totals["shared_store_wavefronts"]
    sectors = totals["global_load_sectors"] / SECTORS_PER_WAVEFRONT
    return float(shared + max(totals["global_load_requests"], sectors))


def _shape(k: int) -> GemmShape:
    """Return the shape of a product whose c is one tile."""
    return GemmShape(SIDE, SIDE, k)


def recorded_ms(variant: Variant) -> float:
    """Return the recorded ms at `SIZE` on the reference device.

    A kernel of the experiment `buffers-alone` has the time of this experiment, and a step of the
    ladder its time in the table of the ladder. Raises CourseError if there is no record.
    """
    if variant.step.module == EXPERIMENT:
        timed = buffers_alone.recorded_times()
        return row_with(timed, device=REFERENCE, n=SIZE, kernel=str(variant)).time_ms
    return recorded.recorded_ms(variant, str(SIZE), REFERENCE)


def draw_times(**variants: Variant) -> Picture:
    """Draw two estimates in ms of each kernel as bars above the bar of its recorded time.

    The estimates are those of wavefronts and of instructions, for a product at `SIZE` on the
    reference device. The longer estimate is orange, and the recorded bar is faint beyond it.
    variants: name -> kernel, from top to bottom; _ stands for a space.
    """
    times = {name.replace("_", " "): times_of(one) for name, one in variants.items()}
    where = f"{SIZE}×{SIZE}, tiles of {SIDE}×{SIDE}×{DEPTH}, one {REFERENCE}"
    return draw_resources(where, times, ("wavefronts", "instructions"), LONGEST, mark_bound=True)
