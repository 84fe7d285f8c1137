"""The right answers of `square_side`."""

from random import Random

from labs.numbers.exercise import Case
from utils.machine.occupancy import square_side as right


def cases() -> list[Case]:
    """Return cases with 768 first, where most slips differ, then powers of four and others."""
    sizes = (768, 1024, 640, 256, 64, 1023, 255, 100, 63, 32, 8, 4, 3, 1)
    return [
        Case((threads,), right(threads), f"The largest power of four up to {threads:,} is "
             f"{right(threads) ** 2:,}.")
        for threads in sizes
    ]  # fmt: skip


def draw(random: Random) -> tuple[int]:
    """Return a tuple with a number of threads, up to 64, 256 or 1024."""
    return (random.randint(1, 4 ** random.randint(3, 5)),)
