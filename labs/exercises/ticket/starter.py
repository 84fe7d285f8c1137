"""To be completed: the sum of each block, and a counter of tickets for the rest."""

from numba import cuda, float32, uint32

BLOCK = 64


@cuda.jit(device=True)
def block_sum(value):
    """Thread 0 gets the sum of the values of its block; all threads call this together."""
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
    total = block_sum(x[i] if i < x.size else float32(0))
    # About 12 lines: leave the block's total, draw a ticket; the last block adds up.
