from numba import cuda, float32


@cuda.jit
def four_loads(x, out):
    first = cuda.blockIdx.x * 1024 + cuda.threadIdx.x
    p = float32(0)
    q = float32(0)
    r = float32(0)
    s = float32(0)
    for again in range(8):
        if first < x.size:
            p = x[first]
        if first + 256 < x.size:
            q = x[first + 256]
        if first + 512 < x.size:
            r = x[first + 512]
        if first + 768 < x.size:
            s = x[first + 768]
    if first < x.size:
        out[first] = p
    if first + 256 < x.size:
        out[first + 256] = q
    if first + 512 < x.size:
        out[first + 512] = r
    if first + 768 < x.size:
        out[first + 768] = s
