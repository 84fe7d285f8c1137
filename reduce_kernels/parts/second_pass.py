"""The second pass: from one partial sum per block to the sum of everything.

The blocks of an ordinary launch cannot wait for each other, so the steps up to reduce8 leave one
partial sum per block, and this pass adds them: in one launch of one block while there are few, in
two launches when there are so many that one block would be the slowest part. Its time counts, where
Gray and others 2022 time the first pass alone; it reads the BLOCK-th part of what the first pass
reads, or less.
"""

import numpy as np
from numba import cuda, float32, uint32

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
        # The lower half adds the upper half to itself. The sum is now in the first 2·stride.
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride //= 2

    if tid == 0:
        sums[cuda.blockIdx.x] = shared[0]


def then_second_pass(variant, shape, inputs, out, allocate) -> tuple[Call, ...]:
    """The step, which leaves one partial sum per block, and the second pass into out[0]."""
    launch = variant.launch(shape)
    partials = allocate(launch.blocks, np.float32)
    first = Call(variant.kernel, launch, (*inputs, partials))
    return first, *sum_of_partials(partials, out, allocate)


def sum_of_partials(partials, out, allocate) -> tuple[Call, ...]:
    """out[0] = the sum of all partials, in one launch or in two."""
    blocks = min(MOST_BLOCKS, -(-partials.size // SUMS_PER_BLOCK))
    last = Launch(grid=(1,), block=(BLOCK,))
    if blocks == 1:
        return (Call(second_pass, last, (partials, out)),)
    sums = allocate(blocks, np.float32)
    return (
        Call(second_pass, Launch(grid=(blocks,), block=(BLOCK,)), (partials, sums)),
        Call(second_pass, last, (sums, out)),
    )
