"""What a lesson shows besides plots: the ledger of predictions."""

import pandas as pd
import pytest

from utils.errors import CourseError
from utils.lessons.lesson import ledger

TABLE = pd.DataFrame(
    {"arithmetic": [1, 1], "DRAM": [2, 0], "limit": ["DRAM", "arithmetic"], "recorded_ms": [4, 2]},
    index=["slow", "fast TILE=32"],
)


def test_a_prediction_stands_beside_the_truth():
    found = ledger({"fast": ("DRAM", 600)}, TABLE, flops=10**9)
    assert found.loc["fast"].to_dict() == {
        "your_limit": "DRAM",
        "limit": "arithmetic",
        "your_gflops": 600,
        "recorded_gflops": 500,
        "off_by": pytest.approx(0.2),
    }


@pytest.mark.parametrize("prediction", [(None, None), ("DRAM", None), (None, 100)])
def test_nothing_is_told_before_both_predictions_are_made(prediction):
    found = ledger({"slow": prediction, "fast": ("DRAM", 600)}, TABLE, flops=10**9)
    assert found.loc["slow", ["limit", "recorded_gflops", "off_by"]].isna().all()
    assert found.loc["fast"].notna().all()


@pytest.mark.parametrize(
    "predictions, sentence",
    [
        ({"fats": ("DRAM", 1)}, "There is no step 'fats': choose one of slow, fast."),
        ({"slow": ("dram", None)}, "'dram' is no resource: choose one of arithmetic, DRAM."),
        ({"slow": (None, 0)}, "At 0 GFLOP/s slow never ends: predict a rate above 0."),
    ],
)
def test_a_prediction_that_cannot_be_is_refused(predictions, sentence):
    with pytest.raises(CourseError) as error:
        ledger(predictions, TABLE, flops=10**9)
    assert str(error.value) == sentence
