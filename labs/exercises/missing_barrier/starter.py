"""To be repaired: a block's sum with a barrier at the wrong place."""

from numba import cuda, float32, uint32

BLOCK = 256


@cuda.jit
def missing_barrier(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
    stride = uint32(1)
    # place 1
    while stride < cuda.blockDim.x:
        # place 2
        if tid % uint32(2 * stride) == 0:
            # place 3
            cuda.syncthreads()
            shared[tid] += shared[tid + stride]
        # place 4
        stride = uint32(2 * stride)
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
