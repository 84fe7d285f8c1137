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

    cycles: the cycles per multiply-add and lane of an SM with all lanes busy; above 1.
    warps: the number of warps on an SM that reach 0.7 of its speed.
    """

    cycles: float
    warps: float


@dataclass(frozen=True)
class Costs:
    """The fitted constants that all kernels share.

    call_us: microseconds of any call.
    adding_us: microseconds of the launch that adds slices.
    beginning: the time to begin a tile, in elements along k.
    storing: the time to store a tile, in elements along k, divided by the blocks on an SM, because
        the other blocks compute meanwhile.
    reading, writing: shares of the memory's bandwidth.
    overlap: how well reading hides behind arithmetic; if it is large, only the longer one counts.
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
    """The fitted constants: `costs` are those that all kernels share.

    `tilings` are kind -> tiling with one slice -> constants of its kernel, for "wide" and
    "strided".
    """

    costs: Costs
    tilings: dict[str, dict[Tiling, KernelFit]]


@dataclass(frozen=True)
class DeviceSpeed:
    """The speed of a device: cycles_per_us is its clock, bytes_per_us its memory bandwidth."""

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
    """Yield the tiling once per number of slices that may be worth a try for this shape.

    The numbers are in ascending order from 1 on. `sms` is the number of SMs of the device.
    """
    tiles, slots = _tiles(shape, tiling), sms * tiling.BLOCKS
    steps = cdiv(shape.k, tiling.BK)
    most = 1 if tiles >= slots else min(steps // 2, cdiv(WAVES * slots, tiles))
    most = min(most, MOST_SLICES[kind])
    for slices in SLICES:
        if slices == 1 or slices <= most:
            yield tiling.sliced(slices)


def best(shape: GemmShape, kind: str, device: devices.Device) -> tuple[Tiling, float]:
    """Return (tiling, microseconds) of the tiling of this kind with the lowest estimated time."""
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
    """Return the estimated microseconds of one product of this shape with this tiling."""
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

    A step is BK elements along k. The time includes the beginning and the storing of tiles.
    """
    full = how.whole // (sms * tiling.BLOCKS) * tiling.BLOCKS
    rest = how.whole - full * sms + (tiles - how.whole) * how.slices
    overhead = (costs.beginning + costs.storing / tiling.BLOCKS) / tiling.BK
    total = full * (steps + overhead) / _share(tiling.BLOCKS, tiling, kernel_fit)
    if rest > 0:
        last = cdiv(rest, sms)
        share = _share(min(last, tiling.BLOCKS), tiling, kernel_fit)
        total += last * (steps / how.slices + overhead) / share
    return total


def _share(blocks: int, tiling: Tiling, kernel_fit: KernelFit) -> float:
    """Return the share of its speed that an SM reaches with `blocks` blocks on it."""
    return 1 / math.sqrt(1 + (kernel_fit.warps * WARP / (blocks * tiling.threads)) ** 2)


def _tiles(shape: GemmShape, tiling: Tiling) -> int:
    return cdiv(shape.m, tiling.BM) * cdiv(shape.n, tiling.BN)
