"""Uses its idea only where all blocks are full."""

from numba import cuda, float32

WARPS = 8


@cuda.jit
def shuffles(x, partials):
    of_warps = cuda.shared.array(WARPS, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    if x.size % 256 == 0:
        total = x[i]
        for step in range(5):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, 16 >> step)
        if tid % 32 == 0:
            of_warps[tid // 32] = total
        cuda.syncthreads()
        if tid == 0:
            total = float32(0)
            for j in range(WARPS):
                total += of_warps[j]
            partials[cuda.blockIdx.x] = total
    elif tid == 0:
        total = float32(0)
        for j in range(i, min(i + 256, x.size)):
            total += x[j]
        partials[cuda.blockIdx.x] = total
