"""The plot of gains has a line per step, and an open mark where equal tiles are recorded."""

from gemm_kernels import LADDER
from utils.lessons.lesson_14.gains_by_size import draw_gains_by_size, recorded_gains

WIDE = {"BM": 128, "BN": 128}
VECTORIZED, DOUBLE = LADDER.step("vectorized"), LADDER.step("double_buffered")
DEEP, EQUAL = (VECTORIZED.variant(**WIDE, BK=depth) for depth in (16, 8))


def test_a_kernel_is_as_fast_as_itself():
    assert set(recorded_gains(DEEP, DEEP)) == {1}


def test_a_size_without_both_records_is_left_out():
    two = DOUBLE.variant(**WIDE, BK=8)
    assert set(recorded_gains(EQUAL, two).index) < set(recorded_gains(DEEP, two).index)


def test_the_words_have_the_gains_of_the_lines_and_of_the_open_marks():
    two = DOUBLE.variant(**WIDE, BK=8)
    alt = draw_gains_by_size(DEEP, EQUAL, [two]).alt_text
    for base in (DEEP, EQUAL):
        for size, gain in recorded_gains(base, two).items():
            assert f"{gain:.2f} at {size}" in alt
