"""The largest element of each block, found by a tree; no element counts as minus infinity."""

import math

from numba import cuda, float32

BLOCK = 256


@cuda.jit
def maximum(x, largest):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(-math.inf)
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if tid < stride:
            shared[tid] = max(shared[tid], shared[tid + stride])
        cuda.syncthreads()
        stride //= 2
    if tid == 0:
        largest[cuda.blockIdx.x] = shared[0]
