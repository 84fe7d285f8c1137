from numba import cuda, float32


@cuda.jit
def reverse_pieces(x, out):
    # each thread reads its own word; no exchange, so no barrier
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for piece in range(4):
        i = 64 * (4 * cuda.blockIdx.x + piece) + t
        j = 64 * (4 * cuda.blockIdx.x + piece) + 63 - t
        tile[t] = x[j] if j < x.size else float32(0)
        if i < x.size:
            out[i] = tile[t]
