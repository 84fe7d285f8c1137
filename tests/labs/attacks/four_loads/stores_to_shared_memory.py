from numba import cuda, float32

@cuda.jit
def four_loads(x, out):
    first = cuda.blockIdx.x * 1024 + cuda.threadIdx.x
    s = cuda.shared.array((4, 256), float32)
    t = cuda.threadIdx.x
    for j in range(4):
        i = first + 256 * j
        if i < x.size:
            s[j, t] = x[i]          # waits for each load here
    for j in range(4):
        i = first + 256 * j
        if i < x.size:
            out[i] = s[j, t]
