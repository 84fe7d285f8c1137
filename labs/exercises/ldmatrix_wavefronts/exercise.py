"""The wavefronts of one part of an ldmatrix, as a function of the length of a row."""

from labs.exercises.ldmatrix_wavefronts import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="ldmatrix_wavefronts",
    lesson="23",
    title="The wavefronts of eight rows",
    text=(
        "Write `ldmatrix_wavefronts(columns)`: the number of wavefronts in which `ldmatrix` reads "
        "one 8×8 part of a tile whose rows have `columns` float16 elements. `columns` is any "
        "multiple of 8. About 1 to 5 lines.",
    ),
    parameters=("columns",),
    unit="wavefront",
    promises=("right for rows of any multiple of 8 elements",),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    hints=(
        "A row has columns / 8 chunks of 16 bytes. In which of the eight groups of banks does row "
        "0 begin, and in which row 1?",
        "Row r begins in group r · columns / 8 modulo 8. Collect the groups of the eight rows. "
        "How many rows are in the fullest one?",
        "A loop over eight rows can count. Or: all groups that occur have equally many rows. How "
        "many different groups are there?",
    ),
    after="An odd number of chunks per row needs a single wavefront.",
)  # fmt: skip
