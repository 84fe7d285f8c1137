"""The second pass: from one partial sum per block to the sum of all elements.

The blocks of an ordinary launch cannot wait for each other, so the steps up to reduce8 store one
partial sum per block, and this pass adds them: in one launch of one block if there are few, in two
launches if one block alone would be the slowest part. Our times include the second pass,
while Gray and others 2022 time the first pass alone; it reads at most 1/BLOCK of what the first
pass reads.
"""

import numpy as np
from numba import cuda, float32, uint32

from utils.division import cdiv
from utils.ladder.step import Call, Launch

BLOCK = 256
SUMS_PER_BLOCK = 16 * BLOCK
MOST_BLOCKS = 1024


@cuda.jit
def second_pass(partials, sums):
    shared = cuda.shared.array(BLOCK, float32)
    tid = uint32(cuda.threadIdx.x)

    # The grid strides over the partial sums, so any grid covers all of them.
    total = float32(0)
    for i in range(cuda.grid(1), partials.size, cuda.gridsize(1)):
        total += partials[i]
    shared[tid] = total
    cuda.syncthreads()

    stride = BLOCK // 2
    while stride > 0:
        # The lower half adds the upper half; the total is the sum of the first 2·stride words.
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride //= 2

    if tid == 0:
        sums[cuda.blockIdx.x] = shared[0]


def then_second_pass(variant, shape, inputs, out, allocate) -> tuple[Call, ...]:
    """Return the call of a step that stores a partial sum per block, then those of the second pass.

    The kernel of `variant` stores the partial sums in memory of `allocate`. The second pass stores
    their sum in out[0].
    """
    launch = variant.launch(shape)
    partials = allocate(launch.blocks, np.float32)
    first = Call(variant.kernel, launch, (*inputs, partials))
    return first, *sum_of_partials(partials, out, allocate)


def sum_of_partials(partials, out, allocate) -> tuple[Call, ...]:
    """Return the one or two calls that store the sum of the array `partials` in out[0].

    There are two if `partials` has more than SUMS_PER_BLOCK elements; `allocate` then gives memory
    for the sums between them.
    """
    blocks = min(MOST_BLOCKS, cdiv(partials.size, SUMS_PER_BLOCK))
    last = Launch(grid=(1,), block=(BLOCK,))
    if blocks == 1:
        return (Call(second_pass, last, (partials, out)),)
    sums = allocate(blocks, np.float32)
    return (
        Call(second_pass, Launch(grid=(blocks,), block=(BLOCK,)), (partials, sums)),
        Call(second_pass, last, (sums, out)),
    )
