"""Lanes exchange their sums between registers; shared memory holds one word per warp.

Gray and others 2022 use only as many shuffles as a small block needs; here there are always five.
"""

from functools import cache

from numba import cuda, float32, uint32

from reduce_kernels.parts.grids import BLOCKS, PER_THREAD, launch
from reduce_kernels.parts.second_pass import then_second_pass
from utils.ladder.step import Step
from utils.ladder.tasks import SUM

ALL_LANES = 0xFFFFFFFF


@cache
def kernel_of(BLOCK):
    """Return the kernel (x, partials) whose blocks each sum sections of x, with any grid.

    The sections of a block have the stride of the grid. Block i stores its sum in partials[i].
    BLOCK is the number of threads per block, a multiple of 32.
    """
    WARPS = BLOCK // 32

    # Shuffles add within a warp without shared memory, so that one barrier is left; flaw: a load
    # reads only four bytes, and few loads are in flight at once.
    @cuda.jit
    def reduce7(x, partials):
        of_warps = cuda.shared.array(WARPS, float32)
        tid = uint32(cuda.threadIdx.x)

        # The condition of the loop separates every two loads from the next two.
        total = float32(0)
        i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid
        while i < x.size:
            total += x[i]
            if i + BLOCK < x.size:
                total += x[i + BLOCK]
            i += uint32(cuda.gridDim.x) * (2 * BLOCK)

        # After each shuffle lane l holds the sum of the lanes l to l + 2·distance - 1.
        for step in range(5):
            total += cuda.shfl_down_sync(ALL_LANES, total, 16 >> step)
        if tid % uint32(32) == 0:
            of_warps[tid // uint32(32)] = total
        cuda.syncthreads()

        # One sum per warp is left, at most 32: one warp adds them in the same way.
        if tid < 32:
            total = of_warps[tid] if tid < WARPS else float32(0)
            for step in range(5):
                total += cuda.shfl_down_sync(ALL_LANES, total, 16 >> step)
            if tid == 0:
                partials[cuda.blockIdx.x] = total

    return reduce7


STEP = Step(
    module=__name__,
    name="reduce7",
    idea="shuffles within the warps: one barrier, and one word of shared memory per warp",
    previous="reduce6",
    task=SUM,
    # The grid decides how many elements a thread adds, so the kernel is the same for all.
    build=lambda BLOCK, PER_THREAD: kernel_of(BLOCK),
    launch=launch,
    calls=then_second_pass,
    choices={"BLOCK": BLOCKS, "PER_THREAD": PER_THREAD},
)
