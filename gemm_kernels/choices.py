"""Which constants `autotuned` uses for a shape: what a search found, kept in `data/tuned`.

`python -m gemm_kernels --tune` makes a device's file; see `autotune`.
"""

from __future__ import annotations

import math
from functools import cache

import pandas as pd

from utils import devices, records
from utils.shapes import GemmShape

FOLDER = records.DATA / "tuned"
CONSTANTS = ("BM", "BN", "BK", "TM", "TN", "BLOCKS", "ORDER", "SLICES")
# Where there is no GPU, and for one that nobody has tuned: these choices were timed on an H200.
FALLBACK = "NVIDIA H200"


def choose(shape: GemmShape) -> dict[str, int]:
    """The constants that were fastest at the nearest shape on this device; {} if none is known."""
    device = devices.current()
    return _fastest(shape, device.name if device else FALLBACK)


def forget() -> None:
    """After the files have changed: read them again."""
    _fastest.cache_clear()
    tuned.cache_clear()


# Asked for at each product, where a search through a table would cost more than a small product.
@cache
def _fastest(shape: GemmShape, device: str) -> dict[str, int]:
    frame = tuned(device)
    if frame.empty:
        frame = tuned(FALLBACK)
    if frame.empty:
        return {}
    distance = sum(
        (frame[side] / getattr(shape, side)).map(math.log2).abs() for side in ("m", "n", "k")
    )
    nearest = frame[distance == distance.min()]
    best = nearest.loc[nearest["time_ms"].idxmin()]
    return {name: int(best[name]) for name in CONSTANTS}


@cache
def tuned(device: str) -> pd.DataFrame:
    """Every candidate that was timed on a device: m, n, k, the constants, time_ms; maybe empty."""
    path = FOLDER / f"{devices.slug(device)}.csv"
    if not path.exists():
        return pd.DataFrame(columns=["m", "n", "k", *CONSTANTS, "time_ms"])
    return pd.read_csv(path)
