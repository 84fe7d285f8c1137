"""Each thread adds two elements while it loads, so half of the threads do the same work."""

from functools import cache

from numba import cuda, float32, uint32

from reduce_kernels.parts.grids import BLOCKS, elements_per_thread
from reduce_kernels.parts.second_pass import then_second_pass
from utils.ladder.step import Step
from utils.ladder.tasks import SUM


@cache
def build(BLOCK):
    """Return the kernel (x, partials) whose blocks sum 2·BLOCK floats each.

    BLOCK is the number of threads per block, a power of two. Block i stores its sum in partials[i].
    """

    # Each thread adds two elements while it loads, so all of them add; flaw: in the last steps one
    # warp adds, but all warps wait at every barrier.
    @cuda.jit
    def reduce3(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid

        # Past the end of x a thread contributes zero. It must stay: the barriers need all threads.
        total = x[i] if i < x.size else float32(0)
        if i + BLOCK < x.size:
            total += x[i + BLOCK]
        shared[tid] = total
        cuda.syncthreads()

        stride = uint32(cuda.blockDim.x) >> uint32(1)
        while stride > 0:
            # The block's sum is the sum of the first 2·stride words.
            if tid < stride:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = stride >> uint32(1)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return reduce3


STEP = Step(
    module=__name__,
    name="reduce3",
    idea="two elements per thread are added while they are loaded",
    previous="reduce2",
    task=SUM,
    build=build,
    launch=elements_per_thread(2),
    calls=then_second_pass,
    choices={"BLOCK": BLOCKS},
)
