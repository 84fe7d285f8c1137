"""Bars of the profiler's counts as times, above recorded times, for kernels of `rows_apart`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gemm_kernels.rows_apart import (
    STEP,
    THREAD_TILES,
    recorded_counters,
    recorded_times,
    variants,
)
from utils.figures.resource_bars import ResourceTimes, draw_resources
from utils.ladder.step import Variant
from utils.lessons import product_bars
from utils.lessons.product_bars import RESOURCES, N
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import WARP
from virtual_gpu.pictures.svg import Picture


def recorded_ms(variant: Variant) -> float:
    """Return the recorded ms of a kernel of the experiment, for N×N, on the reference device.

    Raises KeyError if it is not recorded.
    """
    timed = {(row.device, row.kernel, row.n): row.time_ms for row in recorded_times()}
    return timed[REFERENCE, str(variant), N]


def per_multiply_add(variant: Variant) -> tuple[float, float]:
    """Return (wavefronts, instructions) per multiply-add of a warp, as the profiler counted them.

    The wavefronts are those of shared memory and of the L1 cache. Raises KeyError for a kernel that
    was not profiled on the reference device.
    """
    counted = recorded_counters(REFERENCE)[str(variant)]
    work = counted.n**3 / WARP
    return counted.wavefronts / work, counted.instructions / work


def times_of(variant: Variant) -> ResourceTimes:
    """Return the recorded ms of a kernel for an N×N product, and two estimates in ms.

    The estimates are those of wavefronts and of instructions. Raises KeyError for a kernel without
    a recorded time or without counts.
    """
    estimates = product_bars.bounds(*per_multiply_add(variant), REFERENCE)
    return replace(estimates, recorded=recorded_ms(variant))


def thread_tiles() -> dict[str, Variant]:
    """Return thread tile, such as "4×4" -> `register_blocked` with this tile in a tile of 64×64."""
    return {f"{TM}×{TN}": pair("64×64", f"{TM}×{TN}")[f"{TM}×{TN}"] for TM, TN in THREAD_TILES}


def pair(block: str, thread: str) -> dict[str, Variant]:
    """Return name -> kernel for `register_blocked` and then `spread_rows`, with these tiles.

    The names are such as "8×8" and "8×8, rows apart". block: the tile of a block, such as "64×128".
    thread: the tile of a thread, such as "8×8". Raises CourseError for tiles that `spread_rows`
    does not offer, and KeyError for tiles that are not in the experiment.
    """
    (BM, BN), (TM, TN) = (map(int, tile.split("×")) for tile in (block, thread))
    params = STEP.variant(BM=BM, BN=BN, TM=TM, TN=TN).params
    names = thread, f"{thread}, rows apart"
    found = {one.step.name: one for one in variants() if one.params == params}
    return dict(zip(names, (found["register_blocked"], found[STEP.name]), strict=True))


def draw(kernels: Mapping[str, Variant]) -> Picture:
    """Draw two estimates in ms of each kernel as bars above the bar of its recorded time.

    The estimates are those of wavefronts and of instructions, for an N×N product on the reference
    device. kernels: name in the picture -> kernel, from top to bottom. All pictures have one scale,
    which ends at the longest recorded time of the thread tiles in a block tile of 64×64.
    """
    longest = max(map(recorded_ms, thread_tiles().values()))
    times = {name: times_of(variant) for name, variant in kernels.items()}
    where = f"{N}×{N}×{N}, block tile 64×64, one {REFERENCE}"
    return draw_resources(where, times, RESOURCES, longest, mark_bound=True)
