"""Test how the profiler's output becomes rows of counters of kernels with few registers."""

import pytest

from tools.records.spill_counters import SpillCounter, launches, rows_of
from utils.errors import CourseError

HEAD = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
LINES = ('"9","a","lts__t_sectors_op_write.sum","sector","1,234"',
         '"9","a","launch__registers","","80"',
         '"10","a","gpu__time_duration.sum","ns","5.5"')  # fmt: skip
LAUNCHED = [("fma_loop", 80), ("another", None)]


def test_a_row_has_the_kernel_of_its_launch_and_our_name_of_the_counter():
    assert list(rows_of("\n".join(["==PROF==", HEAD, *LINES]), LAUNCHED, "one")) == [
        SpillCounter("one", "fma_loop", 80, "l2_write_sectors", 1234),
        SpillCounter("one", "another", None, "time_ns", 5.5),
    ]


def test_a_launch_that_the_profiler_did_not_see_ends_in_a_sentence():
    with pytest.raises(CourseError, match="saw 1 of 2 launches"):
        list(rows_of("\n".join([HEAD, *LINES[:2]]), LAUNCHED, "one"))


def test_every_limit_and_every_product_is_launched_once():
    assert len(set(launches())) == len(launches())
    assert ("fma_loop", 64) in launches()
    assert ("sums_in_registers in 64 bits without a sign", None) in launches()
