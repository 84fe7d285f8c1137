"""Uses its idea only where all blocks are full; one thread adds all words elsewhere."""

from numba import cuda, float32, uint32

BLOCK = 256


@cuda.jit
def tree(x, partials):
    if x.size % 256 == 0:
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
    else:
        words = cuda.shared.array(256, float32)
        words[cuda.threadIdx.x] = float32(0)
        place = cuda.blockIdx.x * 256 + cuda.threadIdx.x
        if place < x.size:
            words[cuda.threadIdx.x] = x[place]
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            s = float32(0)
            for j in range(256):
                s += words[j]
            partials[cuda.blockIdx.x] = s
