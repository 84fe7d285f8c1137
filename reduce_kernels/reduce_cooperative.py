"""One cooperative launch of as many blocks as fit at once, which all wait for each other."""

from dataclasses import replace
from functools import cache

import numpy as np
from numba import cuda, float32, uint32, void

from reduce_kernels.parts.grids import BLOCKS
from reduce_kernels.parts.operations import SUM_OF_FLOAT32
from reduce_kernels.parts.trees import across_block
from utils.division import cdiv
from utils.ladder.step import Budget, Call, Launch, Step
from utils.ladder.tasks import SUM

LOADS, THREADS_PER_SM, BLOCKS_PER_SM = 8, 1024, 16  # an SM of any GPU holds at least these


@cache
def build(BLOCK):
    """Return the kernel (x, partials, out) that stores the sum of x in out[0].

    All its blocks must run at once. Block i sums sections of x with the stride of the grid and
    stores its sum in partials[i]. BLOCK is the number of threads per block, a power of two.
    """
    across = across_block(SUM_OF_FLOAT32, BLOCK)

    # All blocks of one launch synchronize before one of them adds the partial sums; flaw: no block
    # waits to replace a finished one, and while they synchronize no load is in flight.
    @cuda.jit
    def reduce_cooperative(x, partials, out):
        total, values = float32(0), cuda.local.array(LOADS, float32)
        # The grid holds no more blocks than run at once: otherwise those that wait at the end would
        # keep the others from starting.
        i = uint32(cuda.blockIdx.x) * (LOADS * BLOCK) + uint32(cuda.threadIdx.x)
        while i < x.size:
            for load in range(LOADS):
                values[load] = x[i + load * BLOCK] if i + load * BLOCK < x.size else float32(0)
            for load in range(LOADS):
                total += values[load]
            i += uint32(cuda.gridDim.x) * (LOADS * BLOCK)
        total = across(total)
        if cuda.threadIdx.x == 0:
            partials[cuda.blockIdx.x] = total
        # No block passes before all have arrived: from here on every partial sum is written.
        cuda.cg.this_grid().sync()
        if cuda.blockIdx.x == 0:
            total = float32(0)
            for j in range(uint32(cuda.threadIdx.x), partials.size, BLOCK):
                total += partials[j]
            total = across(total)
            if cuda.threadIdx.x == 0:
                out[0] = total

    return reduce_cooperative


def launch(shape, BLOCK):
    """Return a launch of as many blocks as run at once on any GPU, but no more than x needs.

    Without a GPU, it is a launch for one SM.
    """
    sms = cuda.get_current_device().MULTIPROCESSOR_COUNT if cuda.is_available() else 1
    at_once = sms * min(BLOCKS_PER_SM, THREADS_PER_SM // BLOCK)
    return Launch((min(at_once, cdiv(shape.elements, LOADS * BLOCK)),), (BLOCK,))


def calls(variant, shape, inputs, out, allocate):
    """Return a tuple of one Call, a cooperative launch that stores the sum in out[0].

    `allocate` gives memory for one partial sum per block.
    """
    launch = variant.launch(shape)
    partials = allocate(launch.blocks, np.float32)
    return (Call(variant.kernel, launch, (*inputs, partials, out)),)


STEP = Step(
    module=__name__,
    name="reduce_cooperative",
    idea="one cooperative launch: one block adds the partial sums once all have met; slower",
    previous="reduce7",
    task=replace(SUM, signature=void(float32[::1], float32[::1], float32[::1])),
    build=build,
    launch=launch,
    calls=calls,
    choices={"BLOCK": BLOCKS},
    budget=Budget(spill_bytes=16),  # a stack of the runtime's barrier; no register is spilled
)
