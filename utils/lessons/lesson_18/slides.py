"""The times of the first four kernels in the slides, beside the times recorded for the course."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from utils.lessons.cards import Table, table

# M. Harris, "Optimizing Parallel Reduction in CUDA": milliseconds for 2^22 integers on a G80,
# from the table "Performance for 4M element reduction".
PUBLISHED_MS = {"reduce0": 8.054, "reduce1": 3.456, "reduce2": 1.722, "reduce3": 0.965}
ELEMENTS, YEAR = 2**22, 2007


def speedups(ms: Mapping[str, float]) -> list[float]:
    """Return how many times faster each of reduce1 to reduce3 is than the kernel before it.

    ms: kernel -> milliseconds, with all keys of `PUBLISHED_MS`.
    """
    return [ms[before] / ms[after] for before, after in pairwise(PUBLISHED_MS)]


def beside_the_slides(ms: Mapping[str, float], device: str) -> Table:
    """Tabulate the speedups in the slides beside those of recorded times.

    ms: kernel -> recorded milliseconds. device: the name of the GPU that was recorded.
    """
    steps = [f"{before} to {after}" for before, after in pairwise(PUBLISHED_MS)]
    factors = ([f"{one:.2f}×" for one in speedups(times)] for times in (PUBLISHED_MS, ms))
    head = ("", "slides, G80", device.removeprefix("NVIDIA "))
    return table("Times faster than the kernel before", head, list(zip(steps, *factors)))
