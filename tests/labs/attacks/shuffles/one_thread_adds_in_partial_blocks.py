"""Uses its idea only where all blocks are full; one thread adds all words elsewhere."""

from numba import cuda, float32

WARPS = 8


@cuda.jit
def shuffles(x, partials):
    if x.size % 256 == 0:
        of_warps = cuda.shared.array(WARPS, float32)
        tid = cuda.threadIdx.x
        i = cuda.grid(1)
        total = x[i] if i < x.size else float32(0)
        distance = 16
        while distance > 0:
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
            distance //= 2
        if tid % 32 == 0:
            of_warps[tid // 32] = total
        cuda.syncthreads()
        if tid < 32:
            total = of_warps[tid] if tid < WARPS else float32(0)
            distance = 16
            while distance > 0:
                total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
                distance //= 2
            if tid == 0:
                partials[cuda.blockIdx.x] = total
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
