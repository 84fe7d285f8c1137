"""The stores of c: the reader's kernel beside steps of the course, per 32 elements of c."""

from __future__ import annotations

import numpy as np

from gemm_kernels import LADDER
from utils.lessons.cards import Table, table
from utils.lessons.counting import watch
from virtual_gpu import Trace, trace

STEPS = ("register_blocked", "warp_tiled", "maxwell256")
WORDS = {
    "register_blocked": "word by word",
    "warp_tiled": "four words at once",
    "maxwell256": "whole rows",
}
SIDE = 128  # of the tile of c that the steps compute
TILE = (16, 32)  # of the tile of the exercise


def beside_direct(kernel) -> Table:
    """Tabulate the stores of the reader's `whole_rows` beside those of three steps of the course.

    The columns are requests and sectors per 32 neighbouring elements of c; 4 sectors hold them.
    """
    x = np.arange(np.prod(TILE), dtype=np.float32).reshape(TILE)
    mine = stores(trace(kernel, 1, 32, x, np.zeros_like(x), record=0), x.size)
    counted = {f"{name}, {WORDS[name]}": stores_of(name) for name in STEPS}
    rows = [
        (words, *(f"{value:g}" for value in values))
        for words, values in {"your whole_rows": mine, **counted}.items()
    ]
    head = ("", "store requests", "sectors")
    return table("Stores per 32 elements of c, counted on the virtual GPU", head, rows)


def stores_of(name: str) -> tuple[float, float]:
    """Return (requests, sectors) of a step's stores into c per 32 elements."""
    return stores(watch(LADDER.step(name), f"{SIDE}x{SIDE}x8"), SIDE**2)


def stores(counted: Trace, elements: int) -> tuple[float, float]:
    """Return (requests, sectors) of a trace's stores into global memory per 32 of its elements."""
    totals = counted.totals
    each = (totals[f"global_store_{what}"] for what in ("requests", "sectors"))
    return tuple(32 * value / elements for value in each)
