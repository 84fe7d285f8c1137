"""The share of a launch's time for which its busiest resource is busy, as a function."""

from labs.exercises.busy_share import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="busy_share",
    lesson="21",
    title="The busiest resource",
    text=(
        "Write `busy_share(operations, dram, l2, wavefronts, instructions, ms)`: for what share of "
        "a launch's time its busiest resource is busy, in percent. About 3 lines.",
        "The launch takes `ms` milliseconds. The other arguments are its counts in 10⁹: "
        "operations, bytes of DRAM, bytes of L2, wavefronts and instructions. In a second an H200 "
        "serves 65,108 · 10⁹ operations, 4,294 · 10⁹ bytes of DRAM, 10,231 · 10⁹ bytes of L2, "
        "258 · 10⁹ wavefronts and 1,045 · 10⁹ instructions.",
    ),
    parameters=("operations", "dram", "l2", "wavefronts", "instructions", "ms"),
    unit="",
    whole=False,
    promises=("right whichever of the five resources is the busiest", "right for any time"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    hints=(
        "A count divided by its rate is the time in seconds for which this resource is busy. Both "
        "are in 10⁹, so this factor is not needed.",
        "All five resources work at the same time. Which of their five times decides how far the "
        "launch is from its limit?",
        "`ms` is in milliseconds, and a percentage is a hundred times the share.",
    ),
    after="The remaining part of the time is waiting, as far as the counts are right.",
)  # fmt: skip
