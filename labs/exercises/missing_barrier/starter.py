"""To be repaired: a block's sum with a barrier at the wrong place."""

from numba import cuda, float32

BLOCK = 256


@cuda.jit
def missing_barrier(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    stride = BLOCK // 2
    # place 1
    while stride > 0:
        # place 2
        if tid < stride:
            # place 3
            cuda.syncthreads()
            shared[tid] += shared[tid + stride]
        # place 4
        stride //= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
