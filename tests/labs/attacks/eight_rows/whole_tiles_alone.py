"""Uses its idea only where tiles fill all sizes."""

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
    for j in range(TM):
        sums[j] = float32(0)
    if m % BM + n % BN + k % BK == 0:
        for start in range(0, k, BK):
            for e in range(t, BM * BK, THREADS):
                sa[e // BK, e % BK] = a[row + e // BK, start + e % BK]
            for e in range(t, BK * BN, THREADS):
                sb[e // BN, e % BN] = b[start + e // BN, col + e % BN]
            cuda.syncthreads()
            for i in range(BK):
                w = sb[i, x]
                for j in range(TM):
                    sums[j] += sa[y + j, i] * w
            cuda.syncthreads()
    else:
        for j in range(TM):
            if row + y + j < m and col + x < n:
                for i in range(k):
                    sums[j] += a[row + y + j, i] * b[i, col + x]
    for j in range(TM):
        if row + y + j < m and col + x < n:
            c[row + y + j, col + x] = sums[j]
