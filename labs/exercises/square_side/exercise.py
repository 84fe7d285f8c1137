"""The side of a square block for a number of threads, rounded as the lab does."""

from labs.exercises.square_side import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="square_side",
    lesson="08",
    title="The side of a square block",
    text=(
        "Write `square_side(threads)`: the side of the largest square block that has at most "
        "`threads` threads and whose side is a power of two. The lab's way: the number of threads "
        "becomes 4^⌊log₄ threads⌋, where ⌊ ⌋ means rounded down, and the side is its root. About 2 "
        "lines.",
    ),
    parameters=("threads",),
    unit="",
    promises=("right for 1 to 1024 threads",),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    hints=(
        "By hand for 100 threads: powers of four are 1, 4, 16, 64, 256. The largest that is not "
        "larger than 100 is 64, and its root is 8.",
        "`math.log(x, 4)` is the logarithm with base 4, `math.floor` rounds down, `math.isqrt` is "
        "the root as a whole number.",
    ),
    after="The side is a power of two, so a tile of this side divides larger powers of two.",
)  # fmt: skip
