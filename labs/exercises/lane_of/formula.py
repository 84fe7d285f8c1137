"""The right answers of `lane_of`."""

from itertools import product

from labs.numbers.exercise import Case
from virtual_gpu.numbers.fragments import ROWS

K = 8  # steps of k of one mma
# The elements that come first, by row and step of k, and what decides in each case.
FIRST = {
    (0, 0): "The first lane holds the first element.",
    (0, 2): "A lane holds two neighbours in a row, so the third element is the next lane's.",
    (0, 3): "A lane holds two neighbours in a row.",
    (0, 7): "Four lanes hold the eight elements of a row.",
    (1, 0): "Four lanes share a row, and the next four have the next row.",
    (3, 5): "Three rows of four lanes are above it, and two lanes of its own row before it.",
    (7, 7): "The last of 32 lanes holds the end of the eighth row.",
    (8, 0): "A lane holds elements of two rows, which are eight rows apart.",
    (11, 2): "The element eight rows above it has the same lane.",
    (15, 6): "The element eight rows above it has the same lane.",
}
OTHERS = "The rule of the other elements in its row holds for this one, too."


def cases() -> list[Case]:
    """Return a case per element of a: those of FIRST, and then the others row by row."""
    others = [given for given in product(range(ROWS), range(K)) if given not in FIRST]
    return [Case(given, right(*given), FIRST.get(given, OTHERS)) for given in (*FIRST, *others)]


def right(row, k):
    """Return the lane, 0 to 31, that holds element (row, k) of a 16×8 matrix a."""
    return row % 8 * 4 + k // 2
