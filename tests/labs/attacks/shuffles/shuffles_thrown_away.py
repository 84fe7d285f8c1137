from numba import cuda, float32

@cuda.jit
def shuffles(x, partials):
    of_warps = cuda.shared.array(8, float32)
    tid = cuda.threadIdx.x
    first = cuda.blockIdx.x * 256 + tid // 32 * 32
    total = float32(0)
    for j in range(32):                 # every lane adds all: a broadcast load
        if first + j < x.size:
            total += x[first + j]
    for j in range(5):
        cuda.shfl_down_sync(0xFFFFFFFF, total, 1)   # thrown away
    if tid % 32 == 0:
        of_warps[tid // 32] = total
    cuda.syncthreads()
    if tid == 0:
        total = float32(0)
        for w in range(8):
            total += of_warps[w]
        partials[cuda.blockIdx.x] = total
