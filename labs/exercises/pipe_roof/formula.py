"""The right answers of `pipe_roof`."""

from random import Random

from labs.numbers.exercise import Case

# Multiply-adds, rows and broadcasts of an iteration, the peak in GFLOP/s, the bandwidth in GB/s.
# The cases without rows or without broadcasts come last: a formula that leaves one of the two out
# divides by zero there.
CASES = (
    ((1, 1, 1, 60_000, 32_000), "Two wavefronts serve the 64 operations of a multiply-add."),
    ((8, 1, 8, 60_000, 32_000), "9 wavefronts serve 8 multiply-adds."),
    ((6, 4, 1, 60_000, 32_000), "5 wavefronts serve 6 multiply-adds."),
    ((64, 8, 8, 60_000, 32_000), "By its wavefronts it could reach 128,000, above the peak."),
    ((4, 1, 4, 20_000, 8_000), "5 wavefronts serve 4 multiply-adds."),
    ((32, 8, 32, 100_000, 30_000), "40 wavefronts serve 32 multiply-adds."),
    ((1, 2, 0, 60_000, 32_000), "Two rows take as long as a row and a broadcast."),
    ((2, 1, 0, 32_000, 32_000), "This is the ridge: both ceilings are the same."),
    ((1, 0, 2, 60_000, 32_000), "Two broadcasts bring 8 bytes, and take two wavefronts."),
    ((10, 0, 1, 20_000, 2_000), "One broadcast serves 10 multiply-adds."),
)


def cases() -> list[Case]:
    """Return the cases: with and without broadcasts, and with each of the two ceilings."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(multiply_adds, rows, broadcasts, peak, bandwidth):
    """Return the attainable GFLOP/s: the lower one of the peak and the bound of the pipe.

    multiply_adds, rows, broadcasts: those of a warp in one iteration. peak: in GFLOP/s.
    bandwidth: in GB/s, with 128 bytes per wavefront.
    """
    operations = 64 * multiply_adds
    moved = 128 * (rows + broadcasts)
    return min(peak, operations / moved * bandwidth)


def draw(random: Random) -> tuple[int, int, int, int, int]:
    """Return random arguments of `right`: (multiply_adds, rows, broadcasts, peak, bandwidth).

    In half of the draws the peak is the limit, and in the other half the pipe is.
    """
    loop = random.randint(1, 64), random.randint(1, 16), random.randint(1, 16)
    bandwidth = random.randint(1_000, 40_000)
    by_pipe = right(*loop, float("inf"), bandwidth)
    return *loop, int(by_pipe * random.choice((0.6, 0.8, 1.3, 2.1))), bandwidth


def branch(multiply_adds, rows, broadcasts, peak, bandwidth) -> bool:
    """Return True if the peak is the limit, and False if the pipe is."""
    return right(multiply_adds, rows, broadcasts, peak, bandwidth) == peak
