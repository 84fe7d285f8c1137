"""The right answers of `least_ms`."""

from random import Random

from labs.numbers.exercise import Case

LANES = 32  # of a warp
# The side of the matrices; instructions and cache lines per multiply-add; SMs, and megahertz.
CASES = (
    ((320, 8, 1, 10, 1000), "The product has 1,024,000 multiply-adds of a warp, 102,400 for each "
                            "SM, and the instructions of each take 2 cycles."),
    ((320, 8, 3, 10, 1000), "The cache lines of a multiply-add take 3 cycles, and its instructions "
                            "only 2."),
    ((320, 8, 2, 10, 1000), "Instructions and cache lines take 2 cycles each, at the same time."),
    ((2048, 7, 1, 132, 1980), "The instructions of a multiply-add take 7 / 4 = 1.75 cycles."),
    ((2048, 7, 2, 132, 1980), "The two cache lines of a multiply-add take 2 cycles, its "
                              "instructions 1.75."),
    ((4096, 36, 2, 132, 1980), "The instructions of a multiply-add take 9 cycles."),
    ((1024, 6, 33, 40, 1590), "The 33 cache lines of a multiply-add take 33 cycles."),
    ((96, 5, 1, 7, 600), "5 / 4 instructions are more than 1 cycle."),
)


def cases() -> list[Case]:
    """Return the cases: round numbers first, with either limit as the longer one."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(n, instructions, lines, sms, mhz):
    """Return the least time in ms of an n×n product.

    instructions, lines: instructions and cache lines of a warp per multiply-add. sms: the number of
    SMs. mhz: their clock.
    """
    cycles = n**3 / LANES / sms * max(instructions / 4, lines)
    return cycles / mhz / 1000


def draw(random: Random) -> tuple[int, int, int, int, int]:
    """Return random arguments of `right`: (n, instructions, lines, sms, mhz)."""
    n = 32 * random.randint(1, 256)
    instructions, lines = random.randint(3, 60), random.randint(1, 33)
    return n, instructions, lines, random.randint(1, 160), random.randint(500, 2500)


def branch(n: int, instructions: int, lines: int, sms: int, mhz: int) -> bool:
    """Return True if the cache lines are the limit. n, sms, mhz: not used."""
    return lines > instructions / 4
