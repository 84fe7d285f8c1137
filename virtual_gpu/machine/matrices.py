"""The instructions of tensor cores, on fragments in local arrays.

A warp holds a small matrix in parts: each lane has a few of its elements, its fragment, in a local
array. ``fragments.py`` says which.
"""

from __future__ import annotations

import numpy as np

from ..common.errors import Unsupported
from ..common.lanes import WARP, by_warp
from ..counts.transactions import LDMATRIX
from ..memory.memory import ArrayView, LocalPart, element_strides
from ..numbers import fragments, tensor_sums
from ..numbers.fragments import COLUMNS, ROWS, SUMS, element_of_a, element_of_b, element_of_c
from .access import LOCAL_TYPES, load, load_wide, store
from .place import Place

LANES = np.arange(WARP)
EDGE = 8  # rows and columns of a matrix that ldmatrix loads
SIXTEEN_BITS = (np.dtype(np.float16), np.dtype(np.uint16))
WARPS_AT_ONCE = 128  # so that their products fit into a processor's cache


def load_matrices(fragment: Place, tile: Place, matrices: int, transposed: bool) -> None:
    """Load 8×8 matrices of 16-bit elements from shared memory, as ``ldmatrix`` does.

    The indices of ``tile`` are the position of row r of matrix q in lane 8q + r; those of lanes
    from 8 · ``matrices`` on are ignored. If ``transposed``, the lanes get the elements of the
    transposed matrices. ``fragment`` is the local array that gets two elements of each matrix q per
    lane, at 2q and 2q + 1. The lane that gives a row is reported if the row is out of bounds or not
    aligned to 16 bytes, or if one of its elements was never written or takes part in a race. Raises
    Unsupported for arrays that the instruction does not take.
    """
    if not isinstance(tile.array, ArrayView) or tile.array.memory.space != "shared":
        raise Unsupported(f"{tile.site}: ldmatrix loads from an array in shared memory.")
    if tile.array.dtype not in SIXTEEN_BITS:
        raise Unsupported(f"{tile.site}: ldmatrix loads 16-bit elements, not {tile.array.dtype}.")
    _check_fragment(fragment, tile.array.dtype)
    lanes = np.tile(LANES, tile.run.batch.size // WARP)
    giving = tile.mask.narrow(lanes < EDGE * matrices)
    if giving is None:
        return
    columns = load_wide(tile.narrowed(giving), EDGE, aligned=True, instruction=LDMATRIX)
    elements = np.stack([by_warp(column) for column in columns], axis=-1)
    elements = elements.reshape(-1, WARP // EDGE, EDGE, EDGE)  # by warp, matrix, row and column
    if transposed:
        elements = elements.swapaxes(2, 3)
    for matrix in range(matrices):
        for i in range(2):
            row, column = fragments.element_of_matrix(LANES, i)
            values = elements[:, matrix, row, column].ravel()
            store(_element(fragment, 2 * matrix + i), values)


def multiply_add(sums: Place, a: Place, b: Place, k: int, bfloat16: bool) -> None:
    """Add the product of a (16×k) and b (k×8) to ``sums``, as ``mma`` does.

    Each lane of a warp holds k/2 elements of a, k/4 of b and four of ``sums`` in local arrays, in
    the order of ``fragments.py``. a and b have the dtype float16 or, with ``bfloat16``, hold the
    bits of bfloat16 numbers as uint16. ``sums`` is float32. Elements that a lane has not written
    are reported. Raises Unsupported for other arrays.
    """
    _check_fragment(sums, np.dtype(np.float32))
    for place in (a, b):
        _check_fragment(place, np.dtype(np.uint16 if bfloat16 else np.float16))
    of_a = _gathered(a, k // 2, element_of_a, (ROWS, k))
    of_b = _gathered(b, k // 4, element_of_b, (k, COLUMNS))
    of_c = _gathered(sums, SUMS, element_of_c, (ROWS, COLUMNS))
    if bfloat16:
        of_a, of_b = map(tensor_sums.from_bfloat16, (of_a, of_b))
    active = np.flatnonzero(by_warp(sums.mask.lanes).any(axis=1))
    for first in range(0, len(active), WARPS_AT_ONCE):
        warps = active[first : first + WARPS_AT_ONCE]
        of_c[warps] = tensor_sums.multiply_add(of_a[warps], of_b[warps], of_c[warps])
    for i in range(SUMS):
        row, column = element_of_c(LANES, i)
        store(_element(sums, i), of_c[:, row, column].ravel())


def _gathered(fragment: Place, size: int, element_of, shape: tuple[int, int]) -> np.ndarray:
    """Return the matrices whose fragments are in a local array, as (warps, rows, columns).

    Each lane holds ``size`` elements, and ``element_of(lane, i)`` is the row and column of the
    i-th. Elements that inactive lanes hold are 0.
    """
    warps = fragment.run.batch.size // WARP
    matrices = np.zeros((warps, *shape), fragment.array.dtype)
    active = fragment.mask.lanes
    for i in range(size):
        values = load(_element(fragment, i))
        row, column = element_of(LANES, i)
        matrices[:, row, column] = by_warp(np.where(active, values, values.dtype.type(0)))
    return matrices


def _check_fragment(fragment: Place, dtype: np.dtype) -> None:
    """Raise Unsupported unless a fragment is a local array in C order with this dtype."""
    array = fragment.array
    if not isinstance(array, LOCAL_TYPES):
        raise Unsupported(f"{fragment.site}: a fragment is a local array or a part of one.")
    if array.dtype != dtype:
        raise Unsupported(
            f"{fragment.site}: the elements of {array.name} are {array.dtype}; this instruction "
            f"takes {dtype}."
        )
    varies = any(isinstance(extent, np.ndarray) for extent in array.shape)
    if varies or (isinstance(array, LocalPart) and array.strides != element_strides(array.shape)):
        raise Unsupported(
            f"{fragment.site}: the elements of a fragment must be neighbours in {array.name}."
        )


def _element(fragment: Place, number: int) -> Place:
    """Return the Place of an element of a fragment, whose number counts through all dimensions.

    An element that the array does not have is out of bounds in the first dimension.
    """
    indices = []
    for extent in reversed(fragment.array.shape[1:]):
        number, index = divmod(number, extent)
        indices.append(np.int64(index))
    return fragment.at((np.int64(number), *reversed(indices)))
