"""Block sizes from the caches and from the matrices, and the memory that packed blocks lie in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from gemm_kernels.cpu.engine.matrices import ceil_div, inlined, inner

FLOAT_BYTES = 4
LINE = 16  # float32 in a cache line of 64 bytes
THREAD_BYTES, MOST_BYTES = (4 * 2**20, 12 * 2**20), 32 * 2**20
LARGE_PAGE = 2 * 2**20  # bytes; NumPy asks Linux for such pages
# A panel of b and a block of a are such parts of the L2 cache, and have so many float32 at most.
PANEL, BLOCK = (1, 8), (1, 4)
MOST_OF_B, MOST_OF_A = 2**16, 2**19
DEEPEST = 1536
# All rows of a are read where they lie if they are such a part of the L2 cache.
IN_PLACE = (3, 4)
# A copy of a is worth its time where so many panels of b meet it.
PANELS_TO_COPY = 8


@dataclass(frozen=True)
class Blocks:
    """The most that is multiplied at a time: kc rows of b, and a block of a with `size` float32.

    in_place: all rows of a are read where they lie if they have so many float32 at most.
    """

    kc: int
    size: int
    in_place: int

    def place_of_b(self, rows: int) -> int:
        """Where packed panels of b begin: behind a copied block of a, or behind so many rows."""
        return max(self.size, rows * self.kc)


def blocks_for(columns: int, caches: tuple[int, int, int]) -> Blocks:
    """Blocks for panels of b with so many columns, from the sizes of the caches in bytes.

    A panel of b is an eighth of the L2 cache, from which it comes for every tile. It is as deep as
    that because c, which comes from far away, goes through the registers once for every kc. A block
    of a has a quarter of the L2 cache.
    """
    l2 = caches[1] // FLOAT_BYTES
    panel, block, in_place = (l2 * share // parts for share, parts in (PANEL, BLOCK, IN_PLACE))
    return Blocks(
        kc=min(DEEPEST, min(MOST_OF_B, panel) // columns),
        size=min(MOST_OF_A, block),
        in_place=in_place,
    )


class Sizes(NamedTuple):
    """What one product is cut into: mc × kc of a, and kc × nc of b.

    copies: whether a block of a is copied; it is read where it lies otherwise.
    step: float32 of the panels of b for each vector of columns. 0: all panels lie in one place,
    because no second block of a reads them.
    """

    mc: int
    kc: int
    nc: int
    copies: bool
    step: int


def sizes_from(blocks: Blocks, rows: int, lanes: int, vectors: int) -> Callable:
    """A compiled function (a, n, room) -> Sizes, for n columns of c and `room` float32."""
    kc_most, size, in_place = blocks.kc, blocks.size, blocks.in_place
    columns = lanes * vectors
    wide, place_of_b = PANELS_TO_COPY * columns, blocks.place_of_b(rows)

    @inner
    def sizes(a, n, room):
        kc = equal_parts(a.width, kc_most, 1)
        if a.height * kc <= in_place:
            return Sizes(a.height, kc, n, False, 0)
        mc = equal_parts(a.height, max(rows, size // kc // rows * rows), rows)
        copies = n >= wide or a.col != 1
        if mc >= a.height:
            return Sizes(mc, kc, n, copies, 0)
        # Several blocks of a meet the same panels: as many are kept as there is room for.
        nc = ((room - place_of_b) // kc // columns - 1) * columns
        return Sizes(mc, kc, nc, copies, kc * lanes)

    return sizes


@inlined
def equal_parts(total, most, multiple):
    """The size of equal parts, none above `most`; a last part of a few lines would be slow."""
    return ceil_div(ceil_div(total, ceil_div(total, most)), multiple) * multiple


class Memory(NamedTuple):
    """Memory for packed blocks: its address, and how many float32 it has room for."""

    address: int
    room: int


@cache
def workspace(threads: int = 1) -> np.ndarray:
    """A row of float32 for each thread, the first one on the boundary of a large page.

    A thread has between 4 and 12 MiB, and up to eight threads have 32 MiB together. It is the same
    memory in every call, so that its pages stay mapped. No two calls use it at a time: compiled
    code holds Python's lock.
    """
    least, most = THREAD_BYTES
    room = max(least, min(most, MOST_BYTES // threads)) // FLOAT_BYTES
    page = LARGE_PAGE // FLOAT_BYTES
    memory = np.empty(threads * room + page, np.float32)
    # The lines of a large page lie on different sets of the L2 cache, those of small pages may not.
    first = -(memory.ctypes.data // FLOAT_BYTES) % page
    return memory[first : first + threads * room].reshape(threads, room)


def memory_of(threads: int = 1) -> Memory:
    """The workspace of the first of so many threads."""
    space = workspace(threads)
    return Memory(space.ctypes.data, space.shape[1])


@inlined
def memory_of_thread(first, thread):
    """The workspace of a thread by its number, from that of the first one."""
    return Memory(first.address + thread * first.room * FLOAT_BYTES, first.room)
