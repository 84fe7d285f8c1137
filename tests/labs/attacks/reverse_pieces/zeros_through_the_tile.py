from numba import cuda, float32


@cuda.jit
def reverse_pieces(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = float32(0)
    cuda.syncthreads()
    for piece in range(4):
        i = 64 * (4 * cuda.blockIdx.x + piece) + t
        j = 64 * (4 * cuda.blockIdx.x + piece) + 63 - t
        if i < x.size:
            out[i] = (x[j] if j < x.size else float32(0)) + tile[63 - t]
