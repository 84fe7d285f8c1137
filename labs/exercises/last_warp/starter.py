"""To be repaired: a block's sum whose last warp goes on alone, and has a race."""

from numba import cuda, float32, uint32

BLOCK = 256


@cuda.jit
def last_warp(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    stride = uint32(BLOCK // 2)
    while stride > 32:
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride = stride >> uint32(1)
    if tid < 32:
        while stride > 0:
            shared[tid] += shared[tid + stride]
            stride = stride >> uint32(1)
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
