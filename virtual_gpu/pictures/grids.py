"""How an array is drawn: its memory in rows of cells, of a large one only what the block touches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..counts.recorder import RecordedArray
from ..counts.transactions import CACHE_LINE_BYTES, SECTOR_BYTES

MOST = 64  # cells in a row or a column: smaller ones say nothing
LAST = 16  # of them from the end, where even the touched ones are more


@dataclass(frozen=True, eq=False)
class Grid:
    """An array's memory as rows of ``wrap`` elements, and which rows and columns are drawn.

    down: rows of memory are drawn as columns, as those of an array in Fortran's order are.
    """

    array: RecordedArray
    wrap: int
    down: bool
    rows: np.ndarray
    columns: np.ndarray
    lengths: tuple[int, int]  # rows and columns that there are

    @property
    def size(self) -> tuple[int, int]:
        """How many cells it has across, and downwards."""
        sizes = len(self.columns), len(self.rows)
        return sizes[::-1] if self.down else sizes

    @property
    def flat(self) -> bool:
        """Whether the array has one dimension only, or is drawn as if it had."""
        return sum(extent > 1 for extent in self.array.shape) < 2 or self.wrap != _pitch(self.array)

    @property
    def is_whole(self) -> bool:
        return self.lengths == (len(self.rows), len(self.columns))

    @property
    def what_is_drawn(self) -> str:
        """Of a window: which rows and columns it shows."""
        names = ("columns", "rows") if self.down else ("rows", "columns")
        if self.flat:
            starts = [f"{a * self.wrap} to {(b + 1) * self.wrap - 1}" for a, b in _runs(self.rows)]
            return f"elements {' and '.join(starts)}"
        pairs = zip((self.rows, self.columns), names, self.lengths, strict=True)
        return ", ".join(
            f"{name} {' and '.join(f'{a} to {b}' for a, b in _runs(kept))}"
            for kept, name, length in pairs
            if len(kept) < length
        )

    def cells(self, elements: np.ndarray) -> np.ndarray:
        """Column and row of the cells of those elements that are drawn: int64, shape (n, 2)."""
        row, column = elements // self.wrap, elements % self.wrap
        at = np.stack([_place(self.columns, column), _place(self.rows, row)], axis=1)
        at = at[(at >= 0).all(axis=1)]
        return at[:, ::-1] if self.down else at


def grid_of(array: RecordedArray, touched: np.ndarray, flat_wrap: int | None) -> Grid:
    """touched: the numbers of the elements that events touch. flat_wrap: draw the memory in rows of
    so many elements; None: in the array's own rows, if it has several."""
    pitch = _pitch(array)
    flat = flat_wrap is not None or pitch is None
    extent = max(1 + sum((n - 1) * s for n, s in _extents(array)), int(touched.max(initial=0)) + 1)
    wrap = min(flat_wrap or CACHE_LINE_BYTES // 4, extent) if flat else pitch
    count = -(-extent // wrap)
    rows = _kept(count, touched // wrap)
    columns = _kept(wrap, _whole_sectors(touched % wrap, wrap, array.itemsize))
    down = not flat and array.strides[0] < array.strides[-1]
    return Grid(array, wrap, down, rows, columns, (count, wrap))


def _pitch(array: RecordedArray) -> int | None:
    """Elements from one row of memory to the next; None where the array has no rows, or odd ones.
    """
    strides = [s for _, s in _extents(array)]
    if len(strides) < 2 or min(strides) != 1 or len(set(strides)) < len(strides):
        return None
    falling = sorted(strides, reverse=True)
    return falling[-2] if strides in (falling, falling[::-1]) else None


def _extents(array: RecordedArray) -> list[tuple[int, int]]:
    """Length and stride of the dimensions that have a length."""
    pairs = zip(array.shape, array.strides, strict=True)
    return [(n, abs(s)) for n, s in pairs if n > 1]


def _whole_sectors(columns: np.ndarray, wrap: int, itemsize: int) -> np.ndarray:
    words = max(1, SECTOR_BYTES // itemsize)
    whole = (np.unique(columns // words)[:, None] * words + np.arange(words)).ravel()
    return whole[whole < wrap]


def _kept(count: int, touched: np.ndarray) -> np.ndarray:
    """All, if they are few; else those that are touched; if they are many, the first and the last.
    """
    if count <= MOST:
        return np.arange(count)
    kept = np.unique(touched)
    return kept if len(kept) <= MOST else np.r_[kept[: MOST - LAST], kept[-LAST:]]


def _place(kept: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    at = np.clip(np.searchsorted(kept, numbers), 0, len(kept) - 1)
    return np.where(kept[at] == numbers, at, -1)


def _runs(kept: np.ndarray) -> list[tuple[int, int]]:
    """First and last of each run of neighbours."""
    parts = np.split(kept, np.flatnonzero(np.diff(kept) != 1) + 1)
    return [(int(part[0]), int(part[-1])) for part in parts if len(part)]
