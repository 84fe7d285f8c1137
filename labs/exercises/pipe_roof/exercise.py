"""The roof of the pipe to shared memory and L1, to be repaired."""

from labs.exercises.pipe_roof import formula
from labs.numbers.exercise import Case, NumbersExercise


def bytes_behind(case: Case, answer: float) -> str:
    """Return a sentence on the operations per byte that a wrong answer implies.

    If the answer is the peak, the sentence says that instead. answer: in GFLOP/s.
    """
    *_, peak, bandwidth = case.given
    if answer == peak:
        return "Your answer is the peak, so you allow more operations for a byte."
    return f"Your answer divided by the bandwidth is {answer / bandwidth:.3g}."


EXERCISE = NumbersExercise(
    name="pipe_roof",
    lesson="21",
    kind="repair",
    title="The roof of the pipe",
    text=(
        "In one iteration of a loop a warp makes `multiply_adds` multiply-adds. It also makes "
        "`rows` loads of 32 neighbouring words, one word per lane, and `broadcasts` loads of one "
        "word for all its lanes. Each load takes one wavefront, and the pipe to shared memory and "
        "L1 moves `bandwidth` GB/s if every wavefront brings 128 bytes.",
        "`pipe_roof(multiply_adds, rows, broadcasts, peak, bandwidth)` is to return the GFLOP/s "
        "that the kernel can reach at most. The given function counts the bytes that the loads "
        "need. Repair it, so that it counts the pipe's time. About 1 line.",
    ),
    parameters=("multiply_adds", "rows", "broadcasts", "peak", "bandwidth"),
    unit="",
    whole=False,
    beside=bytes_behind,
    promises=("right left of the ridge and right of it", "right with and without broadcasts"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    enough=6,  # the first cases, with rows and with broadcasts
    hints=(
        "How many cycles does the pipe need for a broadcast, and how many for a row? How many "
        "bytes could it have moved in that time?",
        "A cycle that brings 4 bytes is lost for the other 124.",
    ),
    after="So a broadcast costs as much as a whole row, although it brings 4 bytes.",
)  # fmt: skip
