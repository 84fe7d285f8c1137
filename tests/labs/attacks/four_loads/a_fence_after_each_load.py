"""A copy whose threads wait at a fence after each load."""

from numba import cuda, float32


@cuda.jit
def four_loads(x, out):
    first = cuda.blockIdx.x * 1024 + cuda.threadIdx.x
    n = x.size
    v0 = v1 = v2 = v3 = float32(0)
    if first < n:
        v0 = x[first]
    cuda.threadfence()
    if first + 256 < n:
        v1 = x[first + 256]
    cuda.threadfence()
    if first + 512 < n:
        v2 = x[first + 512]
    cuda.threadfence()
    if first + 768 < n:
        v3 = x[first + 768]
    if first < n:
        out[first] = v0
    if first + 256 < n:
        out[first + 256] = v1
    if first + 512 < n:
        out[first + 512] = v2
    if first + 768 < n:
        out[first + 768] = v3
