"""Probes for products with elements that were never written: where the lanes of a warp store."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from labs.checking.phrasing import at
from labs.checking.run import Run
from labs.checking.target import Probes
from labs.families.wrong_products import WRONG_PRODUCTS
from utils.translation import translate
from virtual_gpu import VirtualGpuError
from virtual_gpu.common.lanes import WARP


def transposed(run: Run) -> str | None:
    """Return a sentence if what is stored is the right result with exchanged indices, else None."""
    rows, columns = np.nonzero(~run.unwritten)
    m, n = run.right.shape
    inside = (rows < n) & (columns < m)
    if not inside.all() or np.array_equal(run.out[rows, columns], run.right[rows, columns]):
        return None
    if not np.array_equal(run.out[rows, columns], run.right[columns, rows]):
        return None
    return translate(
        "On square matrices your result is the right one transposed: row and column are exchanged "
        "where `{c}` is stored.",
        c=run.result,
    )


def lanes_in_rows(run: Run) -> str | None:
    """Return sentences if neighbouring lanes store a whole row apart, else None.

    Also returns None if the result has only one column.
    """
    step, width = run.lane_step("c", "store"), run.right.shape[1]
    if step != width or width == 1:
        return None
    return translate(
        "{where}: lanes 0 and 1 store {step} words apart, a whole row. So `threadIdx.x` counts "
        "rows in your kernel, and this launch starts enough threads along x for the columns. "
        "`cuda.grid(2)` gives the number along x first.",
        where=at(run.accesses("c", "store")[0].site),
        step=step,
    )


def columns_end_at_m(run: Run) -> str | None:
    """Return sentences if only the first m columns were written and the result has more, else None.

    Also returns None if m times the number of blocks along x is at least the number of columns,
    because then the columns may be missing for another reason.
    """
    m, n = run.right.shape
    written = np.flatnonzero(~run.unwritten.all(axis=0))
    if not np.array_equal(written, np.arange(m)) or m * run.job.launch(run.shape).grid[0] >= n:
        return None
    return translate(
        "The columns end at {m}. That is m, the rows of `{c}`; it has {n} columns. With which size "
        "does your test compare the column?",
        m=m,
        n=n,
        c=run.result,
    )


def overlapping_lanes(run: Run) -> str | None:
    """Return sentences if lane 0 and another lane store a common column of row 0, else None.

    The lanes are those of the first warp of block 0. Returns None, too, if lane 0 stores fewer than
    two columns, or if the launch of block 0 alone fails, for example because it takes too long.
    """
    try:
        columns = _columns_of_lanes(run)
    except VirtualGpuError:  # it takes longer than the run did
        return None
    first = columns.get(0, [])
    other = next((lane for lane in columns if lane and set(first) & set(columns[lane])), None)
    if len(first) < 2 or other is None:
        return None
    return translate(
        "Lane 0 stores columns {first}, and lane {lane} stores columns {others}: they overlap, and "
        "other columns are left out. A warp has {warp} lanes. How far apart must the columns of a "
        "lane be?",
        first=", ".join(map(str, first)),
        lane=other,
        others=", ".join(map(str, columns[other])),
        warp=WARP,
    )


def _columns_of_lanes(run: Run) -> dict[int, list[int]]:
    """Return a dict from each lane of the first warp to the columns that it stores in row 0.

    The columns are sorted; a lane without any is missing. Only block (0, 0, 0) is launched for it.
    """
    columns = defaultdict(set)
    for event in run.alone((0, 0, 0)).trace.recording.events:
        if (event.kind, event.array) == ("store", run.result):
            for lane, element in enumerate(event.first[:WARP]):
                if 0 <= element < run.right.shape[1]:
                    columns[lane].add(int(element))
    return {lane: sorted(columns[lane]) for lane in sorted(columns)}


PROBES = Probes(
    missing=(transposed, lanes_in_rows, columns_end_at_m, overlapping_lanes), wrong=WRONG_PRODUCTS
)
