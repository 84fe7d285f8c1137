"""The lines of an outer product in registers, in order."""

from numba import cuda, float32


@cuda.jit
def order_outer_product(a, b, c):
    sa = cuda.shared.array((32, 8), float32)
    sb = cuda.shared.array((8, 32), float32)
    sums = cuda.local.array((4, 4), float32)
    from_a, from_b = cuda.local.array(4, float32), cuda.local.array(4, float32)
    t, row, col = cuda.threadIdx.x, cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    y, x = t // 8 * 4, t % 8 * 4
    for e in range(16):
        sums[e // 4, e % 4] = float32(0)
    for start in range(0, a.shape[1], 8):
        for e in range(t, 256, 64):
            sa[e // 8, e % 8] = a[row + e // 8, start + e % 8]
            sb[e // 32, e % 32] = b[start + e // 32, col + e % 32]
        cuda.syncthreads()
        for z in range(8):
            for i in range(4):
                from_a[i] = sa[y + i, z]
            for j in range(4):
                from_b[j] = sb[z, x + j]
            for p in range(4):
                for q in range(4):
                    sums[p, q] += from_a[p] * from_b[q]
        cuda.syncthreads()
    for e in range(16):
        c[row + y + e // 4, col + x + e % 4] = sums[e // 4, e % 4]
