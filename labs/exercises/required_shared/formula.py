"""The right answers of `required_shared`."""

from random import Random

from labs.numbers.exercise import Case

FLOAT32_BYTES = 4


def right(side: int) -> int:
    """Return the bytes of two square tiles of float32. side: the side of a tile."""
    return 2 * side * side * FLOAT32_BYTES


def cases() -> list[Case]:
    """Return the cases, first side 16, for which every usual mistake gives a different answer."""
    why = "It is the bytes of two tiles."
    return [Case((side,), right(side), why) for side in (16, 8, 32, 4, 12, 1)]


def draw(random: Random) -> tuple[int]:
    """Return a tuple with a random side of a tile, from 1 to 1000."""
    return (random.randint(1, 1000),)
