"""One warp loads for the whole block, and the others wait."""

from numba import cuda, float32


@cuda.jit
def transpose(a, out):
    m, n = a.shape
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    if ty == 0:
        for i in range(32):
            if top + i < m and left + tx < n:
                tile[i, tx] = a[top + i, left + tx]
    cuda.syncthreads()
    if left + ty < n and top + tx < m:
        out[left + ty, top + tx] = tile[tx, ty]
