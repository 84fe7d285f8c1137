"""The right answers of `busy_share`."""

from random import Random

from labs.numbers.exercise import Case

# Operations, bytes of DRAM and of L2, wavefronts and instructions in 10^9, and milliseconds.
CASES = (
    ((100, 1, 10, 1, 10, 20), "The issue slots are busy longest: 10 / 1,045 seconds."),
    ((100, 1, 10, 4, 10, 20), "The pipe is busy longest: 4 / 258 seconds."),
    ((100, 80, 80, 1, 1, 20), "DRAM is busy longest: 80 / 4,294 seconds."),
    ((100, 1, 150, 2, 5, 20), "L2 is busy longest: 150 / 10,231 seconds."),
    ((1000, 1, 10, 2, 10, 20), "Arithmetic is busy longest: 1,000 / 65,108 seconds."),
    ((100, 1, 10, 1, 10, 50), "The issue slots are busy for 9.57 ms, and the launch takes 50."),
    ((0, 9, 9, 1, 1, 4), "A copy makes no operation, and DRAM is busy longest."),
    ((137, 1, 43, 4, 17, 28), "The issue slots are busy for 16.3 ms, and the pipe for 15.5."),
    ((137, 1, 5, 1, 2, 4), "The pipe is busy for 3.88 ms, and arithmetic for 2.10."),
)  # fmt: skip


def cases() -> list[Case]:
    """Return the cases: each of the five resources is the busiest in at least one of them."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(operations, dram, l2, wavefronts, instructions, ms):
    """Return the percentage of `ms` for which the busiest resource of an H200 is busy.

    operations, wavefronts, instructions: counts of one launch, in 10^9. dram, l2: in GB.
    """
    seconds = max(
        operations / 65_108, dram / 4_294, l2 / 10_231, wavefronts / 258, instructions / 1_045
    )
    return 100_000 * seconds / ms


def draw(random: Random) -> tuple[int, int, int, int, int, int]:
    """Return random arguments of `right`: (operations, dram, l2, wavefronts, instructions, ms).

    Each of the five resources is the busiest about equally often.
    """
    most = (1000, 66, 157, 4, 16)
    counts = (random.randint(0, count) for count in most)
    return *counts, random.randint(20, 60)


def branch(operations, dram, l2, wavefronts, instructions, ms) -> int:
    """Return the position of the busiest resource in the arguments. ms: not used."""
    busy = operations / 65_108, dram / 4_294, l2 / 10_231, wavefronts / 258, instructions / 1_045
    return busy.index(max(busy))
