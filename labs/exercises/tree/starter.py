"""To be changed: a tree in which the stride between adding threads grows."""

from numba import cuda, float32

BLOCK = 256


@cuda.jit
def tree(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    # Right, but its warps stay busy. Write about 6 lines instead of these:
    stride = 1
    while stride < BLOCK:
        if tid % (2 * stride) == 0:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
