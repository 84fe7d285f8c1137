"""To be repaired: pieces are turned around in one tile, with four places for a barrier."""

from numba import cuda, float32

PIECES = 4


@cuda.jit
def reverse_pieces(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for piece in range(PIECES):
        i = 64 * (PIECES * cuda.blockIdx.x + piece) + t
        # place 1
        tile[t] = x[i] if i < x.size else float32(0)
        # place 2
        cuda.syncthreads()
        if i < x.size:
            # place 3
            out[i] = tile[63 - t]
        # place 4
