"""Every block adds its sum to the result itself, without partial sums and in no fixed order."""

from functools import cache

from numba import cuda, float32

from reduce_kernels import reduce8
from reduce_kernels.parts.operations import SUM_OF_FLOAT32
from reduce_kernels.parts.trees import across_block
from reduce_kernels.parts.wide_loads import total_of_thread
from utils.ladder.step import Budget, Call, Launch, Step, one_call
from utils.ladder.tasks import SUM


@cache
def build(BLOCK, TURNS):
    """Return the kernel (x, out) whose blocks each add a sum of 16·BLOCK·TURNS floats to out[0].

    The caller sets out[0] to zero before the launch. BLOCK is the number of threads per block.
    """
    read = total_of_thread(SUM_OF_FLOAT32, BLOCK, TURNS)
    across = across_block(SUM_OF_FLOAT32, BLOCK)

    # Every block adds its sum to the result, so no second pass is needed; flaw: the order varies,
    # and each addition rounds.
    @cuda.jit
    def reduce_atomic(x, out):
        total = across(read(x))
        if cuda.threadIdx.x == 0:
            # The blocks add in the order in which they finish: two runs over the same numbers may
            # differ in their last digits.
            cuda.atomic.add(out, 0, total)

    return reduce_atomic


@cuda.jit
def clear(out):
    out[0] = float32(0)


def calls(variant, shape, inputs, out, allocate):
    """Return two Calls: one sets out[0] to zero, and one lets every block add its sum to it."""
    clearing = Call(clear, Launch(grid=(1,), block=(1,)), (out,))
    return clearing, *one_call(variant, shape, inputs, out, allocate)


STEP = Step(
    module=__name__,
    name="reduce_atomic",
    idea="every block adds its sum to the result atomically, in any order",
    previous="reduce8",
    task=SUM,
    build=build,
    launch=reduce8.launch,
    calls=calls,
    choices=reduce8.STEP.choices,
    budget=Budget(global_bits=128),
)
