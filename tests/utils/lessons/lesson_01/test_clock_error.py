"""The table and the picture of the clock's error have the recorded times of both kernels."""

from utils.lessons.lesson_01.clock_error import SIZES, clock_table, draw_clock


def test_a_row_has_what_the_clock_adds_beside_the_launch():
    first, *others = clock_table("naive").rows
    assert first == ("256", "16.5", "25.7 (23–40)", "27.0")
    assert len(others) == len(SIZES) - 1


def test_each_kernel_has_a_dot_per_size():
    drawn = draw_clock("naive", "autotuned")
    assert drawn.body.count("<circle") == 2 * len(SIZES)
    assert "autotuned: 13.04 at 8.4 us" in drawn.alt
