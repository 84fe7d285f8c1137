"""Test the answers of questions with choices on rows with round times."""

import pytest

from utils.lessons.lesson_18 import answers
from utils.measuring.kernel_times import ArrayTime


def rows(**ms):
    """Return a row of `remainder.csv` per kernel."""
    return [
        ArrayTime("one", name, 2**21, time, time, time, 1980, "2026-11-26")
        for name, time in ms.items()
    ]


@pytest.mark.parametrize(
    "ms, choice",
    [(5, "less than reduce1"), (8, "between the two"), (9.5, "nearly as long as reduce0")],
)
def test_the_experiment_is_between_two_kernels(ms, choice):
    assert answers.experiment(rows(reduce0=10, reduce1=6, without_remainder=ms)) == choice


@pytest.mark.parametrize(
    "question, kernels, more, choice",
    [
        ("banks", ("with_conflicts", "without_conflicts"), 1, "as long, within 2 %"),
        ("banks", ("with_conflicts", "without_conflicts"), 25, "about a quarter longer"),
        ("banks", ("with_conflicts", "without_conflicts"), 200, "about three times as long"),
        ("divergence", ("masks_up", "masks_down"), 2, "under 5 %"),
        ("divergence", ("masks_up", "masks_down"), 10, "5 to 20 %"),
        ("divergence", ("masks_up", "masks_down"), 50, "over 20 %"),
        ("leave", ("warps_leave", "reduce3"), -55, "about 60 %"),
        ("leave", ("warps_leave", "reduce3"), -37, "about 40 %"),
        ("leave", ("warps_leave", "reduce3"), -5, "about 20 %"),
    ],
)
def test_a_choice_is_how_much_longer_a_kernel_takes(question, kernels, more, choice):
    times = rows(**dict(zip(kernels, (100 + more, 100), strict=True)))
    assert getattr(answers, question)(times) == choice
