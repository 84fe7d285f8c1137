"""A register-blocked product, as a workload for the benchmark of the virtual GPU.

Blocks of 256 threads compute 128×128 of c; each thread keeps 8×8 of it in registers. Sizes are
multiples of 128.
"""

from numba import cuda, float32

BLOCK_TILE, DEPTH, THREAD_TILE, THREADS = 128, 8, 8, 256
ACROSS = BLOCK_TILE // THREAD_TILE
LOADS = BLOCK_TILE * DEPTH // THREADS


@cuda.jit
def register_blocked(a, b, c):
    sa = cuda.shared.array((DEPTH, BLOCK_TILE), float32)
    sb = cuda.shared.array((DEPTH, BLOCK_TILE), float32)
    patch = cuda.local.array((THREAD_TILE, THREAD_TILE), float32)
    column_of_a = cuda.local.array(THREAD_TILE, float32)
    row_of_b = cuda.local.array(THREAD_TILE, float32)
    t = cuda.threadIdx.x
    tx, ty = t % ACROSS, t // ACROSS
    row, col = cuda.blockIdx.y * BLOCK_TILE, cuda.blockIdx.x * BLOCK_TILE
    for i in range(THREAD_TILE):
        for j in range(THREAD_TILE):
            patch[i, j] = float32(0)
    for start in range(0, a.shape[1], DEPTH):
        for load in range(LOADS):
            e = t + load * THREADS
            sa[e % DEPTH, e // DEPTH] = a[row + e // DEPTH, start + e % DEPTH]
            sb[e // BLOCK_TILE, e % BLOCK_TILE] = b[start + e // BLOCK_TILE, col + e % BLOCK_TILE]
        cuda.syncthreads()
        for k in range(DEPTH):
            for i in range(THREAD_TILE):
                column_of_a[i] = sa[k, ty * THREAD_TILE + i]
                row_of_b[i] = sb[k, tx * THREAD_TILE + i]
            for i in range(THREAD_TILE):
                for j in range(THREAD_TILE):
                    patch[i, j] += column_of_a[i] * row_of_b[j]
        cuda.syncthreads()
    for i in range(THREAD_TILE):
        for j in range(THREAD_TILE):
            c[row + ty * THREAD_TILE + i, col + tx * THREAD_TILE + j] = patch[i, j]
