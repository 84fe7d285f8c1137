"""Parts of the Maxwell designs: half of the warps load a, half b; c is stored via shared memory.

All functions are inlined into the kernel that calls them.
"""

from numba import cuda, uint32

from gemm_kernels.parts.blocks import fetch, put_columns, put_rows
from utils.intrinsics.wide_memory import store4


@cuda.jit(device=True, forceinline=True)
def load_half(a, b, corner, start, sa, sb, side, across, me, loads_a, staged):
    """Load this thread's quads of the tile at `start` along k into buffer `side` of shared memory.

    A quad is four adjacent elements of a row. The tile is a's if `loads_a`, otherwise b's. `corner`
    is the (row, col) of the block's tile of c. `across` is (quads per row of a's tile, quads per
    row of b's tile). `me` is (this thread's number, the number of threads that load the same
    matrix). `staged` is a local array, quads × 4, that holds the quads on their way.
    """
    if loads_a:
        fetch(a, (corner[0], start), across[0], me, staged)
        put_columns(sa, side, across[0], me, staged)
    else:
        fetch(b, (start, corner[1]), across[1], me, staged)
        put_rows(sb, side, across[1], me, staged)


@cuda.jit(device=True, forceinline=True)
def fetch_half(a, b, corner, start, across, me, loads_a, staged):
    """Start to load this thread's quads into the registers `staged`.

    They are a's if `loads_a`, otherwise b's. The parameters are those of load_half().
    """
    if loads_a:
        fetch(a, (corner[0], start), across[0], me, staged)
    else:
        fetch(b, (start, corner[1]), across[1], me, staged)


@cuda.jit(device=True, forceinline=True)
def put_half(sa, sb, side, across, me, loads_a, staged):
    """Store the quads that fetch_half() has loaded into buffer `side` of shared memory.

    They go to sa, transposed, if `loads_a`, and otherwise to sb. The parameters are those of
    load_half().
    """
    if loads_a:
        put_columns(sa, side, across[0], me, staged)
    else:
        put_rows(sb, side, across[1], me, staged)


@cuda.jit(device=True, forceinline=True)
def store_through_shared(c, shape, rows, corner, place, apart, t, sums):
    """Store a thread's 8×8 sums into c, so that a warp stores 32 neighbours of a row at once.

    `shape` is (m, n), and `rows` is shared memory, (warps, 4, 64). `place` is (down, across) of the
    thread's first 4×4 patch in the tile at `corner`, in patches. Its patches are `apart` elements
    apart, down and across. `t` is the thread's number.

    A warp holds four rows of patches and all columns of two groups of 32. One of each thread's rows
    at a time goes through shared memory, and is read back as 32 neighbours of a row of c.
    """
    m, n = shape
    down, across = place
    warp, lane = t // 32, t % 32
    row, col = corner[0] + down // 4 * 16, corner[1] + across // 8 * 32
    for i in range(8):
        for j in range(0, 8, 4):
            four = sums[i, j], sums[i, j + 1], sums[i, j + 2], sums[i, j + 3]
            store4(rows, (warp, down % 4, j * 8 + across % 8 * 4), four)
        # Only lanes of one warp are involved: no block-wide barrier is needed.
        cuda.syncwarp()
        for r in range(4):
            y = uint32(row + i // 4 * apart + r * 4 + i % 4)
            for j in range(2):
                x = uint32(col + j * apart + lane)
                if y < m and x < n:
                    c[y, x] = rows[warp, r, j * 32 + lane]
        # The next row overwrites the values that have just been read.
        cuda.syncwarp()
