from numba import cuda, float32

@cuda.jit
def shuffles(x, partials):
    of_warps = cuda.shared.array(8, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    v = int(x[i]) if i < x.size else 0      # whole numbers only
    total = 0
    for bit in range(14):
        total += cuda.popc(cuda.ballot_sync(0xFFFFFFFF, (v >> bit) & 1)) << bit
    for j in range(5):
        cuda.shfl_down_sync(0xFFFFFFFF, total, 1)   # thrown away
    if tid % 32 == 0:
        of_warps[tid // 32] = float32(total)
    cuda.syncthreads()
    if tid == 0:
        s = float32(0)
        for w in range(8):
            s += of_warps[w]
        partials[cuda.blockIdx.x] = s
