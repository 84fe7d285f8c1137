"""What the Maxwell designs share: half of the warps load a, half b; c leaves through shared memory.

Everything here is inlined into the kernel that calls it.
"""

from numba import cuda, uint32

from gemm_kernels.parts.blocks import fetch, put_columns, put_rows
from utils.intrinsics.wide_memory import store4


@cuda.jit(device=True, forceinline=True)
def load_half(a, b, corner, start, sa, sb, side, across, me, loads_a, staged):
    """This thread's share of the tile at `start` along k, of a or of b, into shared memory.

    corner: (row, col) of the block's tile of c. across: quads in a row of a's tile and of b's. me:
    (this one's number among those that load the same matrix, how many they are).
    """
    if loads_a:
        fetch(a, (corner[0], start), across[0], me, staged)
        put_columns(sa, side, across[0], me, staged)
    else:
        fetch(b, (start, corner[1]), across[1], me, staged)
        put_rows(sb, side, across[1], me, staged)


@cuda.jit(device=True, forceinline=True)
def fetch_half(a, b, corner, start, across, me, loads_a, staged):
    """The first part of load_half(): the loads are under way."""
    if loads_a:
        fetch(a, (corner[0], start), across[0], me, staged)
    else:
        fetch(b, (start, corner[1]), across[1], me, staged)


@cuda.jit(device=True, forceinline=True)
def put_half(sa, sb, side, across, me, loads_a, staged):
    """The second part: what fetch_half() loaded, into one side of shared memory."""
    if loads_a:
        put_columns(sa, side, across[0], me, staged)
    else:
        put_rows(sb, side, across[1], me, staged)


@cuda.jit(device=True, forceinline=True)
def store_through_shared(c, shape, rows, corner, place, apart, t, sums):
    """A thread's 8×8 sums into c, so that a warp stores 32 neighbours of a row at once.

    shape: (m, n). rows: shared memory, (warps, 4, 64). place: (down, across), the thread's first
    quad of the tile that begins at corner. apart: how far its quads lie apart, down and across
    alike.

    A warp holds four rows of quads and all columns of two groups of 32. One of each thread's rows
    at a time goes through shared memory, and comes back as 32 neighbours of a row of c.
    """
    m, n = shape
    down, across = place
    warp, lane = t // 32, t % 32
    row, col = corner[0] + down // 4 * 16, corner[1] + across // 8 * 32
    for i in range(8):
        for j in range(0, 8, 4):
            four = sums[i, j], sums[i, j + 1], sums[i, j + 2], sums[i, j + 3]
            store4(rows, (warp, down % 4, j * 8 + across % 8 * 4), four)
        # Lanes of one warp only: no barrier of the block is needed.
        cuda.syncwarp()
        for r in range(4):
            y = uint32(row + i // 4 * apart + r * 4 + i % 4)
            for j in range(2):
                x = uint32(col + j * apart + lane)
                if y < m and x < n:
                    c[y, x] = rows[warp, r, j * 32 + lane]
        # The next row replaces what has just been read.
        cuda.syncwarp()
