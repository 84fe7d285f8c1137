"""The tree of reduce7 for any operation: shuffles in warps, then one warp over their results."""

from functools import cache

from numba import cuda, uint32

from reduce_kernels.reduce7 import ALL_LANES


@cache
def across_block(operation, BLOCK):
    """Return a device function that reduces one value per thread to one value per block.

    `operation` is an Operation. BLOCK, a multiple of 32, is the number of threads per block. The
    argument is the thread's value. All threads of the block must call the function, with a barrier
    between calls. Thread 0 gets the block's value, and the other threads get undefined values.
    """
    combine, identity, total_type = operation.combine, operation.identity, operation.total
    WARPS = BLOCK // 32

    @cuda.jit(device=True, forceinline=True)
    def across(total):
        of_warps = cuda.shared.array(WARPS, total_type)
        tid = uint32(cuda.threadIdx.x)
        for step in range(5):
            total = combine(total, cuda.shfl_down_sync(ALL_LANES, total, 16 >> step))
        if tid % uint32(32) == 0:
            of_warps[tid // uint32(32)] = total
        cuda.syncthreads()
        if tid < 32:
            total = of_warps[tid] if tid < WARPS else identity
            for step in range(5):
                total = combine(total, cuda.shfl_down_sync(ALL_LANES, total, 16 >> step))
        return total

    return across
