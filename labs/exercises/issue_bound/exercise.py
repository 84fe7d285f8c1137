"""The bound that a loop's instructions set, as a function."""

from labs.exercises.issue_bound import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="issue_bound",
    lesson="16",
    title="The bound of a loop's instructions",
    text=(
        "Write `issue_bound(instructions, multiply_adds, lanes)`: the share of the float32 peak, "
        "in percent, that a loop can reach at most. One iteration has `instructions` "
        "instructions, and `multiply_adds` of them are multiply-adds. About 3 lines.",
        "A scheduler starts one instruction per cycle. It has `lanes` lanes for float32, 32 on an "
        "H200 and 16 on a T4, so a multiply-add of a warp keeps them busy for `32 / lanes` cycles. "
        "At the peak they are busy in every cycle.",
    ),
    parameters=("instructions", "multiply_adds", "lanes"),
    unit="",
    whole=False,
    promises=("right with 32, 16 and 8 lanes", "never above 100"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    hints=(
        "With 32 lanes: how many cycles does one iteration take at least, and in how many of them "
        "do the lanes begin a multiply-add?",
        "With 16 lanes one multiply-add keeps them busy for two cycles. Meanwhile the scheduler "
        "can start another instruction.",
        "The lanes cannot be busy in more cycles than there are: `min(100, ...)`.",
    ),
    after="That means: where a scheduler has 16 lanes, half of its cycles are free for other "
    "instructions.",
)  # fmt: skip
