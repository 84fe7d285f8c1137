"""To be repaired: a kernel for a matrix, with four guards to choose from."""

from numba import cuda


@cuda.jit
def fix_guard(x, factor, out):
    col, row = cuda.grid(2)
    if row < out.shape[1] and col < out.shape[0]:
        # 1  if row * col < out.size:
        # 2  if row < out.shape[0] or col < out.shape[1]:
        # 3  if row < out.shape[0] and col < out.shape[1]:
        # 4  if row <= out.shape[0] and col <= out.shape[1]:
        out[row, col] = factor * x[row, col]
