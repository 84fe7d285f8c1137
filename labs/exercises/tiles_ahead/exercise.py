"""The number of tiles by which loads must be ahead of their use, as a function."""

from labs.exercises.tiles_ahead import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="tiles_ahead",
    lesson="14",
    title="How many tiles ahead",
    text=(
        "Write `tiles_ahead(latency, instructions, warps)`. A load takes `latency` cycles. An "
        "iteration of the loop over tiles has `instructions` instructions per warp. A scheduler "
        "has `warps` warps, and starts one instruction of one of them per cycle. Return the least "
        "whole number of iterations that surely last at least `latency` cycles together. About 2 "
        "lines.",
        "If the loads of a tile begin as many iterations before the tile is stored, no thread "
        "waits for them. With 1, a block needs the tile that it multiplies and the next one.",
    ),
    parameters=("latency", "instructions", "warps"),
    unit="tile",
    promises=("right where the latency is a multiple of an iteration, and where it is not",),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    hints=(
        "All warps of a scheduler make an iteration each, and it starts one instruction per cycle. "
        "How many cycles does this take at least?",
        "Rounded up, `x / y` is `-(-x // y)`.",
    ),
    after="The fewer instructions an iteration has, and the fewer warps, the more tiles must be "
    "on their way.",
)  # fmt: skip
