"""The right answers of `shared_for`."""

from random import Random

from labs.numbers.exercise import Case

SHARED, OF_DRIVER, UNIT, MOST = 233_472, 1024, 128, 32


def right(blocks: int) -> int:
    """Return the most bytes of shared memory per block with which `blocks` blocks fit on an SM."""
    return SHARED // blocks // UNIT * UNIT - OF_DRIVER


def cases() -> list[Case]:
    """Return a case for each number of blocks, from 1 to 32."""
    return [Case((blocks,), right(blocks), _why(blocks)) for blocks in range(1, MOST + 1)]


def _why(blocks: int) -> str:
    """Return a sentence with the bytes that each of `blocks` blocks takes of an SM."""
    return f"Each block may take {right(blocks) + OF_DRIVER:,} bytes, with the driver's 1,024."


def draw(random: Random) -> tuple[int]:
    """Return a random number of blocks, from 1 to 32."""
    return (random.randint(1, MOST),)
