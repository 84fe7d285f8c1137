"""The right answers of `tiles_ahead`."""

from random import Random

from labs.numbers.exercise import Case

# The cycles of a load, the instructions of an iteration, and the warps of a scheduler.
CASES = (
    ((700, 613, 4), "An iteration takes at least 2,452 cycles, which is longer than the load."),
    ((700, 100, 4), "An iteration takes at least 400 cycles, so one is too short, and two last "
                    "800."),
    ((700, 50, 2), "An iteration takes at least 100 cycles, and seven of them last as long as the "
                   "load."),
    ((701, 50, 2), "Seven iterations last 700 cycles, which is one too few."),
    ((700, 700, 1), "One iteration lasts exactly as long as the load."),
    ((700, 90, 1), "An iteration takes at least 90 cycles, and eight of them last 720."),
    ((29, 76, 4), "An iteration takes at least 304 cycles, much longer than the load."),
    ((60, 7, 1), "An iteration takes at least 7 cycles, and nine of them last 63."),
    ((1000, 24, 16), "An iteration takes at least 384 cycles, and three of them last 1,152."),
)  # fmt: skip


def cases() -> list[Case]:
    """Return the cases: iterations that are longer, shorter and as long as the load."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(latency, instructions, warps):
    """Return the least number of iterations that last at least `latency` cycles.

    instructions: those of an iteration, per warp. warps: those of a scheduler.
    """
    return -(-latency // (instructions * warps))


def draw(random: Random) -> tuple[int, int, int]:
    """Return random arguments of `right`: (latency, instructions, warps).

    In one of three draws the latency is a multiple of an iteration.
    """
    latency, instructions = random.randint(200, 1200), random.randint(10, 120)
    warps = random.randint(1, 8)
    if random.randrange(3) == 0:
        latency = instructions * warps * random.randint(1, 8)
    return latency, instructions, warps


def branch(latency: int, instructions: int, warps: int) -> bool:
    """Return True if the latency is a multiple of an iteration."""
    return latency % (instructions * warps) == 0
