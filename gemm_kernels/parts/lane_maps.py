"""Maps from threads to the 4×4 patches of a tile: four maps for 256 threads and 16×16 patches.

A read of 128 bits takes four wavefronts, or two if lanes read the same four elements in pairs: each
lane with its neighbour, or with its next neighbour but one. The maps differ in how often that
happens: 3, 3, 2 and 2 wavefronts per read, as the profiler counted on an H200. There the kernel was
fastest with the first map, because shared memory is not what it waits for.
"""

from numba import cuda

ROW_MAJOR, FOUR_BY_EIGHT, Z_ORDER, ZIG_ZAG = range(4)


@cuda.jit(device=True, forceinline=True)
def row_major(t):
    """Return (down, across), the place of thread t's patch in the tile, in patches.

    A warp covers 2×16 patches. Per step of k it reads the rows of 2 patches and the columns of 16.
    """
    return t // 16, t % 16


@cuda.jit(device=True, forceinline=True)
def four_by_eight(t):
    """Return (down, across), the place of thread t's patch in the tile, in patches.

    A warp covers 4×8 patches. Per step of k it reads the rows of 4 patches and the columns of 8.
    """
    warp, lane = t // 32, t % 32
    return warp // 2 * 4 + lane // 8, warp % 2 * 8 + lane % 8


@cuda.jit(device=True, forceinline=True)
def z_order(t):
    """Return (down, across), the place of thread t's patch in the tile, in patches.

    A warp covers 4×8 patches, and each quarter of it 2×4. The bits of the lane select down and
    across alternately. Lanes that are neighbours across share the rows of their patch, and next
    neighbours but one share the columns, so they always read in pairs.
    """
    warp, lane = t // 32, t % 32
    down = (lane >> 1 & 1) | (lane >> 2 & 2)
    across = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4)
    return warp // 2 * 4 + down, warp % 2 * 8 + across


@cuda.jit(device=True, forceinline=True)
def zig_zag(t):
    """Return (down, across), the place of thread t's patch in the tile, in patches.

    A warp covers 4×8 patches, and each half of it 2×8. Neighbours alternate between the two rows of
    a half. It is the map that Gray and others 2022 describe in words, with a and b exchanged, and
    that of `maxwell256`. Four warps are below each other.
    """
    warp, lane = t // 32, t % 32
    return warp % 4 * 4 + lane // 16 * 2 + lane % 2, warp // 4 * 8 + lane % 16 // 2


LANE_MAPS = (row_major, four_by_eight, z_order, zig_zag)
