"""Right, but each array is copied for each of ten products."""

import numpy as np
from numba import cuda


def copy_once(kernel, a, b):
    m, n = a.shape[0], b.shape[1]
    block = 32, 8  # threads: 32 columns of c, and 8 rows
    grid = -(-n // block[0]), -(-m // block[1])  # blocks, rounded up
    for _ in range(10):
        on_gpu_a = cuda.to_device(a)
        on_gpu_b = cuda.to_device(b)
        on_gpu_c = cuda.device_array((m, n), np.float32)
        kernel[grid, block](on_gpu_a, on_gpu_b, on_gpu_c)
        c = on_gpu_c.copy_to_host()
    return c
