"""The elements of a matrix that each lane of a warp holds when the warp multiplies matrices.

A warp multiplies a (16×k) by b (k×8) and adds the product to c (16×8), where k is 8 or 16. Each
lane holds a part of each matrix, its *fragment*, as a few numbers in a fixed order. The maps are
those of ``mma.m16n8k8`` and ``mma.m16n8k16`` with 16-bit inputs in NVIDIA's PTX manual. The
fragments of k = 8 are the first halves of those of k = 16, so one function describes both.

``lane`` is the number of a lane, 0 to 31, and ``i`` the number of an element in its fragment: an
integer or an array of integers.
"""

from __future__ import annotations

ROWS, COLUMNS = 16, 8  # of c; a has as many rows, and b as many columns
DEPTHS = (8, 16)  # the values of k
SUMS = 4  # elements of c per lane


def element_of_a(lane, i) -> tuple:
    """Return (row, k) of the element of a that ``lane`` holds at position ``i``, 0 to k/2 - 1."""
    return lane // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i % 2 + i // 4 * 8


def element_of_b(lane, i) -> tuple:
    """Return (k, column) of the element of b that ``lane`` holds at ``i``, 0 to k/4 - 1."""
    return lane % 4 * 2 + i % 2 + i // 2 * 8, lane // 4


def element_of_c(lane, i) -> tuple:
    """Return (row, column) of the element of c that ``lane`` holds at position ``i``, 0 to 3."""
    return lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2


def element_of_matrix(lane, i) -> tuple:
    """Return (row, column) of the element of an 8×8 matrix that ``ldmatrix`` gives to ``lane``.

    ``i`` is 0 or 1: each lane gets two elements that are neighbours in a row. With ``.trans`` the
    result is (column, row).
    """
    return lane // 4, lane % 4 * 2 + i
