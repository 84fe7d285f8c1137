"""One launch: the block that draws the last ticket reduces the partial results of all blocks.

A ticket is a number that a block draws from an atomic counter after it has stored its partial
result. So the block with the last ticket finds all partial results stored.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from numba import cuda, float32, uint32, void

from reduce_kernels import reduce8
from reduce_kernels.parts.operations import SUM_OF_FLOAT32
from reduce_kernels.parts.trees import across_block
from reduce_kernels.parts.wide_loads import total_of_thread
from utils.ladder.step import Budget, Call, Step
from utils.ladder.tasks import SUM


@cache
def build(BLOCK, TURNS, operation=SUM_OF_FLOAT32):
    """Return the kernel (x, partials, drawn, out) that stores the reduction of x in out[0].

    A block has BLOCK threads, each of which reads 64·TURNS bytes, and block i stores its result in
    partials[i]. drawn[0] is the counter of tickets, 0 before and after the launch. `operation` is
    an Operation, the sum of float32 by default.
    """
    combine, identity, total_type = operation.combine, operation.identity, operation.total
    read = total_of_thread(operation, BLOCK, TURNS)
    across = across_block(operation, BLOCK)

    # The block that draws the last ticket adds all partial results, in the same launch and in a
    # fixed order; the remaining limit is the bandwidth of memory.
    @cuda.jit
    def reduce9(x, partials, drawn, out):
        ticket = cuda.shared.array(1, uint32)
        last = uint32(cuda.gridDim.x) - uint32(1)

        total = across(read(x))
        if cuda.threadIdx.x == 0:
            partials[cuda.blockIdx.x] = total
            # A block that sees this ticket drawn must also see the partial result.
            cuda.threadfence()
            # The counter begins at zero, counts to the last block and wraps to zero again, so
            # that the next launch finds it at zero, too.
            ticket[0] = cuda.atomic.inc(drawn, 0, last)
        cuda.syncthreads()

        if ticket[0] == last:
            # Every other block has drawn before. The sum is in the order of the blocks and not of
            # their tickets, so it has the same bits in every run.
            cuda.threadfence()
            total = total_type(identity)
            for i in range(uint32(cuda.threadIdx.x), partials.size, BLOCK):
                total = combine(total, partials[i])
            total = across(total)
            if cuda.threadIdx.x == 0:
                out[0] = total

    return reduce9


def calls(variant, shape, inputs, out, allocate):
    """Return a tuple of one Call that stores the result in out[0].

    `allocate` gives memory for the partial results and for the counter from which blocks draw their
    tickets; the counter is zero before and after the launch.
    """
    launch = variant.launch(shape)
    partials = allocate(launch.blocks, np.float32)
    drawn = allocate(1, np.uint32, fill=0)
    return (Call(variant.kernel, launch, (*inputs, partials, drawn, out)),)


STEP = Step(
    module=__name__,
    name="reduce9",
    idea="one launch: the block that finishes last reduces the partial sums",
    previous="reduce8",
    task=replace(SUM, signature=void(float32[::1], float32[::1], uint32[::1], float32[::1])),
    build=build,
    launch=reduce8.launch,
    calls=calls,
    choices=reduce8.STEP.choices,
    budget=Budget(global_bits=128),
)
