"""One warp loads for the whole block, and the others wait."""

from numba import cuda, float32


@cuda.jit
def tree(x, partials):
    shared = cuda.shared.array(256, float32)
    tid = cuda.threadIdx.x
    first = cuda.blockIdx.x * 256
    if tid < 32:
        for e in range(tid, 256, 32):
            total = float32(0)
            for i in range(first + e, min(first + 256, x.size), 256):
                total += x[i]
            shared[e] = total
    cuda.syncthreads()
    stride = 128
    while stride > 0:
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride //= 2
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
