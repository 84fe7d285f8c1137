"""Pieces are turned around in one tile, with a barrier after the stores and one after the reads."""

from numba import cuda, float32

PIECES = 4


@cuda.jit
def reverse_pieces(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for piece in range(PIECES):
        i = 64 * (PIECES * cuda.blockIdx.x + piece) + t
        tile[t] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()
        if i < x.size:
            out[i] = tile[63 - t]
        cuda.syncthreads()
