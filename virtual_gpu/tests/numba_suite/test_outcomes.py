"""The recorded outcomes of Numba's own CUDA tests under the virtual GPU (``outcomes.csv``)."""

from importlib import metadata

import pytest
from numba import cuda

from virtual_gpu.tests.numba_suite import outcomes, run, table

# Some seconds of tests with several outcomes: the whole suite takes minutes.
SAMPLE = ("test_idiv", "test_powi", "test_freevar")


def numba_cuda_version() -> str:
    try:
        return metadata.version("numba-cuda")
    except metadata.PackageNotFoundError:
        return ""


def test_no_test_of_numba_crashes_in_the_virtual_gpu():
    crashes = [row for row in table.read() if row.outcome == outcomes.CRASHES]
    assert crashes == []


def test_every_difference_has_a_reason():
    unexplained = [row for row in table.read() if row.reason == outcomes.UNEXPLAINED]
    assert unexplained == []
    assert all(row.reason for row in table.read() if row.outcome != outcomes.PASSES)


def test_every_outcome_of_the_table_is_one_that_is_explained():
    assert {row.outcome for row in table.read()} <= set(outcomes.OUTCOMES)
    assert sum(row.count for row in table.read() if row.outcome == outcomes.PASSES) >= 1000


@pytest.mark.skipif(cuda.is_available(), reason="with a device the kernels run there")
@pytest.mark.skipif(
    numba_cuda_version() != outcomes.VERSION, reason="the table is of another numba-cuda"
)
def test_a_sample_still_has_the_outcomes_of_the_table():
    rows = run.run(SAMPLE, run.RunLimits(seconds=60))
    assert sorted(rows, key=table.order) == [row for row in table.read() if row.file in SAMPLE]


def ended(event: str, *classes: str, message: str = "") -> dict:
    return {"test": "Case.test", "event": event, "classes": list(classes), "message": message}


@pytest.mark.parametrize(
    "event, outcome",
    [
        (ended("succeeds"), outcomes.PASSES),
        (ended("raises", "AssertionError", "Exception"), outcomes.DIFFERS),
        (ended("raises", "Race", "VirtualGpuError"), outcomes.FINDING),
        (ended("raises", "Unsupported", "VirtualGpuError"), outcomes.REFUSED),
        (ended("raises", "RecursionError", "Exception"), outcomes.CRASHES),
        (ended("raises", "AttributeError", "Exception"), outcomes.CRASHES),
        (ended("raises", "ProcessDied"), outcomes.CRASHES),
        (ended("raises", "TimeLimit", "BaseException"), outcomes.TIMES_OUT),
    ],
)
def test_an_outcome_follows_the_exception(event, outcome):
    assert outcomes.outcome_of("test_made_up", event)[0] == outcome


def test_a_test_that_is_skipped_for_an_unknown_reason_does_not_pass():
    event = {"test": "Case.test", "event": "is skipped", "message": "no time today"}
    assert outcomes.outcome_of("test_made_up", event)[0] == outcomes.CRASHES


def test_parts_of_a_test_are_counted_by_outcome():
    good = ended("part succeeds")
    bad = ended("part raises", "AssertionError", "Exception")
    rows = list(run.rows("test_made_up", [good, good, bad, ended("succeeds")]))
    assert [(row.count, row.outcome) for row in rows] == [(1, "differs"), (2, "passes")]
