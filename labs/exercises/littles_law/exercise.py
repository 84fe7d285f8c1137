"""The share of a belt's rate that its workers reach, as a function."""

from labs.exercises.littles_law import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="littles_law",
    lesson="09",
    title="Little's law as a function",
    text=(
        "Write `littles_law(latency, rate, workers, each)`: the share of a belt's full rate, in "
        "percent, that its workers reach. Use plain Python and `math`. About 2 lines.",
        "A box rides for `latency` seconds, and the belt takes at most `rate` boxes per second. "
        "Each of the `workers` workers has `each` boxes under way. All numbers are at least 1.",
    ),
    parameters=("latency", "rate", "workers", "each"),
    unit="",
    whole=False,
    promises=("right with several boxes per worker", "never above 100"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    hints=(
        "How many boxes does the full rate need under way? That is Little's law.",
        "How many are under way? With half of what is needed, half of the rate is reached.",
        "More boxes than needed bring nothing: `min(100, ...)`.",
    ),
    after="The law asks how much is under way, and not who has it under way.",
)
