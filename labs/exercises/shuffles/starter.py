"""To be finished: the sum of a block by shuffles."""

from numba import cuda, float32

WARPS = 8


@cuda.jit
def shuffles(x, partials):
    of_warps = cuda.shared.array(WARPS, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    total = x[i] if i < x.size else float32(0)
    # About 12 lines: the sum of each warp into `of_warps`, then the sum of these 8 words.
