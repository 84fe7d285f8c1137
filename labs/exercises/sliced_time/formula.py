"""The right answers of `sliced_time`."""

from random import Random

from labs.numbers.exercise import Case

# The times of b, a, the kernel and c in microseconds, and the number of slices.
CASES = (
    ((100, 400, 800, 200, 2), "The kernels of the 2 slices follow one another: 400 + 400."),
    ((100, 400, 800, 200, 1), "One slice is the whole product, and nothing runs beside it."),
    ((100, 400, 800, 200, 4), "The kernel is the slowest stage, so it never waits after its "
     "first slice."),
    ((100, 800, 400, 200, 4), "Here the copies of a are the slowest stage."),
    ((100, 200, 400, 800, 4), "Here the copies of c are the slowest stage."),
    ((300, 400, 800, 200, 8), "The copy of b comes first, and no slice runs beside it."),
    ((0, 600, 600, 600, 3), "All stages take 200 us per slice: with 3 slices, 5 times 200 us."),
    ((280, 2340, 5690, 700, 8), "The kernel is the slowest stage."),
    ((280, 2340, 5690, 700, 16), "The kernel is the slowest stage."),
    ((10, 20, 30, 40, 1000), "With many slices the slowest stage is nearly all of the time."),
    ((5000, 400, 800, 200, 4), "The copy of b comes first, and no slice runs beside it."),
    ((0, 0, 500, 0, 5), "Without copies, slices change nothing."),
)  # fmt: skip


def cases() -> list[Case]:
    """Return the cases: two slices in round numbers first."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(b, a, kernel, c, slices):
    """Return the time of a product in slices, in the unit of the given times.

    b, a, c: the times of the copies of these arrays. kernel: the time of the kernel for the whole
    product. slices: the number of equal slices of a and c.
    """
    stages = a / slices, kernel / slices, c / slices
    return b + sum(stages) + (slices - 1) * max(stages)


def draw(random: Random) -> tuple[int, int, int, int, int]:
    """Return random arguments of `right`: (b, a, kernel, c, slices)."""
    b, a, kernel, c = (random.randint(1, 9999) for _ in range(4))
    return b, a, kernel, c, random.randint(2, 32)


def branch(b: int, a: int, kernel: int, c: int, slices: int) -> int:
    """Return which stage is the slowest one: 0 for the copies of a, 1 for the kernel, 2 for c.

    b, slices: not used.
    """
    return max(range(3), key=(a, kernel, c).__getitem__)
