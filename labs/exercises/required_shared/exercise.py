"""The bytes of shared memory that a launch needs, as a function of the block's side."""

from labs.exercises.required_shared import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="required_shared",
    lesson="08",
    title="The shared memory of a block",
    text=(
        "A block of the tiled product has `side` × `side` threads. Each thread keeps one float32 "
        "of `a` and one of `b` in shared memory. Write `required_shared(side)`, which returns the "
        "bytes that a block needs. About 1 line.",
    ),
    parameters=("side",),
    unit="byte",
    promises=("right for every side",),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    hints=(
        "How many words are in a tile with `side` rows and `side` columns?",
        "A float32 has 4 bytes, and a block holds a tile of `a` and a tile of `b`.",
    ),
    after="The driver is given such a function when it looks for a block size.",
)  # fmt: skip
