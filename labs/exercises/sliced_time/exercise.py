"""The time of a product whose slices are copied beside the kernels of other slices."""

from labs.exercises.sliced_time import formula
from labs.numbers.exercise import NumbersExercise

EXERCISE = NumbersExercise(
    name="sliced_time",
    lesson="04",
    title="The time of a product in slices",
    text=(
        "Write `sliced_time(b, a, kernel, c, slices)`, which returns the time of a product in "
        "equal slices. `b`, `a` and `c` are the times of the copies of these arrays without "
        "slices, and `kernel` is the time of the kernel for the whole product. About 2 lines.",
        "First `b` is copied. Then each slice passes three stages: its rows of a go to the "
        "device, its kernel runs, and its rows of c come back. A stage works on one slice at a "
        "time, in their order, and the three stages work at the same time.",
    ),
    parameters=("b", "a", "kernel", "c", "slices"),
    unit="",
    whole=False,
    promises=("right for any number of slices", "right whichever stage is the slowest"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    hints=(
        "Draw two slices with a kernel that is slower than both copies, as a row of bars per "
        "stage. When does the kernel of slice 1 begin, and what comes after its end?",
        "Slice 0 passes all three stages without waiting. How much later than slice 0 does slice "
        "1 come out of the slowest stage?",
        "Each further slice is one step of the slowest stage later. `max(x, y, z)` is the largest "
        "of three numbers.",
    ),
    after="The slowest stage sets the pace, and the others run beside it.",
)
