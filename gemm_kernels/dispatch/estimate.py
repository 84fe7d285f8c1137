"""How long a product will take with some tiles: an estimate that was fitted to timings.

It chooses tiles for shapes and devices that nobody has timed. `data/tuned/estimate.toml` holds its
constants, `data/tuned/<device>_shapes.csv` the timings; `python -m gemm_kernels tune-shapes` makes
both. On another device the data sheet's numbers take the place of the recorded one's.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from gemm_kernels.parts.slices import Cut, cut
from gemm_kernels.parts.strided import Tiling
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.machine import devices
from utils.machine.occupancy import WARP
from utils.paths import DATA

FILE = DATA / "tuned" / "estimate.toml"
# So many slices of a tile; few numbers, because each is a kernel that adds them.
SLICES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# More rounds of small slices are no better than one round of larger ones.
ROUNDS = 3
KINDS = ("wide", "strided")
# `autotuned` offers fewer.
MOST_SLICES = {"wide": 16, "strided": 64}


@dataclass(frozen=True)
class Facts:
    """What was fitted for one kernel.

    cycles: of an SM with all lanes at work, for a multiply-add of each of them, above 1.
    warps: so many on an SM give 0.7 of its speed.
    """

    cycles: float
    warps: float


@dataclass(frozen=True)
class Costs:
    """What was fitted for all kernels.

    call_us: of any call. adding_us: of the launch that adds slices. beginning: what it takes to
    begin a tile, in elements along k; storing: to store it, likewise, divided by the blocks on an
    SM, of which the others compute meanwhile. reading, writing: share of the memory's bandwidth.
    overlap: how well reading hides behind arithmetic; large: the longer of the two counts alone.
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
    """The constants: of each kind, "wide" or "strided", the tilings (with one slice) and facts."""

    costs: Costs
    tilings: dict[str, dict[Tiling, Facts]]


@dataclass(frozen=True)
class Speed:
    """What a device brings. cycles_per_us: its clock. bytes_per_us: of its memory."""

    sms: int
    lanes: int
    cycles_per_us: float
    bytes_per_us: float


@cache
def fitted() -> Estimate:
    """The constants of the file."""
    with FILE.open("rb") as file:
        content = tomllib.load(file)
    tilings = {kind: {} for kind in KINDS}
    for row in content["tilings"]:
        sizes = (row[name] for name in ("BM", "BN", "BK", "TM", "TN", "BLOCKS"))
        tilings[row["kind"]][Tiling(*sizes)] = Facts(row["cycles"], row["warps"])
    return Estimate(Costs(**content["costs"]), tilings)


def speed_of(device: devices.Device) -> Speed:
    """A device by its data sheet."""
    return Speed(
        device.sms, device.fp32_lanes_per_sm, float(device.boost_clock_mhz),
        1e3 * device.memory_gb_per_s,
    )  # fmt: skip


def candidates(kind: str, shape: GemmShape, tiling: Tiling, sms: int) -> Iterator[Tiling]:
    """The tiling with each number of slices that may be worth it."""
    tiles, slots = _tiles(shape, tiling), sms * tiling.BLOCKS
    steps = -(-shape.k // tiling.BK)
    most = 1 if tiles >= slots else min(steps // 2, -(-ROUNDS * slots // tiles))
    most = min(most, MOST_SLICES[kind])
    for slices in SLICES:
        if slices == 1 or slices <= most:
            yield tiling.sliced(slices)


def best(shape: GemmShape, kind: str, device: devices.Device) -> tuple[Tiling, float]:
    """(the tiling that should be fastest, microseconds) of a kind of kernel."""
    speed, known = speed_of(device), fitted()
    possible = (
        (sliced, estimate_us(shape, sliced, facts, known.costs, speed))
        for tiling, facts in known.tilings[kind].items()
        for sliced in candidates(kind, shape, tiling, device.sms)
    )
    return min(possible, key=lambda pair: pair[1])


def estimate_us(
    shape: GemmShape, tiling: Tiling, facts: Facts, costs: Costs, speed: Speed
) -> float:
    """Microseconds of a call."""
    tiles, steps = _tiles(shape, tiling), -(-shape.k // tiling.BK)
    how = cut(tiles, speed.sms * tiling.BLOCKS, steps, tiling.SLICES)
    step_us = tiling.BM * tiling.BN * tiling.BK * facts.cycles / speed.lanes / speed.cycles_per_us
    working = step_us * _turns(tiles, how, steps, tiling, facts, costs, speed.sms)
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


def _turns(
    tiles: int, how: Cut, steps: int, tiling: Tiling, facts: Facts, costs: Costs, sms: int
) -> float:
    """Steps that the SM with the most to do takes, one block after the other at full speed."""
    full = how.whole // (sms * tiling.BLOCKS) * tiling.BLOCKS
    rest = how.whole - full * sms + (tiles - how.whole) * how.slices
    besides = (costs.beginning + costs.storing / tiling.BLOCKS) / tiling.BK
    turns = full * (steps + besides) / _share(tiling.BLOCKS, tiling, facts)
    if rest > 0:
        last = -(-rest // sms)
        share = _share(min(last, tiling.BLOCKS), tiling, facts)
        turns += last * (steps / how.slices + besides) / share
    return turns


def _share(blocks: int, tiling: Tiling, facts: Facts) -> float:
    """The share of its speed that an SM has with so many blocks on it."""
    return 1 / math.sqrt(1 + (facts.warps * WARP / (blocks * tiling.threads)) ** 2)


def _tiles(shape: GemmShape, tiling: Tiling) -> int:
    return -(-shape.m // tiling.BM) * -(-shape.n // tiling.BN)
