"""To be changed in one line: a product whose reads of a's tile have bank conflicts."""

from numba import cuda, float32


@cuda.jit
def rows_apart(a, b, c):
    sa = cuda.shared.array((64, 8), float32)
    sb = cuda.shared.array((8, 64), float32)
    sums = cuda.local.array((8, 8), float32)
    from_a, from_b = cuda.local.array(8, float32), cuda.local.array(8, float32)
    t, row, col = cuda.threadIdx.x, cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    y, apart, x = t // 8 * 8, 1, t % 8 * 8
    for i in range(8):
        for j in range(8):
            sums[i, j] = float32(0)
    for start in range(0, a.shape[1], 8):
        for e in range(t, 512, 64):
            sa[e // 8, e % 8] = a[row + e // 8, start + e % 8]
            sb[e // 64, e % 64] = b[start + e // 64, col + e % 64]
        cuda.syncthreads()
        for z in range(8):
            for i in range(8):
                from_a[i] = sa[y + apart * i, z]
            for j in range(8):
                from_b[j] = sb[z, x + j]
            for i in range(8):
                for j in range(8):
                    sums[i, j] += from_a[i] * from_b[j]
        cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            c[row + y + apart * i, col + x + j] = sums[i, j]
