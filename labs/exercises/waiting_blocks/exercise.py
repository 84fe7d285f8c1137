"""The most blocks that may wait for all others, as a function of the grid and the GPU."""

from labs.exercises.waiting_blocks import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="waiting_blocks",
    lesson="20",
    title="How many blocks may wait",
    text=(
        "A GPU has `sms` SMs, and each of them has room for `per_sm` blocks of a kernel at once. "
        "A grid has `blocks` blocks. Some of them wait until every block of the grid has drawn a "
        "number; the others draw and end. Write `waiting_blocks(blocks, sms, per_sm)`, which "
        "returns how many may wait at most, so that the launch always ends. About 3 lines.",
    ),
    parameters=("blocks", "sms", "per_sm"),
    unit="block",
    promises=("right for every grid and every GPU",),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    hints=(
        "A block that waits keeps its slot. Take the picture: two slots, four blocks. What happens "
        "if one of them waits, and what if two of them wait?",
        "Is the answer the same if the grid has no more blocks than the GPU has slots?",
    ),
    after="A cooperative launch has at most as many blocks as slots, so all of them may wait.",
)
