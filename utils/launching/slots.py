"""The variables of a plan: arrays whose addresses differ between calls, and factors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
from numba import float32, types
from numba.np.numpy_support import from_dtype

WIDE_BYTES = 16
# An address from which every array reaches in both directions.
_SOMEWHERE = 1 << 60
# The most steps of the search for a common byte, which take some milliseconds. Without a limit, a
# search can take time exponential in the number of dimensions.
MOST_WORK = 100_000


def shares_memory(x: np.ndarray, y: np.ndarray) -> bool | None:
    """Return True if a byte belongs to both arrays, else False; None if deciding takes too long."""
    try:
        return np.shares_memory(x, y, max_work=MOST_WORK)
    except np.exceptions.TooHardError:
        return None


@dataclass(frozen=True)
class Slot:
    """An array of which everything is known except its address.

    `number` is its index among a plan's arrays. `shape` is in elements, and `strides` are in bytes.
    `dtype` is a NumPy dtype, or its name if NumPy has none. `aligned` is True if the array begins
    at a multiple of 16 bytes. `offset` is the distance in bytes from the address that a call passes
    to the first element; it is 0 for a whole array.
    """

    number: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype | str
    aligned: bool = True
    offset: int = 0

    @classmethod
    def new(cls, number: int, shape: tuple[int, ...], dtype) -> Slot:
        """Return the slot of a new aligned array in C order, with the offset 0."""
        dtype = np.dtype(dtype)
        strides = [dtype.itemsize]
        for extent in shape[:0:-1]:
            strides.append(strides[-1] * extent)
        return cls(number, tuple(shape), tuple(strides[: len(shape)][::-1]), dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def extent(self) -> tuple[int, int]:
        """The range of bytes that the array touches, relative to its first element: (low, high).

        `high` is one past the last byte. `low` is negative if a stride is negative.
        """
        if not self.size:
            return 0, 0
        reach = [stride * (n - 1) for stride, n in zip(self.strides, self.shape, strict=True)]
        low, high = (sum(pick(0, each) for each in reach) for pick in (min, max))
        return low, high + self.dtype.itemsize

    def is_c_contiguous(self) -> bool:
        """Return True if the array is dense and in C order, or empty."""
        return self._is_dense(zip(self.shape[::-1], self.strides[::-1], strict=True))

    def meets(self, other: Slot) -> tuple[int, int]:
        """Return the open interval (low, high) of pointer differences at which two arrays overlap.

        The difference in bytes is the other array's pointer minus this array's. An array overlaps
        with its whole range of bytes, gaps included. The interval is (0, 0) if either array is
        empty.
        """
        if not (self.size and other.size):
            return 0, 0
        (low, high), (low_other, high_other) = self.extent, other.extent
        return low - high_other, high - low_other

    def shares_memory(self, other: Slot, distance: int) -> bool | None:
        """Return True if a byte belongs to both arrays, else False; None if that takes too long.

        `distance` is the other array's pointer minus this array's, in bytes.
        """
        return shares_memory(self._in_memory(0), other._in_memory(distance))

    def repeats_elements(self) -> bool:
        """Return True if two elements share an address; for at most two dimensions."""
        steps = [(abs(stride), n) for stride, n in zip(self.strides, self.shape) if n > 1]
        if not self.size or not steps:
            return False
        if min(step for step, _ in steps) == 0:
            return True
        if len(steps) == 1:
            return False
        # i·s = j·t holds first for i = t/gcd and j = s/gcd.
        (s, m), (t, n) = steps
        common = math.gcd(s, t)
        return t // common < m and s // common < n

    def _in_memory(self, distance: int) -> np.ndarray:
        """Return a NumPy array at an invented address plus `distance`, which must not be read.

        It serves to compare the addresses of two arrays.
        """
        interface = {
            "shape": self.shape,
            "strides": self.strides,
            "typestr": self.dtype.str,
            "data": (_SOMEWHERE + distance, True),
            "version": 3,
        }
        return np.asarray(SimpleNamespace(__array_interface__=interface))

    def ravel(self) -> Slot:
        """Return a slot of one dimension for the same memory; only for arrays in C order."""
        flat = Slot.new(self.number, (self.size,), self.dtype)
        return replace(flat, aligned=self.aligned, offset=self.offset)

    def transposed(self) -> Slot:
        """Return a slot for the same memory with shape and strides reversed."""
        return replace(self, shape=self.shape[::-1], strides=self.strides[::-1])

    def flat(self) -> Slot:
        """Return a slot of one dimension that covers the array from its first to its last byte.

        Gaps between elements are included. No stride may be negative.
        """
        length = self.extent[1] // self.dtype.itemsize
        flat = Slot.new(self.number, (length,), self.dtype)
        return replace(flat, aligned=self.aligned, offset=self.offset)

    def part(self, first: tuple[int, ...], shape: tuple[int, ...]) -> Slot:
        """Return the slot of the part with this shape whose first element has the index `first`.

        The part has the array's strides.
        """
        ahead = sum(index * stride for index, stride in zip(first, self.strides, strict=True))
        aligned = self.aligned and ahead % WIDE_BYTES == 0
        return replace(self, shape=shape, aligned=aligned, offset=self.offset + ahead)

    def _is_dense(self, extents_and_strides) -> bool:
        """Return True if the strides, fastest dimension first, leave no gaps, or if it is empty."""
        expected = self.dtype.itemsize
        for extent, stride in extents_and_strides:
            if extent != 1 and stride != expected and self.size:
                return False
            expected *= extent
        return True

    @property
    def _numba_type_(self) -> types.Array:
        """The Numba array type for which a kernel is compiled, with the layout "C", "F" or "A"."""
        # Numba types its device arrays like this: an array that repeats elements has layout "A".
        repeats = self.size and 0 in self.strides
        layout = "A"
        if not repeats and self.is_c_contiguous():
            layout = "C"
        elif not repeats and self._is_dense(zip(self.shape, self.strides, strict=True)):
            layout = "F"
        return types.Array(from_dtype(self.dtype), self.ndim, layout)


@dataclass(frozen=True)
class Factor:
    """A float32 that each call passes anew; `number` is its index among the call's factors."""

    number: int
    _numba_type_ = float32
