"""To be repaired: a block's sum with a barrier at the wrong place."""

from numba import cuda, float32

BLOCK = 256


@cuda.jit
def missing_barrier(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    stride = 1
    # place 1
    while stride < BLOCK:
        # place 2
        if tid % (2 * stride) == 0:
            # place 3
            cuda.syncthreads()
            shared[tid] += shared[tid + stride]
        # place 4
        stride *= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
