"""Each thread adds eight elements before the tree: fewer trees, and more loads in flight.

Gray and others 2022 add into shared memory in each iteration, and do not fix the number of blocks.
Here the sum stays in a register, and there is one block per PER_THREAD·BLOCK elements.
"""

from functools import cache

from numba import cuda, float32, uint32

from reduce_kernels.parts.grids import BLOCKS, PER_THREAD, launch
from reduce_kernels.parts.second_pass import then_second_pass
from utils.ladder.step import Step
from utils.ladder.tasks import SUM


@cache
def kernel_of(BLOCK):
    """Return the kernel (x, partials) whose blocks each sum sections of x, with any grid.

    The sections of a block have the stride of the grid. Block i stores its sum in partials[i].
    BLOCK is the number of threads per block, a power of two. A grid of just the blocks that run at
    once is somewhat slower than many more blocks.
    """

    # Each thread adds eight elements before the tree, so there are fewer trees; flaw: every step of
    # a tree goes through shared memory, with a barrier after it.
    @cuda.jit
    def reduce6(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)

        # Neighbouring threads read neighbouring elements in every iteration, and the whole grid
        # reads one section of x after the other: each element once, whatever the grid.
        total = float32(0)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid
        while i < x.size:
            total += x[i]
            if i + BLOCK < x.size:
                total += x[i + BLOCK]
            i += uint32(cuda.gridDim.x) * (2 * BLOCK)
        shared[tid] = total
        cuda.syncthreads()

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

    return reduce6


STEP = Step(
    module=__name__,
    name="reduce6",
    idea="each thread adds eight elements before the tree",
    previous="reduce5",
    task=SUM,
    # The grid decides how many elements a thread adds, so the kernel is the same for all.
    build=lambda BLOCK, PER_THREAD: kernel_of(BLOCK),
    launch=launch,
    calls=then_second_pass,
    choices={"BLOCK": BLOCKS, "PER_THREAD": PER_THREAD},
)
