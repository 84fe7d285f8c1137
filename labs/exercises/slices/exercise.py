"""The number of slices along k with the shortest estimated time."""

from labs.checking.phrasing import counted
from labs.exercises.slices import formula
from labs.numbers.exercise import Case, NumbersExercise

# The numbers of slices that `split_k` accepts: each is a separate kernel.
COUNTS = (1, 2, 3, 4, 6, 8, 12)


def no_number_of_slices(case: Case, answer: float) -> str:
    """Return a sentence on a wrong answer that is no possible number of slices, else ""."""
    steps, times = case.given[-1], case.facts["times"]
    if answer in COUNTS and answer <= steps:
        return ""
    if answer in COUNTS:
        return f"A slice has at least one step, and there are {counted(steps, 'step')}."
    message = f"{answer} is none of the numbers to try: 1, 2, 3, 4, 6, 8 and 12."
    if answer in times:
        message += f" It is a time, {counted(int(answer), 'step')}. Return the number of slices."
    return message


def both_estimates(case: Case, answer: float) -> str:
    """Return sentences with the time estimates for the right number and for the returned one."""
    estimates = case.facts["estimates"]
    numbers = (str(case.right), str(int(answer)))
    return " ".join(estimates[number] for number in numbers if number in estimates)


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
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    enough=20,  # the cases that were chosen by hand
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
