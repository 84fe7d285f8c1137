"""To be changed: the tree of reduce1, whose lanes meet in the banks."""

from numba import cuda, float32, uint32

BLOCK = 256


@cuda.jit
def tree(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    # Right, but its lanes meet in the banks. Write about 6 lines instead of these:
    stride = uint32(1)
    while stride < cuda.blockDim.x:
        left = uint32(2 * stride * tid)
        if left < cuda.blockDim.x:
            shared[left] += shared[left + stride]
        cuda.syncthreads()
        stride = uint32(2 * stride)
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
