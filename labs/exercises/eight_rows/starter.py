"""The product by tiles with eight rows of a column of c for each thread: most of it is missing."""

from numba import cuda, float32

BM, BN, BK, TM = 32, 64, 16, 8
THREADS = BM // TM * BN


@cuda.jit
def eight_rows(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    sa = cuda.shared.array((BM, BK), float32)
    sb = cuda.shared.array((BK, BN), float32)
    row, col, t = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN, cuda.threadIdx.x
    y, x = t // BN * TM, t % BN
    # Here: TM sums of this thread, which begin at zero.
    for start in range(0, k, BK):
        for e in range(t, BM * BK, THREADS):
            i, z = e // BK, e % BK
            sa[i, z] = a[row + i, start + z] if row + i < m and start + z < k else float32(0)
        # Here: the tile of b, a barrier, the multiply-adds, a barrier.
    # Here: store the sums. In all about 16 lines.
