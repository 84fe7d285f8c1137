"""The number of slices along k with the shortest estimated time."""

from random import Random

from labs.numbers import Case, NumbersExercise, Slip
from labs.words import counted

# As many as `split_k` is given: each is a kernel of its own that adds so many slices.
COUNTS = (1, 2, 3, 4, 6, 8, 12)
BEGINNING, ADDING = 2, 4  # in steps


def waves(tiles: int, sms: int) -> int:
    """How often all SMs are filled, the last time perhaps not to the end."""
    return -(-tiles // sms)


def time_of(
    count: int,
    tiles: int,
    sms: int,
    steps: int,
    turns=waves,
    length=lambda steps, count: -(-steps // count),
    beginning: int = BEGINNING,
    adding=lambda count: ADDING if count > 1 else 0,
) -> float:
    """The estimate, in steps; what stands last can be mistaken."""
    return turns(tiles * count, sms) * (length(steps, count) + beginning) + adding(count)


def possible(steps: int) -> list[int]:
    """The numbers to try: a slice has at least one step."""
    return [count for count in COUNTS if count <= steps]


def best(score=time_of, counts=possible, last=False):
    """The search with another estimate or other numbers of slices, or the largest of equals."""

    def search(tiles: int, sms: int, steps: int) -> int:
        times = {count: score(count, tiles, sms, steps) for count in counts(steps)}
        found = [count for count, time in times.items() if time == min(times.values())]
        return found[-1 if last else 0]

    return search


def with_estimate(**mistaken):
    """The search with a part of the estimate mistaken."""
    return best(lambda *given: time_of(*given, **mistaken))


def least_time(tiles: int, sms: int, steps: int) -> float:
    """The estimated time of the best number."""
    return time_of(best()(tiles, sms, steps), tiles, sms, steps)


# Tiles, SMs and steps; in each something else decides.
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
    """What was chosen, and a grid of others."""
    why = "Compare the estimates of both numbers."
    given = {one[:3]: one[3] for one in CHOSEN}
    given |= {
        (tiles, sms, steps): given.get((tiles, sms, steps), why)
        for tiles in (1, 5, 12, 33, 44, 67, 99, 150, 200)
        for sms in (40, 132)
        for steps in (5, 16, 47, 200)
    }
    return [Case(numbers, best()(*numbers), words) for numbers, words in given.items()]


def draw(random: Random) -> tuple[int, int, int]:
    """Tiles, SMs and steps: mostly fewer tiles than SMs, where cutting brings something."""
    sms = random.randint(8, 160)
    return random.randint(1, random.choice((sms, 6 * sms))), sms, random.randint(1, 600)


def no_number_of_slices(given: tuple[int, ...], answer: float) -> str:
    """Where the answer is none of the numbers to try: what it may be."""
    steps = given[-1]
    if answer in possible(steps):
        return ""
    if answer in COUNTS:
        return f"A slice has at least one step, and there are {counted(steps, 'step')}."
    told = f"{answer} is none of the numbers to try: 1, 2, 3, 4, 6, 8 and 12."
    if any(answer == time_of(count, *given) for count in COUNTS):
        told += f" It is a time, {counted(int(answer), 'step')}. Return the number of slices."
    return told


def both_estimates(given: tuple[int, ...], answer: float) -> str:
    """The estimate of the right number and of the one that was returned."""
    tiles, sms, steps = given
    right = best()(*given)
    told = []
    for count in (right, int(answer)):
        if count not in possible(steps):
            continue
        turns = waves(tiles * count, sms)
        adding = f" + {ADDING}" if count > 1 else ""
        told.append(
            f"{counted(count, 'slice')}: {counted(turns, 'wave')}, {turns}·({-(-steps // count)} "
            f"+ {BEGINNING}){adding} = {time_of(count, *given)} steps."
        )
    return (
        " ".join(told).replace("slice:", "slice of a tile:").replace("slices:", "slices of each:")
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
    right=best(),
    draw=draw,
    enough=len(CHOSEN),
    beside=both_estimates,
    instead=no_number_of_slices,
    slips=(
        Slip("Of equals this is the largest number, and the smallest is asked for.",
             best(last=True)),
        Slip("Your function never cuts a tile. Waves are `tiles * count` shared out to the SMs, "
             "then rounded up; and a slice has fewer steps than a tile. Compare your estimates "
             "with these:",
             lambda *given: 1, numbers=True),
        Slip("This is always the largest number of slices. Where more than one wave comes of it, "
             "or a slice has few steps, that is slow.",
             lambda tiles, sms, steps: possible(steps)[-1]),
        Slip("This is the largest number of slices that fits into one wave. Count the beginnings "
             "and the adding, too; and more than one wave can be worth it.",
             lambda tiles, sms, steps: [c for c in possible(steps) if c == 1 or c * tiles <= sms
                                        ][-1]),
        Slip("The last wave is left out where it is part empty, and there is at least one: your "
             "division rounds down.",
             with_estimate(turns=lambda tiles, sms: max(1, tiles // sms))),
        Slip("There is one wave more than needed where the last one is full: `// sms + 1`.",
             with_estimate(turns=lambda tiles, sms: tiles // sms + 1)),
        Slip("There is one step more than needed in a slice where steps divide: `steps // count "
             "+ 1`.",
             with_estimate(length=lambda steps, count: steps // count + 1)),
        Slip("Where a division leaves no rest, there is one wave and one step more than needed: "
             "`// sms + 1` and `// count + 1`.",
             with_estimate(turns=lambda tiles, sms: tiles // sms + 1,
                           length=lambda steps, count: steps // count + 1)),
        Slip("There is one wave more than needed where the last one is full: `// sms + 1`. And a "
             "slice has `steps // count` steps, where the longest one has more if steps do not "
             "divide.",
             with_estimate(turns=lambda tiles, sms: tiles // sms + 1,
                           length=lambda steps, count: steps // count)),
        Slip("The number of slices makes no difference to your waves. Cut tiles are more: `tiles` "
             "times the number of slices.",
             with_estimate(turns=lambda tiles, sms: 1)),
        Slip("The number of slices makes no difference to your waves. Cut tiles are more: `tiles` "
             "times the number of slices.",
             best(lambda count, tiles, sms, steps: time_of(
                 count, tiles, sms, steps, turns=lambda all_of_them, sms: waves(tiles, sms)))),
        Slip("The 2 steps with which a slice begins are missing in your estimate, or count once. "
             "They count in each wave.",
             with_estimate(beginning=0)),
        Slip("The 4 steps for adding make no difference to your answers: they are missing, or "
             "count for a tile that is not cut, too.",
             with_estimate(adding=lambda count: 0)),
        Slip("The 4 steps count for each slice in your estimate. They count once.",
             with_estimate(adding=lambda count: ADDING * count if count > 1 else 0)),
        Slip("The 4 steps count for each slice behind the first in your estimate. They count once.",
             with_estimate(adding=lambda count: ADDING * (count - 1))),
        Slip("The 4 steps count in each wave in your estimate. They count once.",
             best(lambda count, tiles, sms, steps: time_of(
                 count, tiles, sms, steps, adding=lambda count: 0)
                 + (ADDING * waves(tiles * count, sms) if count > 1 else 0))),
        Slip("The 4 steps count in each wave in your estimate, and for a tile that is not cut, "
             "too. They count once, and only where tiles are cut.",
             with_estimate(beginning=BEGINNING + ADDING, adding=lambda count: 0)),
        Slip("A slice has `steps // count` steps in your estimate. Where steps do not divide, the "
             "longest slice has one more, and its wave ends with it.",
             with_estimate(length=lambda steps, count: steps // count)),
        Slip("A slice has `steps / count` steps in your estimate. Where steps do not divide, the "
             "longest slice has more, and its wave ends with it.",
             with_estimate(length=lambda steps, count: steps / count)),
        Slip("More slices are tried than a tile has steps.", best(counts=lambda steps: COUNTS)),
        Slip("12 slices are not tried.", best(counts=lambda steps: [
            count for count in COUNTS[:-1] if count <= steps])),
        Slip("Every number from 1 to 12 is tried, and the task names seven.",
             best(counts=lambda steps: range(1, min(12, steps) + 1))),
        Slip("Every number from 1 to 11 is tried, and the task names seven.",
             best(counts=lambda steps: range(1, min(11, steps) + 1))),
        Slip("Every number from 1 to 12 is tried, and the task names seven. And the 4 steps count "
             "for a tile that is not cut, too, or are missing.",
             best(lambda *given: time_of(*given, adding=lambda count: 0),
                  counts=lambda steps: range(1, min(12, steps) + 1))),
        Slip("Only powers of two are tried.",
             best(counts=lambda steps: [c for c in (1, 2, 4, 8) if c <= steps])),
        Slip("One slice, a tile that is not cut, is not tried.",
             lambda tiles, sms, steps: 0 if steps == 1 else best(
                 counts=lambda steps: possible(steps)[1:])(tiles, sms, steps)),
        Slip("As many slices as a tile has steps are not tried: `<` stands where `<=` is meant.",
             lambda tiles, sms, steps: 0 if steps == 1 else best(
                 counts=lambda steps: possible(steps - 1))(tiles, sms, steps)),
        Slip("This has the longest estimated time, and the shortest is asked for.",
             best(lambda *given: -time_of(*given))),
        Slip("This is the shortest time. The number of slices that has it is asked for.",
             least_time),
        Slip("This is the shortest time, and of more slices than a tile has steps, too. The number "
             "of slices that has it is asked for.",
             lambda *given: min(time_of(count, *given) for count in COUNTS)),
        Slip("This is the place in the list, from 0 on. The number of slices at that place is "
             "asked for.",
             lambda *given: COUNTS.index(best()(*given))),
        Slip("This is the number of waves. The number of slices is asked for.",
             lambda tiles, sms, steps: waves(tiles * best()(tiles, sms, steps), sms)),
        Slip("This is the number of all slices. The number of slices of one tile is asked for.",
             lambda tiles, sms, steps: tiles * best()(tiles, sms, steps)),
    ),
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
