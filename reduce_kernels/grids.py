"""How many blocks a reduction gets: enough for all elements, or as many as run at once."""

from functools import cache

from numba import cuda

from utils.steps import Launch

# Threads per block: the default, then the others that a step takes.
BLOCKS = (256, 32, 64, 128, 512, 1024)
# An SM holds 2048 threads and 32 blocks on the large GPUs (compute capability 8.0, 9.0 and 10.0).
# Where it holds fewer, the rest of the grid follows when the first blocks are done.
THREADS_PER_SM = 2048
BLOCKS_PER_SM = 32


def one_element_per_thread(shape, BLOCK):
    """One partial sum per BLOCK elements."""
    return Launch(grid=(-(-shape.elements // BLOCK),), block=(BLOCK,))


def two_elements_per_thread(shape, BLOCK):
    """One partial sum per 2·BLOCK elements."""
    return Launch(grid=(-(-shape.elements // (2 * BLOCK)),), block=(BLOCK,))


def resident(elements_per_turn):
    """The launch of a kernel whose grid strides over x: what fits on the GPU at once, or less.

    elements_per_turn: what a thread reads before the grid strides on.
    """

    def launch(shape, BLOCK):
        blocks = -(-shape.elements // (elements_per_turn * BLOCK))
        return Launch(grid=(min(blocks, resident_blocks(BLOCK)),), block=(BLOCK,))

    return launch


def resident_blocks(block):
    """Blocks of so many threads that the GPU holds at once, if registers and shared memory do."""
    return sms() * min(BLOCKS_PER_SM, THREADS_PER_SM // block)


@cache
def sms():
    """Multiprocessors of the GPU; without one, those of the device of the records."""
    return cuda.get_current_device().MULTIPROCESSOR_COUNT if cuda.is_available() else 132
