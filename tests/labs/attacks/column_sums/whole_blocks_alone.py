"""Uses its idea only where all blocks are full."""

from numba import cuda, float32


@cuda.jit
def column_sums(x, out):
    if x.shape[1] % 256 == 0:
        col = cuda.grid(1)
        total = float32(0)
        for row in range(x.shape[0]):
            total += x[row, col]
        out[col] = total
    elif cuda.grid(1) == 0:
        for col in range(x.shape[1]):
            total = float32(0)
            for row in range(x.shape[0]):
                total += x[row, col]
            out[col] = total
