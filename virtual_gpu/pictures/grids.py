"""The grid of cells that represents an array: its memory in rows.

Of a large array, only the rows and columns that the block touches are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from virtual_gpu.common.division import cdiv

from ..counts.recorder import RecordedArray
from ..counts.transactions import CACHE_LINE_BYTES, SECTOR_BYTES

MOST = 64  # the most cells in a row or a column: more would be too small to see
LAST = 16  # of MOST, those from the end, if even the touched ones are more


@dataclass(frozen=True, eq=False)
class ArrayGrid:
    """An array's memory as rows of ``wrap`` elements.

    ``rows`` and ``columns`` are the ascending indices that are drawn. ``down`` is True if rows of
    memory are drawn as columns, as for an array in Fortran order. ``lengths`` holds the numbers of
    rows and columns of the whole memory.
    """

    array: RecordedArray
    wrap: int
    down: bool
    rows: np.ndarray
    columns: np.ndarray
    lengths: tuple[int, int]

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of drawn cells in x and in y.

        They are the numbers of columns and of rows, or the reverse if ``down`` is set.
        """
        sizes = len(self.columns), len(self.rows)
        return sizes[::-1] if self.down else sizes

    @property
    def flat(self) -> bool:
        """True if the array has at most one dimension longer than 1, or is drawn as if it had."""
        return sum(extent > 1 for extent in self.array.shape) < 2 or self.wrap != _pitch(self.array)

    @property
    def is_whole(self) -> bool:
        """True if all rows and columns are drawn."""
        return self.lengths == (len(self.rows), len(self.columns))

    @property
    def what_is_drawn(self) -> str:
        """The drawn part of a partial grid as text, such as ``rows 0 to 31 and 96 to 127``.

        A flat grid names elements, such as ``elements 0 to 63``; other grids name rows, columns or
        both.
        """
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
        """Return the cells of elements as an int64 array of shape (n, 2), with (x, y) per cell.

        ``elements`` are indices in memory; those that are not drawn are left out.
        """
        row, column = elements // self.wrap, elements % self.wrap
        at = np.stack([_positions(self.columns, column), _positions(self.rows, row)], axis=1)
        at = at[(at >= 0).all(axis=1)]
        return at[:, ::-1] if self.down else at


def grid_of(array: RecordedArray, touched: np.ndarray, flat_wrap: int | None) -> ArrayGrid:
    """Return the ArrayGrid of an array.

    ``touched`` are the indices of the elements that events touch. The memory is drawn in rows of
    ``flat_wrap`` elements. With None it is drawn in the array's own rows or, if the array has no
    rows, in rows of 32 elements, or in one row if there are fewer.
    """
    pitch = _pitch(array)
    flat = flat_wrap is not None or pitch is None
    extent = max(1 + sum((n - 1) * s for n, s in _extents(array)), int(touched.max(initial=0)) + 1)
    wrap = min(flat_wrap or CACHE_LINE_BYTES // 4, extent) if flat else pitch
    count = cdiv(extent, wrap)
    rows = _kept(count, touched // wrap)
    columns = _kept(wrap, _whole_sectors(touched % wrap, wrap, array.itemsize))
    down = not flat and array.strides[0] < array.strides[-1]
    return ArrayGrid(array, wrap, down, rows, columns, (count, wrap))


def _pitch(array: RecordedArray) -> int | None:
    """Return the row stride in elements; None if the array has no rows, or irregular strides.

    An array has no rows if fewer than two of its dimensions are longer than 1.
    """
    strides = [s for _, s in _extents(array)]
    if len(strides) < 2 or min(strides) != 1 or len(set(strides)) < len(strides):
        return None
    falling = sorted(strides, reverse=True)
    return falling[-2] if strides in (falling, falling[::-1]) else None


def _extents(array: RecordedArray) -> list[tuple[int, int]]:
    """Return (length, absolute stride in elements) of each dimension that is longer than 1."""
    pairs = zip(array.shape, array.strides, strict=True)
    return [(n, abs(s)) for n, s in pairs if n > 1]


def _whole_sectors(columns: np.ndarray, wrap: int, itemsize: int) -> np.ndarray:
    """Return all columns of the sectors that these columns touch, below ``wrap``.

    ``wrap`` is the number of elements per drawn row, and ``itemsize`` the bytes of an element.
    """
    words = max(1, SECTOR_BYTES // itemsize)
    whole = (np.unique(columns // words)[:, None] * words + np.arange(words)).ravel()
    return whole[whole < wrap]


def _kept(count: int, touched: np.ndarray) -> np.ndarray:
    """Return the ascending indices to draw, out of 0 to ``count`` - 1.

    They are all indices if ``count`` is at most MOST, else the ``touched`` ones. If more than MOST
    are touched, only the first and the last of them are returned, MOST in total.
    """
    if count <= MOST:
        return np.arange(count)
    chosen = np.unique(touched)
    return chosen if len(chosen) <= MOST else np.r_[chosen[: MOST - LAST], chosen[-LAST:]]


def _positions(kept: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return the position of each number in the ascending array ``kept``, or -1 if missing."""
    at = np.clip(np.searchsorted(kept, numbers), 0, len(kept) - 1)
    return np.where(kept[at] == numbers, at, -1)


def _runs(kept: np.ndarray) -> list[tuple[int, int]]:
    """Return (first, last) of each run of consecutive numbers in the ascending array ``kept``."""
    parts = np.split(kept, np.flatnonzero(np.diff(kept) != 1) + 1)
    return [(int(part[0]), int(part[-1])) for part in parts if len(part)]
