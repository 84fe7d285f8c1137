"""The lower half adds the upper half, so that neighbouring threads touch neighbouring words."""

from functools import cache

from numba import cuda, float32, uint32

from reduce_kernels.parts.grids import BLOCKS, elements_per_thread
from reduce_kernels.parts.second_pass import then_second_pass
from utils.ladder.step import Step
from utils.ladder.tasks import SUM


@cache
def build(BLOCK):
    """Return the kernel (x, partials) whose blocks sum BLOCK floats each.

    BLOCK is the number of threads per block, a power of two. Block i stores its sum in partials[i].
    """

    # Neighbouring threads touch neighbouring words, each in a bank of its own; flaw: half of the
    # threads load one element and never add.
    @cuda.jit
    def reduce2(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)

        # Past the end of x a thread contributes zero. It must stay: the barriers need all threads.
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(cuda.blockDim.x) >> uint32(1)
        while stride > 0:
            # The block's sum is the sum of the first 2·stride words. A warp reads 32 neighbours and
            # writes 32 neighbours: each lane has a bank of its own.
            if tid < stride:
                shared[tid] += shared[tid + stride]
            # The next step reads what other threads wrote in this one.
            cuda.syncthreads()
            stride = stride >> uint32(1)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return reduce2


STEP = Step(
    module=__name__,
    name="reduce2",
    idea="the upper half is added to the lower: no bank conflicts",
    previous="reduce1",
    task=SUM,
    build=build,
    launch=elements_per_thread(1),
    calls=then_second_pass,
    choices={"BLOCK": BLOCKS},
)
