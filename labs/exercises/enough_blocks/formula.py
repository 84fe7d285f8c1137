"""The right answers of `enough_blocks`."""

from random import Random

from labs.numbers.exercise import Case
from utils.division import cdiv

FULL = "All blocks are full here, so no further block is needed."
PART = "The last block is not full here, and its elements need a block, too."


def right(elements: int, threads: int) -> int:
    """Return the least number of blocks with a thread per element.

    elements: the length of the array, at least 1. threads: the number of threads per block.
    """
    return cdiv(elements, threads)


def cases() -> list[Case]:
    """Return the cases: first the lengths of lesson 00, then the limits of a block."""
    given = (
        (1024, 256), (1000, 256), (5000, 128), (256, 256), (257, 256), (255, 256), (1, 256),
        (2, 256), (511, 256), (512, 256), (513, 256), (600, 256), (600, 128), (1_000_000, 512),
        (1 << 28, 256), ((1 << 28) + 1, 256), (7, 1), (100_003, 1024), (33, 32), (1, 1024),
        (5000, 96), (960, 96),
    )  # fmt: skip
    return [Case(one, right(*one), PART if one[0] % one[1] else FULL) for one in given]


def draw(random: Random) -> tuple[int, int]:
    """Return random arguments of `right`: (elements, threads).

    The number of elements is often near a multiple of the number of threads.
    """
    threads = random.choice((32, 64, 96, 128, 192, 256, 320, 512, 640, 1024))
    blocks = random.randint(1, 5000)
    near = blocks * threads + random.randint(-2, 2)
    return random.choice((near, blocks * threads, random.randint(1, 10**6))), threads


def branch(elements: int, threads: int) -> tuple[bool, bool]:
    """Return whether all blocks are full, and whether their size is a power of two."""
    return elements % threads == 0, threads & (threads - 1) == 0
