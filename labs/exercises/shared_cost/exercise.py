"""The wavefronts of shared memory that a multiply-add costs, by the grain, as a function."""

from labs.exercises.shared_cost import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="shared_cost",
    lesson="10",
    title="What a multiply-add costs in shared memory",
    text=(
        "Write `shared_cost(grain, word_of_a)`: the wavefronts of shared memory that a product "
        "with tiles of 32×32 needs per multiply-add of a warp, if one tile of `a` serves `grain` "
        "tiles of `b`. About 3 lines.",
        "In one step of k a warp makes `grain` multiply-adds. For these it reads `grain` words of "
        "the tiles of `b`, which cost one wavefront each, and one word of the tile of `a`, which "
        "costs `word_of_a` wavefronts. For 32 steps it also stores one word of the tile of `a` and "
        "`grain` words of the tiles of `b`, and each store costs one wavefront.",
    ),
    parameters=("grain", "word_of_a"),
    unit="",
    whole=False,
    promises=("right for any grain", "right for any cost of a word of a"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    hints=(
        "Begin with `grain = 1`: two reads and a part of two stores, for one multiply-add.",
        "One step has `grain + word_of_a` wavefronts of reads. How many of the stores belong to "
        "it, if `1 + grain` stores serve 32 steps?",
        "What one step costs is for `grain` multiply-adds.",
    ),
    after="The part of the tile of a falls with the grain, and the part of the tiles of b stays.",
)  # fmt: skip
