"""An estimate of the time of a product with given tiles, fitted to timings.

It chooses tiles for shapes and devices that nobody has timed. `data/tuned/estimate.toml` holds its
constants and `data/tuned/<device>_shapes.csv` the timings; `python -m gemm_kernels tune-shapes`
makes both. For another device, the numbers of its data sheet replace those of the recorded device.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from gemm_kernels.parts.slices import Cut, cut
from gemm_kernels.parts.strided import Tiling
from utils.division import cdiv
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.machine import devices
from utils.machine.occupancy import WARP
from utils.paths import DATA

FILE = DATA / "tuned" / "estimate.toml"
# The numbers of slices that a tile may have; few, because each one needs a kernel that adds them.
SLICES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# More waves of small slices are no better than one wave of larger ones.
WAVES = 3
KINDS = ("wide", "strided")
# `autotuned` offers fewer slices.
MOST_SLICES = {"wide": 16, "strided": 64}


@dataclass(frozen=True)
class KernelFit:
    """The fitted constants of one kernel.

    cycles: the cycles of a lane per multiply-add while the SM has enough warps; above 1.
    warps: the number of warps on an SM with which it reaches 0.7 of its full speed.
    """

    cycles: float
    warps: float


@dataclass(frozen=True)
class Costs:
    """The fitted constants that all kernels share.

    call_us: the fixed time of every call, in microseconds.
    adding_us: the fixed time of the launch that adds slices, in microseconds.
    beginning: the time to begin a tile, as the number of elements along k that are computed
        meanwhile.
    storing: the time to store a tile, in the same unit. It is divided by the number of blocks on an
        SM, because the other blocks compute meanwhile.
    reading, writing: the fractions of the memory's bandwidth that reads and writes reach.
    overlap: the exponent p of (w^p + r^p)^(1/p), the time of arithmetic w and reading r together.
        The larger p is, the better one hides behind the other.
    """

    call_us: float
    adding_us: float
    beginning: float
    storing: float
    reading: float
    writing: float
    overlap: float


@dataclass(frozen=True)
class Estimate:
    """All fitted constants of the estimate.

    costs: the constants that all kernels share.
    tilings: a dict from "wide" and "strided" to a dict from each tiling with one slice to the
        constants of its kernel.
    """

    costs: Costs
    tilings: dict[str, dict[Tiling, KernelFit]]


@dataclass(frozen=True)
class DeviceSpeed:
    """The speed of a device.

    sms: the number of SMs.
    lanes: the number of float32 lanes per SM.
    cycles_per_us: the clock, in cycles per microsecond.
    bytes_per_us: the bandwidth of memory, in bytes per microsecond.
    """

    sms: int
    lanes: int
    cycles_per_us: float
    bytes_per_us: float


@cache
def fitted() -> Estimate:
    """Return the constants that `estimate.toml` holds; they are read once and cached."""
    with FILE.open("rb") as file:
        content = tomllib.load(file)
    tilings = {kind: {} for kind in KINDS}
    for row in content["tilings"]:
        sizes = (row[name] for name in ("BM", "BN", "BK", "TM", "TN", "BLOCKS"))
        tilings[row["kind"]][Tiling(*sizes)] = KernelFit(row["cycles"], row["warps"])
    return Estimate(Costs(**content["costs"]), tilings)


def speed_of(device: devices.Device) -> DeviceSpeed:
    """Return the speed of a device according to its data sheet."""
    return DeviceSpeed(
        device.sms, device.fp32_lanes_per_sm, float(device.boost_clock_mhz),
        1e3 * device.memory_gb_per_s,
    )  # fmt: skip


def candidates(kind: str, shape: GemmShape, tiling: Tiling, sms: int) -> Iterator[Tiling]:
    """Yield `tiling` once per number of slices that may be worth a try for this shape.

    The numbers are those of SLICES in ascending order, first 1, which is the only one if the tiles
    fill all slots of the device. More slices must have at least two steps each. The
    slices of all tiles may fill about WAVES waves, and a tile has at most MOST_SLICES[kind]. `kind`
    is "wide" or "strided", and `sms` is the number of SMs of the device.
    """
    tiles, slots = _tiles(shape, tiling), sms * tiling.BLOCKS
    steps = cdiv(shape.k, tiling.BK)
    most = 1 if tiles >= slots else min(steps // 2, cdiv(WAVES * slots, tiles))
    most = min(most, MOST_SLICES[kind])
    for slices in SLICES:
        if slices == 1 or slices <= most:
            yield tiling.sliced(slices)


def best(shape: GemmShape, kind: str, device: devices.Device) -> tuple[Tiling, float]:
    """Return (tiling, microseconds): the tiling with the lowest estimated time, and that time.

    `kind` is the kind of kernel, "wide" or "strided".
    """
    speed, known = speed_of(device), fitted()
    possible = (
        (sliced, estimate_us(shape, sliced, kernel_fit, known.costs, speed))
        for tiling, kernel_fit in known.tilings[kind].items()
        for sliced in candidates(kind, shape, tiling, device.sms)
    )
    return min(possible, key=lambda pair: pair[1])


def estimate_us(
    shape: GemmShape, tiling: Tiling, kernel_fit: KernelFit, costs: Costs, speed: DeviceSpeed
) -> float:
    """Return the estimated microseconds of one product of this shape with this tiling.

    `kernel_fit` has the constants of the tiling's kernel. Reading, arithmetic, writing and the
    adding of slices are included; copies of the inputs are not.
    """
    tiles, steps = _tiles(shape, tiling), cdiv(shape.k, tiling.BK)
    how = cut(tiles, speed.sms * tiling.BLOCKS, steps, tiling.SLICES)
    step_cycles = tiling.BM * tiling.BN * tiling.BK * kernel_fit.cycles / speed.lanes
    steps_of_sm = _steps_of_busiest_sm(tiles, how, steps, tiling, kernel_fit, costs, speed.sms)
    working = step_cycles / speed.cycles_per_us * steps_of_sm
    inputs, result = shape.m * shape.k + shape.k * shape.n, shape.m * shape.n
    reading = FLOAT32_BYTES * inputs / (costs.reading * speed.bytes_per_us)
    writing = FLOAT32_BYTES * result / (costs.writing * speed.bytes_per_us)
    power = costs.overlap
    time = costs.call_us + (working**power + reading**power) ** (1 / power) + writing
    if how.slices > 1:
        parts = (tiles - how.whole) * (how.slices - 1) * tiling.BM * tiling.BN
        time += costs.adding_us
        time += 2 * FLOAT32_BYTES * parts / (costs.writing * speed.bytes_per_us)
    return time


def _steps_of_busiest_sm(
    tiles: int, how: Cut, steps: int, tiling: Tiling, kernel_fit: KernelFit, costs: Costs, sms: int
) -> float:
    """Return how many steps of a tile the busiest SM could do at full speed in the time it needs.

    A step is BK elements along k, and a whole tile has `steps` of them. `how` says which of the
    `tiles` are cut. The time includes the beginning and the storing of tiles.
    """
    full = how.whole // (sms * tiling.BLOCKS) * tiling.BLOCKS
    rest = how.whole - full * sms + (tiles - how.whole) * how.slices
    overhead = (costs.beginning + costs.storing / tiling.BLOCKS) / tiling.BK
    total = full * (steps + overhead) / _share(tiling.BLOCKS, tiling, kernel_fit)
    # A block that finds no free slot begins when others end, and then runs with few beside it.
    rounds, left = divmod(cdiv(rest, sms), tiling.BLOCKS)
    steps_of_block = steps / how.slices + overhead
    total += rounds * tiling.BLOCKS * steps_of_block / _share(tiling.BLOCKS, tiling, kernel_fit)
    if left:
        total += left * steps_of_block / _share(left, tiling, kernel_fit)
    return total


def _share(blocks: int, tiling: Tiling, kernel_fit: KernelFit) -> float:
    """Return the fraction of its full speed, 0 to 1, that an SM reaches with `blocks` blocks.

    `tiling` has the threads of a block. The fraction grows with the number of warps on the SM.
    """
    return 1 / math.sqrt(1 + (kernel_fit.warps * WARP / (blocks * tiling.threads)) ** 2)


def _tiles(shape: GemmShape, tiling: Tiling) -> int:
    """Return the number of BM×BN tiles that cover c."""
    return cdiv(shape.m, tiling.BM) * cdiv(shape.n, tiling.BN)
