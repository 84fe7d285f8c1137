"""Passes the first fence only in blocks with an even number."""

from numba import cuda


@cuda.jit
def two_fences(x, words, drawn, out):
    block, pair = cuda.blockIdx.x, cuda.blockIdx.x // 2
    words[block] = x[block]
    if block % 2 == 0:
        cuda.threadfence()
    if cuda.atomic.add(drawn, pair, 1) == 1:
        cuda.threadfence()
        total = words[2 * pair] + words[2 * pair + 1]
        out[pair] = total
