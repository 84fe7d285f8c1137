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
# A copied block of a, and the panels of b that several blocks meet, lie in the memory of a thread.
MOST_OF_A = 2**19
SHALLOWEST, DEEPEST = 160, 1024
THREAD_BYTES, MOST_BYTES = (4 * 2**20, 12 * 2**20), 32 * 2**20
LARGE_PAGE = 2 * 2**20  # bytes; NumPy asks Linux for such pages


@dataclass(frozen=True)
class Blocks:
    """mc × kc of a meet kc rows of b at a time; or all rows of a meet `deep` rows of b.

    The latter where those rows of a have `small` elements at most and are contiguous: c then goes
    through the registers less often.
    """

    mc: int
    kc: int
    deep: int
    small: int


# The block sizes of the source's AVX2 lesson: 64×256 of a, and 256 whole rows of b.
OF_THE_SOURCE = Blocks(mc=64, kc=256, deep=256, small=0)


def blocks_for(rows: int, columns: int, caches: tuple[int, int, int]) -> Blocks:
    """Blocks for tiles of rows × columns, from the sizes of the caches in bytes.

    A panel of b takes half of the L1 cache, where it stays while a block of a passes, which has a
    quarter of the L2 cache. Where all rows of a pass, a deep panel has the size of the L1 cache,
    and a part of it comes from the L2 cache.

    If the panel were too short then, two thirds of the L1 cache hold the rows of a alone, and b
    comes from the L2 cache. The block of a is four times as large as the L2 cache, because its rows
    come one behind another and slowly.
    """
    l1, l2, _ = (size // FLOAT_BYTES for size in caches)
    kc, deep, size_a = l1 // 2 // columns, l1 // columns, l2 // 4
    if kc < SHALLOWEST:
        kc = deep = 2 * l1 // 3 // rows
        size_a = 4 * l2
    kc, deep = min(DEEPEST, kc), min(DEEPEST, deep)
    return Blocks(mc=max(rows, size_a // kc // rows * rows), kc=kc, deep=deep, small=3 * l2)


class Sizes(NamedTuple):
    """What one product is cut into: mc × kc of a, and kc × nc of b.

    copied: float32 that a copied block of a takes; 0 where a is read where it lies.
    step: float32 of the panels of b for each vector of columns. 0: all panels lie in one place,
    because no second block of a reads them.
    """

    mc: int
    kc: int
    nc: int
    copied: int
    step: int


def sizes_from(blocks: Blocks, rows: int, lanes: int, vectors: int) -> Callable:
    """A compiled function (a, n, room) -> Sizes, for n columns of c and `room` float32."""
    mc_most, kc_most, deep, small = blocks.mc, blocks.kc, blocks.deep, blocks.small
    columns = lanes * vectors

    @inner
    def sizes(a, n, room):
        mc, kc, nc, copied, step = a.height, equal_parts(a.width, deep, 1), n, 0, 0
        if a.col != 1 or mc * kc > small:
            mc, kc = mc_most, equal_parts(a.width, kc_most, 1)
            # Contiguous rows are read where they lie: a copy costs as much as it brings.
            if a.col != 1:
                mc = min(mc, MOST_OF_A // kc // rows * rows)
                copied = mc * whole_lines(kc) + LINE
            mc = equal_parts(a.height, mc, rows)
            if mc < a.height:
                # Several blocks of a meet the same panels: as many are kept as there is room for.
                step = kc * lanes
                nc = ((room - copied) // kc // columns - 1) * columns
        return Sizes(mc, kc, nc, copied, step)

    return sizes


@inlined
def equal_parts(total, most, multiple):
    """The size of equal parts, none above `most`; a last part of a few lines would be slow."""
    return ceil_div(ceil_div(total, ceil_div(total, most)), multiple) * multiple


@inlined
def whole_lines(count):
    """float32 in as many cache lines as the count needs."""
    return ceil_div(count, LINE) * LINE


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
