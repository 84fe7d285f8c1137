"""Every block adds its sum to the result by itself: no partial sums, and no fixed order."""

from functools import cache

from numba import cuda, float32

from reduce_kernels import reduce8
from reduce_kernels.operations import SUM_OF_FLOAT32
from reduce_kernels.trees import across_block
from reduce_kernels.wide_loads import total_of_thread
from utils.steps import Budget, Step, bind_kernel
from utils.tasks import SUM


@cache
def build(BLOCK, TURNS):
    """The kernel for blocks of BLOCK threads that read 16·TURNS elements each; out[0] is zero."""
    read = total_of_thread(SUM_OF_FLOAT32, BLOCK, TURNS)
    across = across_block(SUM_OF_FLOAT32, BLOCK)

    @cuda.jit
    def reduce_atomic(x, out):
        total = across(read(x))
        if cuda.threadIdx.x == 0:
            # Flaw: the blocks add in the order in which they finish, and each addition rounds. Two
            # runs over the same numbers may differ in their last digits.
            cuda.atomic.add(out, 0, total)

    return reduce_atomic


@cuda.jit
def clear(out):
    out[0] = float32(0)


def bind(variant, shape, inputs, out):
    """One reduction as a function without arguments: out[0] is cleared, then the launch."""
    add = bind_kernel(variant, shape, inputs, out)

    def execute():
        clear[1, 1](out)
        add()

    return execute


STEP = Step(
    name="reduce_atomic",
    idea="every block adds its sum to the result atomically, in any order",
    previous="reduce8",
    task=SUM,
    build=build,
    launch=reduce8.launch,
    choices=reduce8.STEP.choices,
    budget=Budget(global_bits=128),
    bind=bind,
)
