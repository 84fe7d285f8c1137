"""To be written: two elements for each thread, added before the tree begins."""

from numba import cuda, float32, uint32

BLOCK = 256


@cuda.jit
def add_while_loading(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)
    # About 4 lines: bring two elements of x to shared[tid], added. Then:
    cuda.syncthreads()
    stride = uint32(uint32(cuda.blockDim.x) >> uint32(1))
    while stride > 0:
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride = uint32(stride >> uint32(1))
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
