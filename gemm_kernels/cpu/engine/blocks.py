"""Block sizes from the caches and the matrices, and the memory for packed blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from llvmlite.binding import add_symbol
from numba import types
from numba.core.extending import intrinsic

from gemm_kernels.cpu.engine.matrices import ceil_div, inlined, inner

FLOAT_BYTES = 4
LINE = 16  # float32 per cache line of 64 bytes
THREAD_BYTES, MOST_BYTES = (4 * 2**20, 12 * 2**20), 32 * 2**20
LARGE_PAGE = 2 * 2**20  # bytes; NumPy asks Linux for such pages
# The fractions of the L2 cache for a panel of b and a block of a, and their most float32.
PANEL, BLOCK = (1, 8), (1, 4)
MOST_OF_B, MOST_OF_A = 2**16, 2**19
DEEPEST = 1536
# If all rows of a fit into this fraction of the L2 cache, they are read without a copy.
IN_PLACE = (3, 4)
# A copy of a is worth its time if at least this many panels of b are multiplied by it.
PANELS_TO_COPY = 8


@dataclass(frozen=True)
class Blocks:
    """The largest blocks of a and b that are multiplied at a time.

    kc: the most columns of a, and rows of b.
    size: the most float32 of a block of a that is copied.
    in_place: if all rows of a times kc are at most this number, they are read without a copy.
    """

    kc: int
    size: int
    in_place: int

    def place_of_b(self, rows: int) -> int:
        """Return the offset in float32 at which b's packed panels begin in a workspace.

        The block of a is before them. It has room for `size` float32, and for at least one tile of
        `rows` rows of kc float32.
        """
        return max(self.size, rows * self.kc)


def blocks_for(columns: int, caches: tuple[int, int, int]) -> Blocks:
    """Return the blocks for panels of b with `columns` columns.

    `caches` are the sizes of (L1, L2, L3) in bytes. A panel of b has an eighth of the L2 cache,
    from which every tile reads it, but at most MOST_OF_B float32 and DEEPEST rows. It has that many
    rows, because the elements of c, which come from memory, are loaded and stored once per kc rows
    of b. A block of a has a quarter of the L2 cache, but at most MOST_OF_A float32.
    `in_place` is the fraction IN_PLACE of the L2 cache, in float32.
    """
    l2 = caches[1] // FLOAT_BYTES
    panel, block, in_place = (l2 * share // parts for share, parts in (PANEL, BLOCK, IN_PLACE))
    return Blocks(
        kc=min(DEEPEST, min(MOST_OF_B, panel) // columns),
        size=min(MOST_OF_A, block),
        in_place=in_place,
    )


class Sizes(NamedTuple):
    """The sizes of the parts into which one product is cut: mc × kc of a, and kc × nc of b.

    copies: True if a block of a is copied, and False if it is read without a copy.
    step: the number of float32 from one packed panel of b to the next, per vector of columns. If it
        is 0, all panels use the same memory, because no second block of a reads them.
    """

    mc: int
    kc: int
    nc: int
    copies: bool
    step: int


def sizes_from(blocks: Blocks, rows: int, lanes: int, vectors: int) -> Callable:
    """Return a compiled function (a, n, room) -> Sizes of the product of a with n columns of b.

    `room` is the size of the workspace in float32. The tile has `rows` rows and `vectors` vectors
    of `lanes` columns.
    """
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
    """Return the size of the parts if `total` is cut into the fewest parts of at most `most`.

    The parts are equal, and the size is rounded up to a multiple of `multiple`. If the parts were
    as large as possible, a last part of a few lines would be slow.
    """
    return ceil_div(ceil_div(total, ceil_div(total, most)), multiple) * multiple


class Workspace(NamedTuple):
    """Memory of one thread for packed blocks: its address, and its size `room` in float32."""

    address: int
    room: int


@cache
def workspace(threads: int = 1) -> np.ndarray:
    """Return the memory for packed blocks, an array of `threads` rows of float32, one per thread.

    The first row begins at a large page. A thread has 32 MiB divided by `threads`, but at least 4
    and at most 12 MiB. Every call with the same `threads` returns the same memory, so that its
    pages stay mapped. No two calls use it at once, because compiled code holds Python's lock.
    """
    least, most = THREAD_BYTES
    room = max(least, min(most, MOST_BYTES // threads)) // FLOAT_BYTES
    page = LARGE_PAGE // FLOAT_BYTES
    memory = np.empty(threads * room + page, np.float32)
    # The lines of a large page use different sets of the L2 cache; those of small pages may not.
    first = -(memory.ctypes.data // FLOAT_BYTES) % page
    return memory[first : first + threads * room].reshape(threads, room)


@cache
def memory_of(threads: int = 1) -> Callable:
    """Return a compiled function () -> Workspace of the first of `threads` threads.

    Compiled code names the memory by a symbol, which is resolved when the code is loaded: code that
    is kept on disk holds no address of the process that compiled it.
    """
    space, symbol = workspace(threads), f"gemm_kernels.cpu.workspace.{threads}"
    add_symbol(symbol, space.ctypes.data)
    room = space.shape[1]

    @intrinsic
    def address(typing_context):
        def generate(context, builder, signature, values):
            known = builder.module.globals.get(symbol)
            place = known or ir.GlobalVariable(builder.module, ir.IntType(8), symbol)
            return builder.ptrtoint(place, ir.IntType(64))

        return types.int64(), generate

    @inlined
    def memory():
        return Workspace(address(), room)

    return memory


@inlined
def memory_of_thread(first, thread):
    """Return the Workspace of thread number `thread`; `first` is the Workspace of thread 0."""
    return Workspace(first.address + thread * first.room * FLOAT_BYTES, first.room)
