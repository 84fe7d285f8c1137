"""The comparison of a device with the virtual GPU sees each kind of difference."""

import numpy as np
import pandas as pd

from utils.paths import DATA
from virtual_gpu.tests.kernels.differential import (
    Comparison,
    Outcome,
    on_virtual_gpu,
    rows_of,
    ulps,
)
from virtual_gpu.tests.kernels.differential_cases import Kernel, expression, loads, operands

RECORD = DATA / "measured" / "nvidia_h200" / "differential.csv"
RESULT = expression("+", "a + b", "i8")
SUM = Kernel("sums", "int32", operands("int32", "int32"), loads(2), (RESULT,))


def test_equal_results_are_equal():
    a, b = (v.astype(np.int64) for v in SUM.operands())
    (row,) = rows_of(SUM, lambda kernel: Outcome((*kernel.operands(), a + b)))
    assert (row.verdict, row.differing, row.elements) == ("equal", 0, a.size)


def test_one_wrong_element_is_found():
    theirs = on_virtual_gpu(SUM).arrays
    theirs[-1][7] += 1
    (row,) = rows_of(SUM, lambda kernel: Outcome(theirs))
    assert (row.verdict, row.differing) == ("different", 1)


def test_what_numba_refuses_and_the_virtual_gpu_runs_is_told():
    (row,) = rows_of(SUM, lambda kernel: Outcome(None, "TypingError: no"))
    assert row.verdict == "runs here only"


def test_differences_are_counted_in_units_in_the_last_place():
    one = np.float32(1)
    first = np.array([1, 0.0, np.nan, np.nan, -1], np.float32)
    second = np.array([np.nextafter(one, 2 * one), -0.0, np.nan, 1, 1], np.float32)
    distances = ulps(first, second)
    assert distances[:4].tolist() == [1, 1, 0, np.inf]
    assert distances[4] > 2**30


def test_each_recorded_difference_has_its_reason():
    rows = pd.read_csv(RECORD, keep_default_na=False)
    assert set(rows["verdict"]) <= {
        "equal", "within", "different", "refused by both", "runs here only"
    }  # fmt: skip
    assert (rows["reason"].eq("") == rows["verdict"].ne("different")).all()
    assert len(rows) > 4000
    assert rows["verdict"].eq("equal").mean() > 0.8


def test_a_difference_without_a_reason_is_bad():
    unknown = Comparison("operators", "int32_int32: +", "int64", 8, 1, 1.0, "", "different")
    case = "float32: math.copysign(a, b)"
    explained = Comparison("math", case, "float32", 8, 1, 1.0, "", "different")
    assert unknown.bad
    assert not explained.bad
