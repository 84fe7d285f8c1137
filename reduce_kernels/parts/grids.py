"""The grid of a reduction whose threads each read a fixed number of elements."""

from functools import partial

from utils.division import cdiv
from utils.ladder.step import Launch

# Threads per block: the default, then the other choices of a step.
BLOCKS = (256, 32, 64, 128, 512, 1024)
# Elements per thread of a kernel that works with any grid: the default, then the other choices.
# With 256 threads per block and 2^30 elements, the grids have from 2^21 blocks down to 64.
PER_THREAD = (8, 2, 64, 512, 2048, 4096, 8192, 16384, 65536)


def launch(shape, BLOCK, PER_THREAD):
    """Return a launch with BLOCK threads per block, each of which reads PER_THREAD elements.

    The grid has one axis. Threads of the last block may have fewer elements.
    """
    return Launch(grid=(cdiv(shape.elements, PER_THREAD * BLOCK),), block=(BLOCK,))


def elements_per_thread(count):
    """Return a function (shape, BLOCK) -> Launch whose threads read `count` elements each."""
    return partial(launch, PER_THREAD=count)
