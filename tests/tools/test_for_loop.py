"""The record of lesson 06's loops: `while` and `range`, and unrolled by 1 and by 4."""

import pytest

from tools.records import for_loop
from utils.ladder.verify import verify_all
from utils.lessons.lesson_06.loops import WITH_RANGE
from utils.measuring import rows
from utils.measuring.kernel_times import ProductTime
from utils.paths import DATA

FILES = sorted((DATA / "measured").glob("*/for_loop.csv"))
NAMES = [str(variant) for variant in for_loop.variants()]


def test_both_forms_of_naive_are_timed_first():
    assert NAMES == ["naive", WITH_RANGE, "unrolled UNROLL=1", "unrolled UNROLL=4"]


def test_the_product_with_range_is_right():
    _, with_range, *_ = for_loop.variants()
    shape = for_loop.VERIFIED[0]
    verdicts = verify_all(for_loop.LADDER, [with_range], shape, kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_record_has_all_kernels(file):
    recorded = [(row.kernel, row.n) for row in rows.read(file, ProductTime)]
    assert recorded == [(name, n) for n in for_loop.SIZES for name in NAMES]
