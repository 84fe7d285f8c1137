"""To be repaired: the block of a pair that comes second adds the words of both."""

from numba import cuda


@cuda.jit
def two_fences(x, words, drawn, out):
    block, pair = cuda.blockIdx.x, cuda.blockIdx.x // 2
    # place 1
    words[block] = x[block]
    # place 2
    if cuda.atomic.add(drawn, pair, 1) == 1:
        # place 3
        total = words[2 * pair] + words[2 * pair + 1]
        # place 4
        out[pair] = total
        # place 5
