"""The roofline as a function: the highest rate that a tiled product can reach."""

from labs.exercises.attainable import formula
from labs.numbers.exercise import Case, NumbersExercise


def operations_behind(case: Case, answer: float) -> str:
    """Return a sentence on the operations per byte that a wrong answer implies.

    If the answer is the peak, the sentence says that instead. answer: in GFLOP/s.
    """
    *_, peak, bandwidth = case.given
    if answer == peak:
        return "Your answer is the peak, so you allow more operations for a byte."
    return f"Your answer divided by the bandwidth is {answer / bandwidth:.3g}."


EXERCISE = NumbersExercise(
    name="attainable",
    lesson="21",
    title="What the roofline allows",
    text=(
        "Write `attainable(BM, BN, peak, bandwidth)`: how many GFLOP/s a float32 product can reach "
        "at most, where each block computes BM×BN elements of c. `peak` is in GFLOP/s, `bandwidth` "
        "in GB/s. About 4 lines.",
        "For each k a block reads BM words of `a` and BN words of `b` through that memory, each "
        "once. What it stores at the end is left out.",
    ),
    parameters=("BM", "BN", "peak", "bandwidth"),
    unit="",
    whole=False,
    beside=operations_behind,
    promises=("right left of the ridge and right of it", "right for tiles that are not square"),
    cases=formula.cases,
    right=formula.right,
    draw=formula.draw,
    branch=formula.branch,
    hints=(
        "For one k: how many multiply-adds does the block make with BM words of `a` and BN words "
        "of `b`? Each is two operations. And how many bytes are BM + BN words?",
        "Operations divided by bytes are the intensity. Times the bandwidth, they are GFLOP/s.",
        "The lower one of the two ceilings is the limit: `min(...)`.",
    ),
    after="That means: tiles twice as wide and twice as high double what the memory allows.",
)  # fmt: skip
