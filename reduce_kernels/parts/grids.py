"""How many blocks a reduction gets, when each thread reads a fixed number of elements."""

from functools import partial

from utils.ladder.step import Launch

# Threads per block: the default, then the others that a step takes.
BLOCKS = (256, 32, 64, 128, 512, 1024)
# Elements per thread, of a kernel that takes any grid: the default, then the others. Blocks of 256
# threads and 2^30 elements make grids from 2^21 blocks down to 64.
PER_THREAD = (8, 2, 64, 512, 2048, 4096, 8192, 16384, 65536)


def launch(shape, BLOCK, PER_THREAD):
    """As many blocks of BLOCK threads as it takes when each thread reads PER_THREAD elements."""
    return Launch(grid=(-(-shape.elements // (PER_THREAD * BLOCK)),), block=(BLOCK,))


def elements_per_thread(count):
    """The launch of a kernel whose threads read `count` elements each."""
    return partial(launch, PER_THREAD=count)
