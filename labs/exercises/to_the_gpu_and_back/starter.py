"""Right, but each array is copied in both directions."""

import numpy as np


def to_the_gpu_and_back(kernel, a, b):
    m, n = a.shape[0], b.shape[1]
    block = 32, 8  # threads: 32 columns of c, and 8 rows
    grid = -(-n // 32), -(-m // 8)  # blocks: -(-n // 32) is n / 32, rounded up
    c = np.zeros((m, n), np.float32)
    kernel[grid, block](a, b, c)
    return c
