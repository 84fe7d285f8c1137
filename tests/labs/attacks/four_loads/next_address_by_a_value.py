from numba import cuda, float32

@cuda.jit
def four_loads(x, out):
    first = cuda.blockIdx.x * 1024 + cuda.threadIdx.x
    values = cuda.local.array(4, float32)
    nothing = 0
    for j in range(4):
        i = first + 256 * j + nothing
        if i < x.size:
            values[j] = x[i]
            nothing = int(values[j] * float32(0))   # the next address needs this load
    for j in range(4):
        i = first + 256 * j
        if i < x.size:
            out[i] = values[j]
