"""Which constants `autotuned` uses for a shape: what a search found, kept in `data/tuned`.

`python -m gemm_kernels tune` makes a device's file; see `search`.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from utils.ladder.shapes import GemmShape
from utils.machine import devices
from utils.paths import DATA

FOLDER = DATA / "tuned"
CONSTANTS = ("BM", "BN", "BK", "TM", "TN", "BLOCKS", "ORDER", "SLICES")


@dataclass(frozen=True)
class Timed:
    """One candidate that was timed at a shape."""

    shape: GemmShape
    constants: dict[str, int]
    time_ms: float

    def distance(self, shape: GemmShape) -> float:
        """How far its shape is from another: the sum of the sides' ratios, as powers of two."""
        sides = ((getattr(self.shape, side), getattr(shape, side)) for side in ("m", "n", "k"))
        return sum(abs(math.log2(timed / wanted)) for timed, wanted in sides)


def choose(shape: GemmShape) -> dict[str, int]:
    """The constants that were fastest at the nearest shape on this device; {} if none is known.

    Where there is no GPU, and for one that nobody has tuned, those of the course's own device.
    """
    device = devices.current()
    return _fastest(shape, device.name if device else devices.REFERENCE)


def nearest(shape: GemmShape, within: float) -> dict[str, int] | None:
    """As `choose`, for a shape no further than that from one that was timed on this device."""
    device = devices.current()
    timed = tuned(device.name if device else devices.REFERENCE)
    if all(one.distance(shape) > within for one in timed):
        return None
    return choose(shape)


def forget() -> None:
    """After the files have changed: read them again."""
    _fastest.cache_clear()
    tuned.cache_clear()


def file_of(device: str) -> Path:
    """Where the timings of a device lie."""
    return FOLDER / f"{devices.slug(device)}.csv"


# Asked for at each product, where a search through a table would cost more than a small product.
@cache
def _fastest(shape: GemmShape, device: str) -> dict[str, int]:
    timed = tuned(device) or tuned(devices.REFERENCE)
    if not timed:
        return {}
    return min(timed, key=lambda one: (one.distance(shape), one.time_ms)).constants


@cache
def tuned(device: str) -> tuple[Timed, ...]:
    """Every candidate that was timed on a device; empty if none was."""
    path = file_of(device)
    if not path.exists():
        return ()
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_from_row(row) for row in csv.DictReader(file))


def _from_row(row: dict[str, str]) -> Timed:
    shape = GemmShape(*(int(row[side]) for side in ("m", "n", "k")))
    return Timed(shape, {name: int(row[name]) for name in CONSTANTS}, float(row["time_ms"]))
