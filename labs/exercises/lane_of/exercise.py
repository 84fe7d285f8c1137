"""Which lane holds an element of a, as a function."""

from labs.exercises.lane_of import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="lane_of",
    lesson="22",
    title="The lane of an element",
    text=(
        "Write `lane_of(row, k)`: the number of the lane, 0 to 31, that holds element (row, k) of "
        "`a` for one mma of 16×8×8. `row` is 0 to 15, and `k` is 0 to 7. About 1 to 3 lines.",
    ),
    parameters=("row", "k"),
    unit="",
    promises=("right for every element of a",),
    cases=formula.cases,
    right=formula.right,
    draw=None,
    hints=(
        "Stay in row 0: which lanes hold its eight elements, and how many elements has each?",
        "Go down a column: by how much does the lane grow from one row to the next?",
        "Rows 8 to 15 have the lanes of rows 0 to 7. Which operation makes 0 of 8, and 3 of 11?",
    ),
    after="Element (row, k) of `c`, with a column instead of k, has the same lane.",
)  # fmt: skip
