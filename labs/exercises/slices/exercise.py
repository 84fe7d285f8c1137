"""The number of slices along k with the shortest estimated time."""

from random import Random

from labs.checking.phrasing import counted
from labs.numbers.exercise import Case, NumbersExercise
from utils.division import cdiv

# The numbers of slices that `split_k` accepts: each is a separate kernel.
COUNTS = (1, 2, 3, 4, 6, 8, 12)
BEGINNING, ADDING = 2, 4  # times in steps of k


def waves(tiles: int, sms: int) -> int:
    """Return the number of waves that the tiles take; the last one may be partial."""
    return cdiv(tiles, sms)


def time_of(
    count: int,
    tiles: int,
    sms: int,
    steps: int,
    beginning: int = BEGINNING,
) -> int:
    """Return the estimated time in steps of k."""
    adding = ADDING if count > 1 else 0
    return waves(tiles * count, sms) * (cdiv(steps, count) + beginning) + adding


def possible(steps: int) -> list[int]:
    """Return the numbers of slices to try; a slice has at least one step."""
    return [count for count in COUNTS if count <= steps]


def best(tiles: int, sms: int, steps: int, beginning: int = BEGINNING) -> int:
    """Return the number of slices with the shortest estimated time; among equals, the smallest."""
    return min(possible(steps), key=lambda count: time_of(count, tiles, sms, steps, beginning))


# Tiles, SMs and steps; a different effect decides in each case.
CHOSEN = (
    (132, 132, 100, "All SMs have one tile each, so cutting brings nothing."),
    (8, 132, 64, "All slices fit into one wave, whatever their number."),
    (35, 132, 1060, "Four slices of each tile are more than there are SMs."),
    (3, 132, 128, "All slices fit into one wave, whatever their number."),
    (14, 132, 22, "Each slice has a beginning, and slices must be added."),
    (70, 132, 530, "Two slices of each tile are more than there are SMs."),
    (1, 132, 6, "A slice has at least one step."),
    (133, 132, 64, "One tile is left for a second wave."),
    (264, 132, 64, "The waves are full already."),
    (20, 132, 8, "Each slice has a beginning, and slices must be added."),
    (9, 40, 92, "Here the device has 40 SMs."),
    (15, 40, 414, "Here the device has 40 SMs."),
    (35, 40, 300, "Here the device has 40 SMs."),
    (50, 132, 13, "Each slice has a beginning, and slices must be added."),
    (1, 132, 2, "Each slice has a beginning, and slices must be added."),
    (1, 132, 1, "A slice has at least one step."),
    (700, 132, 40, "There are many waves, and the last one counts little."),
    (60, 132, 17, "Steps do not always divide: the longest slice counts."),
    (20, 132, 59, "Steps do not always divide: the longest slice counts."),
    (2, 132, 11, "Steps do not always divide: the longest slice counts."),
)


def cases() -> list[Case]:
    """Return the recorded choices, and a grid of other cases."""
    why = "Compare the estimates of both numbers."
    reasons = {one[:3]: one[3] for one in CHOSEN}
    reasons |= {
        (tiles, sms, steps): reasons.get((tiles, sms, steps), why)
        for tiles in (1, 5, 12, 33, 44, 67, 99, 150, 200)
        for sms in (40, 132)
        for steps in (5, 16, 47, 200)
    }
    return [Case(numbers, best(*numbers), words) for numbers, words in reasons.items()]


def draw(random: Random) -> tuple[int, int, int]:
    """Return tiles, SMs and steps.

    There are mostly fewer tiles than SMs, because slices pay off there.
    """
    sms = random.randint(8, 160)
    return random.randint(1, random.choice((sms, 6 * sms))), sms, random.randint(1, 600)


def no_number_of_slices(arguments: tuple[int, ...], answer: float) -> str:
    """Return what a wrong answer may be if it is not among the numbers to try, else ""."""
    steps = arguments[-1]
    if answer in possible(steps):
        return ""
    if answer in COUNTS:
        return f"A slice has at least one step, and there are {counted(steps, 'step')}."
    message = f"{answer} is none of the numbers to try: 1, 2, 3, 4, 6, 8 and 12."
    if any(answer == time_of(count, *arguments) for count in COUNTS):
        message += f" It is a time, {counted(int(answer), 'step')}. Return the number of slices."
    return message


def both_estimates(arguments: tuple[int, ...], answer: float) -> str:
    """Return sentences with the estimates for the right number and for the returned one."""
    tiles, sms, steps = arguments
    right = best(*arguments)
    parts = []
    for count in (right, int(answer)):
        if count not in possible(steps):
            continue
        passes = waves(tiles * count, sms)
        adding = f" + {ADDING}" if count > 1 else ""
        parts.append(
            f"{counted(count, 'slice')}: {counted(passes, 'wave')}, {passes}·({cdiv(steps, count)} "
            f"+ {BEGINNING}){adding} = {time_of(count, *arguments)} steps."
        )
    return (
        " ".join(parts).replace("slice:", "slice of a tile:").replace("slices:", "slices of each:")
    )


EXERCISE = NumbersExercise(
    name="slices",
    lesson="17",
    title="How many slices",
    text=(
        "Write `slices(tiles, sms, steps)`. A product has `tiles` tiles of c, each with `steps` "
        "steps along k; the device has `sms` SMs, and each computes one slice at a time. Try 1, 2, "
        "3, 4, 6, 8 and 12 slices for each tile, but no more than `steps`. Return the number "
        "with the shortest estimated time; of equals, the smallest. About 10 lines.",
        "The estimate, in steps: waves × (the steps of the longest slice + 2), and 4 more where "
        "tiles are cut at all. `tiles` times the number of slices, shared out to the SMs, make the "
        "waves; the last one may be part empty.",
    ),
    parameters=("tiles", "sms", "steps"),
    unit="slice",
    promises=("right where the last wave is part empty", "right on a device with 40 SMs"),
    cases=cases,
    right=best,
    draw=draw,
    enough=len(CHOSEN),
    beside=both_estimates,
    instead=no_number_of_slices,
    hints=(
        "Rounded up, `x / y` is `-(-x // y)`. You need that twice: for the waves, and for the "
        "steps of the longest slice.",
        "A loop: `for count in (1, 2, 3, 4, 6, 8, 12)`. In it, the waves come from `tiles * "
        "count` and `sms`.",
        "Keep the least time so far, and the count that has it. Which comparison keeps the "
        "smaller of two counts with equal times?",
    ),
    after="You can now estimate for any shape and any number of SMs what cutting brings.",
)  # fmt: skip
