"""Which constants `autotuned` uses for a shape: what a search found, kept in `data/tuned`.

`python -m gemm_kernels tune` makes a device's file; see `search`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from utils.ladder.shapes import GemmShape
from utils.machine import devices
from utils.measuring import rows
from utils.measuring.rows import Date
from utils.paths import DATA

FOLDER = DATA / "tuned"


@dataclass(frozen=True)
class Constants:
    """Those of `autotuned`."""

    BM: int
    BN: int
    BK: int
    TM: int
    TN: int
    BLOCKS: int
    ORDER: int
    SLICES: int


@dataclass(frozen=True)
class Timed:
    """One candidate that was timed at a shape. library_ratio: the library's time over its time."""

    shape: GemmShape
    constants: Constants
    time_ms: float
    gflops: float
    library_ratio: float | None
    date: Date

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


def file_of(device: str) -> Path:
    """Where the timings of a device lie."""
    return FOLDER / f"{devices.slug(device)}.csv"


# Asked for at each product, where a search through a table would cost more than a small product.
@cache
def _fastest(shape: GemmShape, device: str) -> dict[str, int]:
    timed = tuned(device) or tuned(devices.REFERENCE)
    if not timed:
        return {}
    chosen = min(timed, key=lambda one: (one.distance(shape), one.time_ms))
    return dict(vars(chosen.constants))


def tuned(device: str) -> tuple[Timed, ...]:
    """Every candidate that was timed on a device; empty if none was."""
    return rows.read_if_any(file_of(device), Timed)
