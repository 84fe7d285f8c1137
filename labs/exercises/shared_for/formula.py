"""The right answers of `shared_for`."""

from random import Random

from labs.numbers.exercise import Case

SHARED, OF_DRIVER, UNIT, MOST = 233_472, 1024, 128, 32


def right(blocks: int, static_bytes: int) -> int:
    """Return the most dynamic shared memory per block, in bytes, with which an SM holds `blocks`.

    static_bytes: the static shared memory of the kernel per block.
    """
    return SHARED // blocks // UNIT * UNIT - OF_DRIVER - static_bytes


def cases() -> list[Case]:
    """Return a case for each number of blocks, from 1 to 32, and then some with static memory."""
    given = [(blocks, 0) for blocks in range(1, MOST + 1)]
    given += [(8, 2048), (4, 8192), (3, 8448), (2, 33_280), (1, 49_152), (5, 100), (32, 6272)]
    return [Case(one, right(*one), _why(*one)) for one in given]


def _why(blocks: int, static_bytes: int) -> str:
    """Return a sentence with the bytes that each of `blocks` blocks may take of an SM."""
    taken = right(blocks, static_bytes) + OF_DRIVER + static_bytes
    return (
        f"Each block may take {taken:,} bytes, a multiple of {UNIT}, with the driver's 1,024 and "
        "the kernel's."
    )


def draw(random: Random) -> tuple[int, int]:
    """Return random arguments of `right`: (blocks, static_bytes).

    An SM has room for this number of blocks with this static shared memory.
    """
    blocks = random.randint(1, MOST)
    return blocks, random.randint(1, min(49_152, right(blocks, 0)))
