"""The constants that `autotuned` uses for a shape, from the results of a search in `data/tuned`.

`python -m gemm_kernels tune` makes the file of a device; see `search`.
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
class TunedConstants:
    """A value for each constant of `autotuned`."""

    BM: int
    BN: int
    BK: int
    TM: int
    TN: int
    BLOCKS: int
    ORDER: int
    SLICES: int


@dataclass(frozen=True)
class TimedCandidate:
    """A candidate that was timed at a shape.

    `library_ratio` is the library's time over the candidate's, or None without a library.
    """

    shape: GemmShape
    constants: TunedConstants
    time_ms: float
    gflops: float
    library_ratio: float | None
    date: Date

    def distance(self, shape: GemmShape) -> float:
        """Return the distance to another shape: the sum of |log2(ratio)| over m, n and k."""
        sides = ((getattr(self.shape, side), getattr(shape, side)) for side in ("m", "n", "k"))
        return sum(abs(math.log2(timed / wanted)) for timed, wanted in sides)


def choose(shape: GemmShape) -> dict[str, int]:
    """Return name -> value of the constants that were fastest at the nearest timed shape.

    They are those of the current device. Without a GPU, and for a device that has not been tuned,
    they are those of the H200. Returns {} if there are no timings at all.
    """
    device = devices.current()
    return _fastest(shape, device.name if device else devices.REFERENCE)


def nearest(shape: GemmShape, within: float) -> dict[str, int] | None:
    """Return the constants of `choose` as name -> value, or None if no timed shape is near.

    A timed shape is near if its distance is at most `within`. The timings are those of the current
    device, or of the H200 without a GPU.
    """
    device = devices.current()
    timed = tuned(device.name if device else devices.REFERENCE)
    if all(each.distance(shape) > within for each in timed):
        return None
    return choose(shape)


def forget() -> None:
    """Clear the cache of `choose`; call it after a file of timings has changed."""
    _fastest.cache_clear()


def file_of(device: str) -> Path:
    """Return the path of the CSV file with a device's timings of `autotuned`; it may not exist."""
    return FOLDER / f"{devices.slug(device)}.csv"


# Cached, because each product needs it, and a search in the table costs more than a small product.
@cache
def _fastest(shape: GemmShape, device: str) -> dict[str, int]:
    timed = tuned(device) or tuned(devices.REFERENCE)
    if not timed:
        return {}
    chosen = min(timed, key=lambda each: (each.distance(shape), each.time_ms))
    return dict(vars(chosen.constants))


def tuned(device: str) -> tuple[TimedCandidate, ...]:
    """Return the candidates that were timed on a device, in its file's order; () without a file."""
    return rows.read_if_any(file_of(device), TimedCandidate)
