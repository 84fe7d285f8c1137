"""Four loads of 16 bytes are in flight in each thread before the first value is added."""

from functools import cache

from numba import cuda

from reduce_kernels.parts.operations import SUM_OF_FLOAT32
from reduce_kernels.parts.second_pass import then_second_pass
from reduce_kernels.parts.trees import across_block
from reduce_kernels.parts.wide_loads import blocks, total_of_thread
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import SUM


@cache
def build(BLOCK, TURNS):
    """Return the kernel (x, partials) whose blocks sum 16·BLOCK·TURNS floats each.

    Block i, with BLOCK threads, a multiple of 32, stores its sum in partials[i].
    """
    read = total_of_thread(SUM_OF_FLOAT32, BLOCK, TURNS)
    across = across_block(SUM_OF_FLOAT32, BLOCK)

    # Each thread has four loads of 16 bytes in flight; flaw: the partial sums wait in memory for
    # a second kernel, and its launch costs more than reading them.
    @cuda.jit
    def reduce8(x, partials):
        total = across(read(x))
        if cuda.threadIdx.x == 0:
            partials[cuda.blockIdx.x] = total

    return reduce8


def launch(shape, BLOCK, TURNS):
    """Return a launch with one block of BLOCK threads per 16·BLOCK·TURNS elements.

    The grid has one axis and at least one block.
    """
    return Launch(grid=(blocks(shape.bytes_min, BLOCK, TURNS),), block=(BLOCK,))


STEP = Step(
    module=__name__,
    name="reduce8",
    idea="loads of 16 bytes, four of them under way in each thread",
    previous="reduce7",
    task=SUM,
    build=build,
    launch=launch,
    calls=then_second_pass,
    choices={"BLOCK": (1024, 32, 64, 128, 256, 512), "TURNS": (4, 1)},
    budget=Budget(global_bits=128),
)
