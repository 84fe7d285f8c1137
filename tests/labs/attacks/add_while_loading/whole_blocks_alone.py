"""Uses its idea only where all blocks are full."""

from numba import cuda, float32

BLOCK = 256


@cuda.jit
def add_while_loading(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * 512 + tid
    if x.size % 512 == 0:
        shared[tid] = x[i] + x[i + 256]
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
        for j in range(i, min(i + 512, x.size)):
            total += x[j]
        partials[cuda.blockIdx.x] = total
