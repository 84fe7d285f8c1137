"""The right answers of `attainable`."""

from random import Random

from labs.numbers.exercise import Case

# The sides of the tile, the peak in GFLOP/s and the bandwidth in GB/s.
CASES = (
    ((32, 32, 60_000, 4_000), 32_000, "A block makes 8 operations for each byte."),
    ((128, 128, 60_000, 1_000), 32_000, "A block makes 32 operations for each byte."),
    ((32, 32, 20_000, 4_000), 20_000, "By its bytes it could reach 32,000, and the peak is less."),
    ((64, 128, 100_000, 3_000), 64_000, "8,192 multiply-adds for 192 words: the sides differ."),
    ((32, 8, 60_000, 5_000), 16_000, "256 multiply-adds for 40 words: 3.2 operations a byte."),
    ((1, 1, 60_000, 4_000), 1_000, "One multiply-add for two words: a quarter of an operation."),
    ((16, 48, 60_000, 200), 1_200, "768 multiply-adds for 64 words: 6 operations a byte."),
    ((96, 128, 150_000, 7_000), 150_000, "By its bytes it could reach 192,000."),
    ((32, 32, 32_000, 4_000), 32_000, "This is the ridge: both ceilings are the same."),
)


def cases() -> list[Case]:
    """Return the cases in which the bandwidth limits the rate, and those in which the peak does."""
    return [Case(*one) for one in CASES]


def right(BM, BN, peak, bandwidth):
    """Return the attainable GFLOP/s: the lower one of the peak and the bandwidth bound.

    BM, BN: the sides of a tile. peak: in GFLOP/s. bandwidth: in GB/s.
    """
    return min(peak, 2 * BM * BN / (4 * (BM + BN)) * bandwidth)


def draw(random: Random) -> tuple[int, int, int, int]:
    """Return random arguments of `right`: (BM, BN, peak, bandwidth).

    In half of the draws the peak is the limit, and in the other half the bandwidth is.
    """
    sides, bandwidth = (random.randint(4, 256), random.randint(4, 256)), random.randint(200, 10_000)
    by_bytes = right(*sides, float("inf"), bandwidth)
    return *sides, int(by_bytes * random.choice((0.6, 0.8, 1.3, 2.1))), bandwidth


def branch(BM, BN, peak, bandwidth) -> bool:
    """Return True if the peak is the limit, and False if the bandwidth is."""
    return right(BM, BN, peak, bandwidth) == peak
