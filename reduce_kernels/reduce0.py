"""A tree in shared memory, whose steps add neighbours at a stride that doubles."""

from functools import cache

from numba import cuda, float32, uint32

from reduce_kernels.parts.grids import BLOCKS, elements_per_thread
from reduce_kernels.parts.second_pass import then_second_pass
from utils.ladder.step import Budget, Step
from utils.ladder.tasks import SUM


@cache
def build(BLOCK):
    """Return the kernel (x, partials) whose blocks sum BLOCK floats each.

    BLOCK is the number of threads per block, a power of two. Block i stores its sum in partials[i].
    """

    # Each step halves the number of sums, so a block needs log2 of BLOCK steps; flaw: the stride
    # between the threads that add grows, and every warp stays busy.
    @cuda.jit
    def reduce0(x, partials):
        shared = cuda.shared.array(BLOCK, float32)
        tid = uint32(cuda.threadIdx.x)
        i = cuda.grid(1)

        # Past the end of x a thread contributes zero. It must stay: the barriers need all threads.
        shared[tid] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()

        stride = uint32(1)
        while stride < cuda.blockDim.x:
            # Here shared[t] holds the sum of stride elements, for each t that is a multiple of
            # stride. The threads that still add have a stride of 2·stride, so every warp stays busy
            # with fewer and fewer of its lanes.
            if tid % uint32(2 * stride) == 0:
                shared[tid] += shared[tid + stride]
            # The next step reads what other threads wrote in this one.
            cuda.syncthreads()
            stride = uint32(2 * stride)

        if tid == 0:
            partials[cuda.blockIdx.x] = shared[0]

    return reduce0


STEP = Step(
    module=__name__,
    name="reduce0",
    idea="a tree of sums over neighbours; the threads that work lie ever farther apart",
    previous=None,
    task=SUM,
    build=build,
    launch=elements_per_thread(1),
    calls=then_second_pass,
    choices={"BLOCK": BLOCKS},
    budget=Budget(registers=16, global_bits=32, shared_bits=32),
)
