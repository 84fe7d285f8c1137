"""The least time of a matrix product from two counts of its loop, as a function."""

from labs.exercises.least_ms import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="least_ms",
    lesson="06",
    title="The least time of a product",
    text=(
        "Write `least_ms(n, instructions, lines, sms, mhz)`: the least time of an n×n product in "
        "milliseconds. About 4 lines.",
        "A warp makes 32 multiply-adds at once, one per lane. For these it needs `instructions` "
        "instructions and `lines` cache lines. In a cycle, each of `sms` SMs starts at most four "
        "instructions, and meanwhile gets at most one cache line. The clock is `mhz` megahertz.",
    ),
    parameters=("n", "instructions", "lines", "sms", "mhz"),
    unit="",
    whole=False,
    promises=("right whichever of the two limits is the longer one", "right for any GPU"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    hints=(
        "An n×n product has n · n · n multiply-adds. How many are these for whole warps, and how "
        "many of them does one SM have, if all SMs get the same share?",
        "How many cycles do the instructions of one multiply-add take, and how many its cache "
        "lines? Both happen at the same time, so which of the two numbers counts?",
        "At 1 MHz a cycle takes a microsecond, and 1,000 microseconds are a millisecond. So "
        "`cycles / mhz / 1000` are milliseconds.",
    ),
    after="That means: instructions that you save shorten the time only if they are the longer "
    "limit.",
)  # fmt: skip
