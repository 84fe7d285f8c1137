"""The tree is unrolled, because its size is a constant of the factory.

Gray and others 2022 use a volatile array in the last warp; here its lanes wait for each other.
"""

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

    # The compiler unrolls the steps of the tree; flaw: a block has only two loads per thread, and
    # most of the time none of its loads is in flight.
    @cuda.jit
    def reduce5(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid

        # Past the end of x a thread contributes zero. It must stay: the barriers need all threads.
        total = x[i] if i < x.size else float32(0)
        if i + BLOCK < x.size:
            total += x[i + BLOCK]
        shared[tid] = total
        cuda.syncthreads()

        # BLOCK is a constant for the compiler, so it unrolls the steps.
        stride = uint32(BLOCK >> 1)
        while stride > 32:
            if tid < stride:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = stride >> uint32(1)
        if tid < 32:
            while stride > 0:
                if tid < stride:
                    shared[tid] += shared[tid + stride]
                cuda.syncwarp()
                stride = stride >> uint32(1)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return reduce5


STEP = Step(
    module=__name__,
    name="reduce5",
    idea="the tree is unrolled, because its size is known when the kernel is compiled",
    previous="reduce4",
    task=SUM,
    build=build,
    launch=elements_per_thread(2),
    calls=then_second_pass,
    choices={"BLOCK": BLOCKS},
)
