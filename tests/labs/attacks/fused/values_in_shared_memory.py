from numba import cuda, float32, uint32

@cuda.jit
def fused(x, mean, scale, y, out):
    s = cuda.shared.array(256, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < out.size:
        s[t] = x[i] - mean
        s[t] = s[t] * scale
        s[t] = s[t] + y[i]
        out[i] = max(s[t], float32(0))
