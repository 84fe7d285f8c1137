"""Products of arrays that are too large for one kernel, as products of their parts.

The kernels compute offsets as uint32, because wider ones cost more instructions per address. An
array of 2^32 elements or more, or with its last element as far from the first, is therefore cut
into parts, each with an address of its own. Parts along k are added to each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from gemm_kernels.dispatch import routes
from gemm_kernels.parts.blocks import WIDE
from utils.division import cdiv
from utils.ladder.shapes import FLOAT32_BYTES
from utils.launching.slots import Slot

# Parts are multiples of this, so that they begin where the whole array's tiles and quads begin.
UNIT = 128
M, N, K = 0, 1, 2
# The sizes that are the rows and the columns of a, b and out.
SIDES = (M, K), (K, N), (M, N)


def sizes_of_a_part(
    a: Slot, b: Slot, out: Slot, most_rows: int | None = None
) -> tuple[int, int, int]:
    """Return the (m, n, k) of the parts into which a product is cut, so that offsets are uint32.

    They are the sizes of the whole product if it need not be cut. `most_rows` is the most rows of a
    part, for a kernel whose grid has no room for more; None sets no limit.
    """
    sizes = [*out.shape, a.shape[1]]
    if most_rows:
        sizes[M] = min(sizes[M], most_rows)
    arrays = tuple(zip((a, b, out), SIDES, strict=True))
    while True:
        apart = [_reaches(array, sides, sizes) for array, sides in arrays]
        too_far = [reach for reaches in apart for reach in reaches if not _fits(reach)]
        # A tile may begin before a matrix or end behind it, which must not be inside again.
        too_far += [{side: size} for side, size in enumerate(sizes) if not _fits({side: 2 * size})]
        if not too_far:
            return tuple(sizes)
        reach = too_far[0]
        longest = max(reach, key=reach.get)
        sizes[longest] = _half(sizes[longest])


def parts_of(
    a: Slot, b: Slot, out: Slot, sizes: tuple[int, int, int]
) -> Iterator[tuple[bool, Slot, Slot, Slot]]:
    """Yield (is_first, part of a, part of b, part of out) per part of a product, k running fastest.

    `sizes` is the (m, n, k) of a part; parts at the edges are smaller. is_first is True for the
    first part along k, and the other parts along k are added to its result.
    """
    whole = *out.shape, a.shape[1]
    firsts = (range(0, size, step) for size, step in zip(whole, sizes, strict=True))
    for first in itertools.product(*firsts):
        size = [min(step, end - at) for step, end, at in zip(sizes, whole, first, strict=True)]
        pieces = (
            array.part((first[down], first[across]), (size[down], size[across]))
            for array, (down, across) in zip((a, b, out), SIDES, strict=True)
        )
        yield first[K] == 0, *pieces


def _reaches(array: Slot, sides: tuple[int, int], sizes: list[int]) -> tuple[dict[int, int], ...]:
    """Return how far apart the first and last element along each axis are, in elements of memory.

    The result is two dicts from an axis of the product (M, N or K) to that distance: one for the
    array itself, and one for a contiguous copy with padded rows. `sides` are the two axes that are
    the array's rows and columns, and `sizes` is (m, n, k).
    """
    down, across = sides
    steps = (abs(stride) // FLOAT32_BYTES for stride in array.strides)
    itself = {side: (sizes[side] - 1) * step for side, step in zip(sides, steps, strict=True)}
    width = cdiv(sizes[across], WIDE) * WIDE
    return itself, {down: (sizes[down] - 1) * width, across: width - 1}


def _fits(reach: dict[int, int]) -> bool:
    """Return True if all offsets in an array are uint32.

    `reach` maps an axis to the distance of the first and the last element along it, in elements.
    """
    return sum(reach.values()) + 1 < routes.MOST_ELEMENTS


def _half(size: int) -> int:
    """Return half of a size, rounded up to a whole number.

    If the half is above 2·UNIT, it is rounded up to a multiple of UNIT.
    """
    half = cdiv(size, 2)
    return half if half <= 2 * UNIT else cdiv(half, UNIT) * UNIT
