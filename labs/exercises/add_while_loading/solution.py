"""Two elements for each thread, a block's width apart, added before the tree begins."""

from numba import cuda, float32, uint32

BLOCK = 256


@cuda.jit
def add_while_loading(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)
    i = cuda.blockIdx.x * (2 * BLOCK) + tid
    total = x[i] if i < x.size else float32(0)
    if i + BLOCK < x.size:
        total += x[i + BLOCK]
    shared[tid] = total
    cuda.syncthreads()
    stride = uint32(uint32(cuda.blockDim.x) >> uint32(1))
    while stride > 0:
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride = uint32(stride >> uint32(1))
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
