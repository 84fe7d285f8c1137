"""The number of blocks of a launch, as a function of the length of the array."""

from labs.exercises.enough_blocks import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="enough_blocks",
    lesson="00",
    title="Enough blocks",
    text=(
        "Write `enough_blocks(elements, threads)`. It returns the smallest number of blocks that "
        "has a thread for each element; a block has `threads` threads. About 1 line.",
    ),
    parameters=("elements", "threads"),
    unit="block",
    promises=("right for every length and every block size",),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    integers=True,
    hints=(
        "`//` rounds down. If elements are left over, they need one more block. Try 256 and 257.",
        "What can you add to the elements before you divide, so that one element too many reaches "
        "the next block, and a full block does not?",
    ),
    after="Every launch in this course computes its blocks in this way.",
)
