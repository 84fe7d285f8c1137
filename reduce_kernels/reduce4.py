"""The last warp goes on alone: its lanes wait for each other and for no other warp.

Gray and others 2022 let the last warp run without waiting, on a volatile array. Since Volta that is
a race, so here syncwarp orders its lanes.
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

    # The last warp adds without block-wide barriers; flaw: each step of the tree computes its
    # stride, compares and branches.
    @cuda.jit
    def reduce4(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid

        # Past the end of x a thread contributes zero. It must stay: the barriers need all threads.
        total = x[i] if i < x.size else float32(0)
        if i + BLOCK < x.size:
            total += x[i + BLOCK]
        shared[tid] = total
        cuda.syncthreads()

        # The number of steps of the tree is known only at run time.
        stride = uint32(cuda.blockDim.x) >> uint32(1)
        while stride > 32:
            if tid < stride:
                shared[tid] += shared[tid + stride]
            cuda.syncthreads()
            stride = stride >> uint32(1)
        if tid < 32:
            while stride > 0:
                if tid < stride:
                    shared[tid] += shared[tid + stride]
                # Since Volta each lane has its own program counter, so the lanes of a warp need not
                # run in lockstep. No lane may read until all lanes have written.
                cuda.syncwarp()
                stride = stride >> uint32(1)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return reduce4


STEP = Step(
    module=__name__,
    name="reduce4",
    idea="the last warp adds without barriers of the block",
    previous="reduce3",
    task=SUM,
    build=build,
    launch=elements_per_thread(2),
    calls=then_second_pass,
    choices={"BLOCK": BLOCKS},
)
