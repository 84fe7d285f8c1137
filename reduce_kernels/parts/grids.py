"""How many blocks a reduction gets, when each thread reads a fixed number of elements."""

from functools import partial

from utils.ladder.step import Launch

# Threads per block: the default, then the others that a step takes.
BLOCKS = (256, 32, 64, 128, 512, 1024)
# Elements per thread, of a kernel that takes any grid. With the default and 2^30 elements there are
# 2^19 blocks; with 65536 there are 64, and with 4096 as many as a large GPU runs at once.
PER_THREAD = (8, 2, 64, 512, 2048, 4096, 65536)


def launch(shape, BLOCK, PER_THREAD):
    """As many blocks of BLOCK threads as it takes when each thread reads PER_THREAD elements."""
    return Launch(grid=(-(-shape.elements // (PER_THREAD * BLOCK)),), block=(BLOCK,))


def elements_per_thread(count):
    """The launch of a kernel whose threads read `count` elements each."""
    return partial(launch, PER_THREAD=count)
