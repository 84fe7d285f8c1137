"""The tree in which the lower half of the words adds the upper half."""

from numba import cuda, float32, uint32

BLOCK = 256


@cuda.jit
def tree(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    stride = uint32(uint32(cuda.blockDim.x) >> uint32(1))
    while stride > 0:
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride = uint32(stride >> uint32(1))
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
