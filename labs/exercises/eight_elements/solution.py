"""Eight elements for each thread, a block's width apart, added before the tree begins."""

from numba import cuda, float32, uint32

BLOCK = 256


@cuda.jit
def eight_elements(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)
    i = uint32(cuda.blockIdx.x) * (8 * BLOCK) + tid
    total = float32(0)
    for j in range(8):
        if i + j * BLOCK < x.size:
            total += x[i + j * BLOCK]
    shared[tid] = total
    cuda.syncthreads()
    stride = uint32(BLOCK // 2)
    while stride > 0:
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride = stride >> uint32(1)
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
