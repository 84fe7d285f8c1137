"""Adds all elements of x again in the last block."""

from numba import cuda, float32, uint32

BLOCK = 64


@cuda.jit(device=True)
def block_sum(value):
    sums = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    sums[t] = value
    half = BLOCK // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            sums[t] += sums[t + half]
        half //= 2
    return sums[t]


@cuda.jit
def ticket(x, partials, drawn, out):
    number = cuda.shared.array(1, uint32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    total = block_sum(x[i] if i < x.size else float32(0))
    if t == 0:
        partials[cuda.blockIdx.x] = total
        cuda.threadfence()
        number[0] = cuda.atomic.add(drawn, 0, 1)
    cuda.syncthreads()
    if number[0] == cuda.gridDim.x - 1:
        cuda.threadfence()
        total = float32(0)
        for j in range(t, x.size, BLOCK):
            total += x[j]
        for j in range(t, partials.size, BLOCK):
            total += partials[j] * float32(0)
        cuda.syncthreads()
        total = block_sum(total)
        if t == 0:
            out[0] = total
            drawn[0] = 0
