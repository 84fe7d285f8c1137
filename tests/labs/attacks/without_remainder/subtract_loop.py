"""To be changed in one line: the first tree of the reduction, with a remainder."""

from numba import cuda, float32, uint32


BLOCK = 256


@cuda.jit
def without_remainder(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    stride = uint32(1)
    while stride < cuda.blockDim.x:
        r = tid
        while r >= 2 * stride:
            r = uint32(r - 2 * stride)
        if r == 0:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride = uint32(2 * stride)
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
