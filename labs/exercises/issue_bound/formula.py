"""The right answers of `issue_bound`."""

from random import Random

from labs.numbers.exercise import Case

# The instructions of a loop, its multiply-adds, and the float32 lanes of a scheduler.
CASES = (
    ((100, 50, 32), "Half of the instructions are multiply-adds, and each takes one cycle."),
    ((40, 40, 32), "All instructions are multiply-adds, so the loop can reach the peak."),
    ((31, 4, 32), "4 of 31 instructions are multiply-adds."),
    ((100, 20, 16), "With 16 lanes a warp's multiply-add takes 2 cycles of the lanes, and in one "
                    "of them the scheduler can start another instruction."),
    ((100, 50, 16), "Half of the instructions are enough here for all cycles of the lanes."),
    ((100, 80, 16), "No kernel is faster than the peak, which is 100 percent."),
    ((64, 8, 8), "With 8 lanes a warp's multiply-add takes 4 cycles of the lanes."),
    ((7, 3, 32), "3 of 7 instructions are multiply-adds, and the answer is no whole number."),
    ((131, 128, 32), "128 of 131 instructions are multiply-adds."),
)


def cases() -> list[Case]:
    """Return the cases: loops at full and at half issue rate, below the peak and at it."""
    return [Case(given, right(*given), why) for given, why in CASES]


def right(instructions, multiply_adds, lanes):
    """Return the highest rate of multiply-adds that a loop allows, in percent of the peak.

    It is at most 100. instructions, multiply_adds: their numbers in one iteration of the loop.
    lanes: the float32 lanes of a scheduler, which issues an instruction for 32 lanes per cycle.
    """
    return min(100, 100 * multiply_adds / instructions * 32 / lanes)


def draw(random: Random) -> tuple[int, int, int]:
    """Return random arguments of `right`: (instructions, multiply_adds, lanes)."""
    instructions = random.randint(8, 400)
    return instructions, random.randint(1, instructions), random.choice((32, 32, 16, 8))


def branch(instructions, multiply_adds, lanes) -> bool:
    """Return True if the lanes are the limit: they could not do more in the cycles of the loop."""
    return 32 * multiply_adds > lanes * instructions
