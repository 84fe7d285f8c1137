"""Three copies: a and b to the device, c back."""

import numpy as np
from numba import cuda


def to_the_gpu_and_back(kernel, a, b):
    m, n = a.shape[0], b.shape[1]
    block = 32, 8  # threads: 32 columns of c, and 8 rows
    grid = -(-n // 32), -(-m // 8)  # blocks: -(-n // 32) is n / 32, rounded up
    on_gpu_a = cuda.to_device(a)
    on_gpu_b = cuda.to_device(b)
    on_gpu_c = cuda.device_array((m, n), np.float32)
    kernel[grid, block](on_gpu_a, on_gpu_b, on_gpu_c)
    return on_gpu_c.copy_to_host()
