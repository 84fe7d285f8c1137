"""A block's sum with one barrier, at the head of the loop."""

from numba import cuda, float32

BLOCK = 256


@cuda.jit
def missing_barrier(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    stride = 1
    while stride < BLOCK:
        cuda.syncthreads()
        if tid % (2 * stride) == 0:
            shared[tid] += shared[tid + stride]
        stride *= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
