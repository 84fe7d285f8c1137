"""The rate of a matrix product from its sizes and its time."""

from labs.exercises.gflops import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="gflops",
    lesson="01",
    title="A rate in GFLOP/s",
    text=(
        "Write `gflops(m, n, k, us)`, which returns the rate of a product in GFLOP/s. The product "
        "of an m×k and a k×n matrix took `us` microseconds. About 3 lines.",
        "Each element of the result is a sum of k products. Count a multiplication as one "
        "operation and an addition as one, k of each per element. A GFLOP is 10^9 operations.",
    ),
    parameters=("m", "n", "k", "us"),
    unit="",
    whole=False,
    promises=("right for any three sizes", "right for any time"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    hints=(
        "How many elements does the result have, and how many multiplications and additions does "
        "each of them take?",
        "A rate is work divided by time. How many seconds are `us` microseconds?",
        "Operations per second, divided by 10^9, are GFLOP/s.",
    ),
    after="The work depends on the sizes alone, so all errors of a rate come from its time.",
)
