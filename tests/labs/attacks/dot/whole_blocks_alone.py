"""Uses its idea only where all blocks are full."""

from numba import cuda, float32

BLOCK = 256


@cuda.jit
def dot(x, y, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * 256 + tid
    if x.size % 256 == 0:
        shared[tid] = x[i] * y[i]
        cuda.syncthreads()
        half = 128
        while half > 0:
            if tid < half:
                shared[tid] += shared[tid + half]
            cuda.syncthreads()
            half //= 2
        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]
    elif tid == 0:
        total = float32(0)
        for j in range(i, min(i + 256, x.size)):
            total += x[j] * y[j]
        partials[cuda.blockIdx.x] = total
