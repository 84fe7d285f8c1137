from numba import cuda, float32, int32


@cuda.jit
def shuffles(x, partials):
    of_warps = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    v = x[i] if i < x.size else float32(0)
    whole = int32(v)
    total = 0
    for bit in range(13):
        total += cuda.popc(cuda.ballot_sync(0xFFFFFFFF, (whole >> bit) & 1)) << bit
    zero = float32(0)
    for step in range(5):
        zero += cuda.shfl_down_sync(0xFFFFFFFF, zero, 1)
    if t % 32 == 0:
        of_warps[t // 32] = float32(total) + zero
    cuda.syncthreads()
    if t == 0:
        s = float32(0)
        for w in range(8):
            s += of_warps[w]
        partials[cuda.blockIdx.x] = s
