"""The sum of a block by shuffles: within each warp, and then within one warp over all of them."""

from numba import cuda, float32

WARPS = 8


@cuda.jit
def shuffles(x, partials):
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
