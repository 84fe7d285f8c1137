"""The right answers of `gflops`."""

from random import Random

from labs.numbers.exercise import Case

# The sizes m, n and k of a product, and its time in microseconds.
CASES = (
    ((1000, 1000, 1000, 2000), "The product has 10^9 multiply-adds."),
    ((300, 200, 100, 6000), "The three sizes differ here."),
    ((7, 5, 3, 1), "The result has 7·5 = 35 elements, and each is a sum of 3 products."),
    ((4096, 4096, 4096, 144), "The product has 4096 · 4096 · 4096 multiply-adds."),
    ((1024, 1024, 1024, 20_000), "A GFLOP is 10^9 operations, also for sizes in powers of two."),
    ((512, 2048, 64, 10), "The three sizes differ here."),
    ((1, 1, 1, 1), "One element is one product, added to zero."),
)


def cases() -> list[Case]:
    """Return the cases: a square product in round numbers first, and the smallest one last."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(m, n, k, us):
    """Return the rate in GFLOP/s of the product of an m×k and a k×n matrix.

    us: its time in microseconds.
    """
    return 2 * m * n * k / us / 1000


def draw(random: Random) -> tuple[int, int, int, int]:
    """Return random arguments of `right`: (m, n, k, us)."""
    m, n, k = (random.randint(1, 5000) for _ in range(3))
    return m, n, k, random.randint(1, 100_000)
