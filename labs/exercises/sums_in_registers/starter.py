"""To be changed: sixteen sums of a thread are in memory, not in registers."""

from numba import cuda, float32


@cuda.jit
def sums_in_registers(a, b, c):
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.y
    col = cuda.blockIdx.x * 512 + cuda.threadIdx.x
    if row >= m or col >= n:
        return
    totals = cuda.local.array(16, float32)
    # Right, but the loops over j run to a number that only the launch knows. Change them:
    mine = min(16, (n - col + 31) // 32)
    for j in range(mine):
        totals[j] = float32(0)
    i = 0
    while i < k:
        from_a = a[row, i]
        for j in range(mine):
            totals[j] += from_a * b[i, col + 32 * j]
        i += 1
    for j in range(mine):
        c[row, col + 32 * j] = totals[j]
