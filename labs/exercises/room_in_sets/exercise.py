"""The cache lines of a column that have room in a cache with sets."""

from labs.exercises.room_in_sets import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="room_in_sets",
    lesson="02",
    kind="repair",
    title="Room for a column",
    text=(
        "A matrix has rows of `words` words, and its column has one word in each of `rows` cache "
        "lines. `room_in_sets(words, rows)` returns how many of these cache lines can be in the "
        "L1 cache at the same time. The function below is wrong for a cache with sets. Repair it: "
        "about 4 lines of plain Python, without NumPy.",
        "A word has 4 bytes and a cache line 64 bytes. The cache has 64 sets with room for 12 "
        "cache lines each, and cache line x may only be in set x modulo 64. The matrix begins at "
        "byte 0, and `words` is at least 16.",
    ),
    parameters=("words", "rows"),
    unit="cache line",
    promises=("right for rows of any length from 16 words on", "right for any number of rows"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    hints=(
        "`line` is the number of the cache line. Which number says in which set it may be?",
        "Each set has room of its own, so one number for the whole cache is not enough: count what "
        "is in each set, in a list with 64 zeros.",
        "A cache line has room if its set holds fewer than 12. At the end, add up the list.",
    ),
    after="Rows whose length is a power of two leave most of the sets empty.",
)
