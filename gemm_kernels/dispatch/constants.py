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
    """The constants of the kernel `autotuned` and of its launch.

    BM, BN, BK: a block computes BM×BN of c, and a tile has BK steps of k.
    TM, TN: a thread computes TM×TN of c.
    BLOCKS: the blocks per SM that the kernel is built for.
    ORDER: the order of the multiply-adds of a step, 0 to 3; see `back_and_forth`.
    SLICES: the number of slices per tile if the tiles do not fill one wave.
    """

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
    """The time of `autotuned` with some constants at a shape: a row of a file in `data/tuned`.

    The file's name is that of the device. time_ms, gflops: the median time of one product, and its
    rate in GFLOP/s. library_ratio: the library's time over `time_ms`; None if no library was timed.
    date: the day of the measurement.
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
    """Return a dict from name to value of the constants that were fastest at the nearest shape.

    The shape is the nearest timed one. The timings are those of the current device. Without a GPU,
    and for a device that has not been tuned, they are those of the H200. Returns {} if there are no
    timings at all.
    """
    device = devices.current()
    return _fastest(shape, device.name if device else devices.REFERENCE)


def nearest(shape: GemmShape, within: float) -> dict[str, int] | None:
    """Return the constants that were fastest at the nearest timed shape, or None if none is near.

    They are a dict from name to value. A timed shape is near if its distance is at most `within`.
    The timings are those of the current device, or of the H200 without a GPU. A device that has not
    been tuned has no near shape.
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
    """Return a dict from name to value of the fastest constants at the nearest timed shape.

    A device without timings gets those of the H200. Returns {} if these are missing, too.
    """
    timed = tuned(device) or tuned(devices.REFERENCE)
    if not timed:
        return {}
    chosen = min(timed, key=lambda each: (each.distance(shape), each.time_ms))
    return dict(vars(chosen.constants))


def tuned(device: str) -> tuple[TimedCandidate, ...]:
    """Return the candidates that were timed on a device, in its file's order; () without a file."""
    return rows.read_if_any(file_of(device), TimedCandidate)
