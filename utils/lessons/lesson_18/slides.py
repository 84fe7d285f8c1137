"""The times of the first four kernels in the slides, beside the times recorded for the course."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

import pandas as pd

from utils.ladder.shapes import ReduceShape
from utils.lessons.cards import Table, table

# M. Harris, "Optimizing Parallel Reduction in CUDA": milliseconds for 2^22 integers on a G80, with
# blocks of 128 threads, from the table "Performance for 4M element reduction".
PUBLISHED_MS = {"reduce0": 8.054, "reduce1": 3.456, "reduce2": 1.722, "reduce3": 0.965}
ELEMENTS, THREADS, YEAR = 2**22, 128, 2007


def speedups(ms: Mapping[str, float]) -> list[float]:
    """Return how many times faster each of reduce1 to reduce3 is than the kernel before it.

    ms: kernel -> milliseconds, with all keys of `PUBLISHED_MS`.
    """
    return [ms[before] / ms[after] for before, after in pairwise(PUBLISHED_MS)]


def recorded_ms(records: Iterable) -> dict[str, float]:
    """Return kernel -> recorded milliseconds for the length and the block size of the slides.

    The keys are those of `PUBLISHED_MS`. records: rows of a ladder's records on one device, with
    `step`, `params`, `elements`, `time_ms`. Raises KeyError if a kernel has no such row.
    """
    found = {
        row.step: row.time_ms
        for row in records
        if row.elements == ELEMENTS and row.params == f"BLOCK={THREADS}"
    }
    return {name: found[name] for name in PUBLISHED_MS}


def beside_the_slides(frame: pd.DataFrame) -> Table:
    """Tabulate the speedups in the slides beside those recorded for the same length and blocks.

    There is a row per pair of kernels, reduce0 to reduce1 and so on, and a column each for the
    slides and for the device of `frame`. frame: records of `reduce` on one device.
    """
    (device,) = set(frame["device"])
    ms = recorded_ms(frame.itertuples())
    steps = [f"{before} to {after}" for before, after in pairwise(PUBLISHED_MS)]
    factors = ([f"{one:.2f}×" for one in speedups(times)] for times in (PUBLISHED_MS, ms))
    head = ("", "slides, G80", device.removeprefix("NVIDIA "))
    caption = "Times faster than the kernel before: {} elements, blocks of {} threads"
    return table(
        caption.format(ReduceShape(ELEMENTS), THREADS), head, list(zip(steps, *factors))
    )
