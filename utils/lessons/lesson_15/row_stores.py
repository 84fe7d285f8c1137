"""The stores of c by the reader's kernel and by steps of the course, per 32 elements of c."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from utils.lessons.cards import Table, table
from utils.lessons.counting import watch
from virtual_gpu import Trace, trace

# The module of a step of the course -> how it stores c.
STEPS = {
    "gemm_kernels.register_blocked": "word by word",
    "gemm_kernels.warp_tiled": "four words at once",
    "gemm_kernels.maxwell256": "whole rows",
}
SIDE = 128  # of the tile of c that the steps compute
TILE = (16, 32)  # of the tile of the exercise


def beside_direct(kernel) -> Table:
    """Return a table of the stores of the reader's `whole_rows` and of three steps of the course.

    The reader's kernel has the first row, and then each of `STEPS` has one. The columns are
    requests and sectors per 32 neighbouring elements of c; 4 sectors hold them.
    """
    x = np.arange(np.prod(TILE), dtype=np.float32).reshape(TILE)
    counted = {"your whole_rows": stores(trace(kernel, 1, 32, x, np.zeros_like(x), record=0))}
    for module, words in STEPS.items():
        step = import_module(module).STEP
        counted[f"{step.name}, {words}"] = stores(watch(step, f"{SIDE}x{SIDE}x8"), SIDE**2)
    rows = [(words, *(f"{value:g}" for value in values)) for words, values in counted.items()]
    head = ("", "store requests", "sectors")
    return table("Stores per 32 elements of c, counted on the virtual GPU", head, rows)


def stores(counted: Trace, elements: int = TILE[0] * TILE[1]) -> tuple[float, float]:
    """Return (requests, sectors) of a trace's stores into global memory, per 32 stored elements.

    elements: the number of elements that the launch stores.
    """
    totals = counted.totals
    each = (totals[f"global_store_{what}"] for what in ("requests", "sectors"))
    return tuple(32 * value / elements for value in each)
