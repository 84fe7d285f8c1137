from numba import cuda, float32

@cuda.jit
def four_loads(x, out):
    first = cuda.blockIdx.x * 1024 + cuda.threadIdx.x
    if cuda.blockIdx.x < 2 and x.size == 4096:
        v0, v1, v2, v3 = x[first], x[first + 256], x[first + 512], x[first + 768]
        out[first], out[first + 256], out[first + 512], out[first + 768] = v0, v1, v2, v3
    else:
        for j in range(4):
            i = first + 256 * j
            if i < x.size:
                out[i] = x[i]
