"""The threads that add are neighbours, so that whole warps are done early."""

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

    # The threads that add are neighbours, so whole warps are done early; flaw: the stride between
    # the words that they touch grows, until all are in one bank.
    @cuda.jit
    def reduce1(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)

        # Past the end of x a thread contributes zero. It must stay: the barriers need all threads.
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(1)
        while stride < cuda.blockDim.x:
            # Here shared[t] holds the sum of stride elements, for each t that is a multiple of
            # stride. The first threads take one pair each. Neighbouring threads touch words that
            # are 2·stride apart, and words 32 apart share a bank: from stride 16 on all lanes that
            # add use the same bank, one after the other.
            left = uint32(2 * stride * tid)
            if left < cuda.blockDim.x:
                shared[left] += shared[left + stride]
            # The next step reads what other threads wrote in this one.
            cuda.syncthreads()
            stride = uint32(2 * stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return reduce1


STEP = Step(
    module=__name__,
    name="reduce1",
    idea="the same tree by neighbouring threads: whole warps finish early",
    previous="reduce0",
    task=SUM,
    build=build,
    launch=elements_per_thread(1),
    calls=then_second_pass,
    choices={"BLOCK": BLOCKS},
)
