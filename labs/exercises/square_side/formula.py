"""The right answers of `square_side`."""

from random import Random

from labs.numbers.exercise import Case
from utils.machine.occupancy import square_side as right


def cases() -> list[Case]:
    """Return the cases: first 768, for which most mistakes give different answers, then others."""
    sizes = (768, 1024, 640, 256, 64, 1023, 255, 100, 63, 32, 8, 4, 3, 1)
    return [
        Case((threads,), right(threads), f"The largest power of four up to {threads:,} is "
             f"{right(threads) ** 2:,}.")
        for threads in sizes
    ]  # fmt: skip


def draw(random: Random) -> tuple[int]:
    """Return a tuple with a random number of threads, from 1 to 1024."""
    return (random.randint(1, 4 ** random.randint(3, 5)),)
