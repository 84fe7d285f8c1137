"""To be changed: two elements for each thread, added before the tree begins."""

from numba import cuda, float32, uint32

BLOCK = 256


@cuda.jit
def eight_elements(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)
    i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid
    total = x[i] if i < x.size else float32(0)
    if i + BLOCK < x.size:
        total += x[i + BLOCK]
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
