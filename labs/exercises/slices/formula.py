"""The right answers of `slices`, by the estimate of its task."""

from random import Random

from labs.checking.phrasing import counted
from labs.numbers.exercise import Case
from utils.division import cdiv

COUNTS = (1, 2, 3, 4, 6, 8, 12)
BEGINNING, ADDING = 2, 4  # times in steps of k


def waves(tiles: int, sms: int) -> int:
    """Return the number of waves in which the GPU runs these blocks; the last one may be partial.

    tiles: the number of blocks. sms: the number of SMs, each of which runs one block at a time.
    """
    return cdiv(tiles, sms)


def time_of(
    count: int,
    tiles: int,
    sms: int,
    steps: int,
    beginning: int = BEGINNING,
) -> int:
    """Return the estimated time of a product that is split along k, in steps of k.

    It is the time of all waves of blocks, and with several slices `ADDING` steps more, in which the
    slices are added. count: the number of slices. tiles: the number of tiles of c. sms: the number
    of SMs. steps: the steps along k. beginning: the time that a block takes in addition, in steps.
    """
    adding = ADDING if count > 1 else 0
    return waves(tiles * count, sms) * (cdiv(steps, count) + beginning) + adding


def possible(steps: int) -> list[int]:
    """Return the numbers of slices to try, ascending: those in COUNTS up to the number of steps."""
    return [count for count in COUNTS if count <= steps]


def right(tiles: int, sms: int, steps: int, beginning: int = BEGINNING) -> int:
    """Return the number of slices with the shortest estimated time; of several, the smallest.

    tiles: the number of tiles of c. sms: the number of SMs. steps: the steps along k. beginning:
    the time that a block takes in addition, in steps.
    """
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
    """Return the cases that were chosen by hand, and then a grid of other cases."""
    why = "Compare the estimates of both numbers."
    reasons = {one[:3]: one[3] for one in CHOSEN}
    reasons |= {
        (tiles, sms, steps): reasons.get((tiles, sms, steps), why)
        for tiles in (1, 5, 12, 33, 44, 67, 99, 150, 200)
        for sms in (40, 132)
        for steps in (5, 16, 47, 200)
    }
    return [Case(given, right(*given), words, facts(*given)) for given, words in reasons.items()]


def draw(random: Random) -> tuple[int, int, int]:
    """Return random arguments of `right`: (tiles, sms, steps).

    In most draws there are fewer tiles than SMs, because slices help then.
    """
    sms = random.randint(8, 160)
    return random.randint(1, random.choice((sms, 6 * sms))), sms, random.randint(1, 600)


def facts(tiles: int, sms: int, steps: int) -> dict:
    """Return a dict with "times" and "estimates" for the arguments of `right`.

    "times" is the list of the estimated times for the numbers of slices in COUNTS. "estimates" maps
    each possible number of slices, as text, to a sentence.
    """
    given = tiles, sms, steps
    return {
        "times": [time_of(count, *given) for count in COUNTS],
        "estimates": {str(count): estimate(count, *given) for count in possible(steps)},
    }


def estimate(count: int, tiles: int, sms: int, steps: int) -> str:
    """Return a sentence with the estimated time for one number of slices, count."""
    passes, adding = waves(tiles * count, sms), f" + {ADDING}" if count > 1 else ""
    each = "1 slice of a tile" if count == 1 else f"{count:,} slices of each"
    return (
        f"{each}: {counted(passes, 'wave')}, {passes}·({cdiv(steps, count)} + {BEGINNING}){adding} "
        f"= {time_of(count, tiles, sms, steps)} steps."
    )
