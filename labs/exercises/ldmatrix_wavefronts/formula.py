"""The right answers of `ldmatrix_wavefronts`."""

from math import gcd
from random import Random

from labs.numbers.exercise import Case

CHUNK = 8  # 16-bit elements of 16 bytes
GROUPS = 8  # groups of four banks, which hold 128 bytes
# The elements of a row, and what decides in this case.
CASES = (
    ((8,), "The rows follow each other without a gap, and eight of them are 128 bytes."),
    ((16,), "Rows 0 and 4 are in the same banks."),
    ((24,), "Three chunks per row: the eight rows begin in eight different groups."),
    ((32,), "Every second row is in the same banks."),
    ((40,), "Five chunks per row: the eight rows begin in eight different groups."),
    ((48,), "Six chunks per row: rows 0 and 4 are in the same banks."),
    ((64,), "A row is 128 bytes long, so all rows begin in bank 0."),
    ((72,), "A chunk more than 128 bytes moves each row to the next group."),
    ((96,), "Twelve chunks per row: every second row is in the same banks."),
    ((128,), "A row is twice 128 bytes long, so all rows begin in bank 0."),
)


def cases() -> list[Case]:
    """Return the cases, by the length of a row."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(columns):
    """Return the wavefronts in which eight rows of 16 bytes are read, 1 to 8.

    columns: the length of a row of the tile in elements of 16 bits, a multiple of 8.
    """
    return gcd(columns // CHUNK, GROUPS)


def draw(random: Random) -> tuple[int]:
    """Return a random argument of `right`: a multiple of 8."""
    return (CHUNK * random.randrange(1, 65),)
