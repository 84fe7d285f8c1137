"""The first tree of the reduction, with a bit operation."""

from numba import cuda, float32

BLOCK = 256


@cuda.jit
def without_remainder(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    stride = 1
    while stride < BLOCK:
        if tid & (2 * stride - 1) == 0:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
