"""How many blocks a reduction gets, when each thread reads a fixed number of elements."""

from utils.ladder.step import Launch

# Threads per block: the default, then the others that a step takes.
BLOCKS = (256, 32, 64, 128, 512, 1024)


def elements_per_thread(count):
    """The launch of a kernel whose threads read `count` elements each."""

    def launch(shape, BLOCK):
        return Launch(grid=(-(-shape.elements // (count * BLOCK)),), block=(BLOCK,))

    return launch
