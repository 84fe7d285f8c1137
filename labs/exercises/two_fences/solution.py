"""The block of a pair that comes second adds the words of both, behind two fences."""

from numba import cuda


@cuda.jit
def two_fences(x, words, drawn, out):
    block, pair = cuda.blockIdx.x, cuda.blockIdx.x // 2
    words[block] = x[block]
    cuda.threadfence()
    if cuda.atomic.add(drawn, pair, 1) == 1:
        cuda.threadfence()
        total = words[2 * pair] + words[2 * pair + 1]
        out[pair] = total
