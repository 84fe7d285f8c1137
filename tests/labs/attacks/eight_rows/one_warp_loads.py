"""One warp loads for the whole block, and the others wait."""

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
    sums = cuda.local.array(TM, float32)
    for i in range(TM):
        sums[i] = float32(0)
    for start in range(0, k, BK):
        for e in range(t if t < 32 else BM * BK, BM * BK, 32):
            i, z = e // BK, e % BK
            sa[i, z] = a[row + i, start + z] if row + i < m and start + z < k else float32(0)
        for e in range(t if t < 32 else BK * BN, BK * BN, 32):
            z, j = e // BN, e % BN
            sb[z, j] = b[start + z, col + j] if start + z < k and col + j < n else float32(0)
        cuda.syncthreads()  # both tiles are complete
        for z in range(BK):
            from_b = sb[z, x]  # one read, for TM multiply-adds
            for i in range(TM):
                sums[i] += sa[y + i, z] * from_b
        cuda.syncthreads()  # nobody needs them any more
    for i in range(TM):
        if row + y + i < m and col + x < n:
            c[row + y + i, col + x] = sums[i]
