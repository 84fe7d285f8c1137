"""Right kernels that multiply float16 matrices on tensor cores, c = a·b, at odd shapes.

`bugs_in_tensor_products` changes their text. Each takes a (m×k), b (k×n) and c (m×n, float32).
"""

from __future__ import annotations

from numba import cuda, float32
from numba.types import float16

from utils.intrinsics.tensor import (
    copy8_async,
    ldmatrix_x2_trans,
    ldmatrix_x4,
    ldmatrix_x4_trans,
    mma_m16n8k8,
    mma_m16n8k16,
    store8,
)
from utils.intrinsics.wide_memory import commit_copies, wait_copies

BM, BN, BK = 32, 64, 64  # of a block of four warps
STAGES, IN_FLIGHT = 3, 1


# --- one warp per 16×8 of c; fragments from global memory, element by element ------------------


@cuda.jit
def naive(a, b, c):
    lane = cuda.laneid
    row, col = cuda.blockIdx.y * 16, cuda.blockIdx.x * 8
    of_a = cuda.local.array(4, float16)
    of_b = cuda.local.array(2, float16)
    sums = cuda.local.array(4, float32)
    for i in range(4):
        sums[i] = 0
    for start in range(0, a.shape[1], 8):
        for i in range(4):
            y = row + lane // 4 + i // 2 * 8
            z = start + lane % 4 * 2 + i % 2
            if y < a.shape[0] and z < a.shape[1]:
                of_a[i] = a[y, z]
            else:
                of_a[i] = float16(0)
        for i in range(2):
            z = start + lane % 4 * 2 + i
            x = col + lane // 4
            if z < b.shape[0] and x < b.shape[1]:
                of_b[i] = b[z, x]
            else:
                of_b[i] = float16(0)
        mma_m16n8k8(sums, of_a, of_b)
    for i in range(4):
        y = row + lane // 4 + i // 2 * 8
        x = col + lane % 4 * 2 + i % 2
        if y < c.shape[0] and x < c.shape[1]:
            c[y, x] = sums[i]


# --- two warps, each 16×8 of c; tiles in shared memory, and ldmatrix ---------------------------


@cuda.jit
def shared(a, b, c):
    tile_a = cuda.shared.array((32, 16), float16, alignment=16)
    tile_b = cuda.shared.array((16, 8), float16, alignment=16)
    of_a = cuda.local.array(8, float16)
    of_b = cuda.local.array(4, float16)
    sums = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    warp, lane = t // 32, t % 32
    row, col = cuda.blockIdx.y * 32, cuda.blockIdx.x * 8
    for i in range(4):
        sums[i] = 0
    for start in range(0, a.shape[1], 16):
        for q in range(t, 32 * 16, 64):
            y, z = q // 16, q % 16
            inside = row + y < a.shape[0] and start + z < a.shape[1]
            tile_a[y, z] = a[row + y, start + z] if inside else float16(0)
        for q in range(t, 16 * 8, 64):
            z, x = q // 8, q % 8
            inside = start + z < b.shape[0] and col + x < b.shape[1]
            tile_b[z, x] = b[start + z, col + x] if inside else float16(0)
        cuda.syncthreads()  # filled
        ldmatrix_x4(of_a, tile_a, (warp * 16 + lane % 16, lane // 16 * 8))
        ldmatrix_x2_trans(of_b, tile_b, (lane % 16, 0))
        mma_m16n8k16(sums, of_a, of_b)
        cuda.syncthreads()  # read
    for i in range(4):
        y = row + warp * 16 + lane // 4 + i // 2 * 8
        x = col + lane % 4 * 2 + i % 2
        if y < c.shape[0] and x < c.shape[1]:
            c[y, x] = sums[i]


# --- four warps, each 16×32 of c; tiles with a swizzle: k and n are multiples of 8 -------------


@cuda.jit(device=True)
def fill(x, corner, tile, rows):
    t = cuda.threadIdx.x
    for q in range(t, rows * 8, 128):
        y, right = q // 8, q % 8 * 8
        for i in range(8):
            inside = corner[0] + y < x.shape[0] and corner[1] + right < x.shape[1]
            value = x[corner[0] + y, corner[1] + right + i] if inside else float16(0)
            tile[0, y, (right ^ y % 8 * 8) + i] = value


@cuda.jit(device=True)
def multiply(tile_a, tile_b, stage, sums):
    of_a = cuda.local.array(8, float16)
    of_b = cuda.local.array((4, 4), float16)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    for start in range(0, BK, 16):
        y, z = warp // 2 * 16 + lane % 16, start + lane // 16 * 8
        ldmatrix_x4(of_a, tile_a, (stage, y, z ^ y % 8 * 8))
        for j in range(2):
            z, x = start + lane % 16, warp % 2 * 32 + j * 16 + lane // 16 * 8
            ldmatrix_x4_trans(of_b[2 * j : 2 * j + 2], tile_b, (stage, z, x ^ z % 8 * 8))
        for j in range(4):
            mma_m16n8k16(sums[j], of_a, of_b[j])


@cuda.jit(device=True)
def store(c, corner, sums):
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    for j in range(4):
        for i in range(4):
            y = corner[0] + warp // 2 * 16 + lane // 4 + i // 2 * 8
            x = corner[1] + warp % 2 * 32 + j * 8 + lane % 4 * 2 + i % 2
            if y < c.shape[0] and x < c.shape[1]:
                c[y, x] = sums[j, i]


@cuda.jit
def swizzled(a, b, c):
    tile_a = cuda.shared.array((1, BM, BK), float16, alignment=16)
    tile_b = cuda.shared.array((1, BK, BN), float16, alignment=16)
    sums = cuda.local.array((4, 4), float32)
    row, col = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    for j in range(4):
        for i in range(4):
            sums[j, i] = 0
    for start in range(0, a.shape[1], BK):
        fill(a, (row, start), tile_a, BM)
        fill(b, (start, col), tile_b, BK)
        cuda.syncthreads()
        multiply(tile_a, tile_b, 0, sums)
        cuda.syncthreads()
    store(c, (row, col), sums)


# --- the same with asynchronous copies in three stages -----------------------------------------


@cuda.jit(device=True)
def start_copies(x, corner, tile, rows, stage):
    zero = float16(0)
    for q in range(cuda.threadIdx.x, rows * 8, 128):
        y, right = q // 8, q % 8 * 8
        to = stage, y, right ^ y % 8 * 8
        if corner[0] + y < x.shape[0] and corner[1] + right < x.shape[1]:
            copy8_async(tile, to, x, (corner[0] + y, corner[1] + right))
        else:
            store8(tile, to, (zero, zero, zero, zero, zero, zero, zero, zero))


@cuda.jit
def pipelined(a, b, c):
    tile_a = cuda.shared.array((STAGES, BM, BK), float16, alignment=16)
    tile_b = cuda.shared.array((STAGES, BK, BN), float16, alignment=16)
    sums = cuda.local.array((4, 4), float32)
    row, col = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    for j in range(4):
        for i in range(4):
            sums[j, i] = 0
    for stage in range(STAGES - 1):
        start_copies(a, (row, stage * BK), tile_a, BM, stage)
        start_copies(b, (stage * BK, col), tile_b, BK, stage)
        commit_copies()
    stage = 0
    for start in range(0, a.shape[1], BK):
        wait_copies(IN_FLIGHT)
        cuda.syncthreads()
        ahead, free = start + (STAGES - 1) * BK, (stage + STAGES - 1) % STAGES
        start_copies(a, (row, ahead), tile_a, BM, free)
        start_copies(b, (ahead, col), tile_b, BK, free)
        commit_copies()
        multiply(tile_a, tile_b, stage, sums)
        stage = (stage + 1) % STAGES
    store(c, (row, col), sums)
