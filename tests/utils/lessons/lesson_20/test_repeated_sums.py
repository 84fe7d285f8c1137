"""The picture of the sums that kernels found again and again."""

from reduce_kernels.bits import recorded_row
from utils.lessons.lesson_20.repeated_sums import draw_sums, ulps_between


def test_steps_between_two_float32_are_counted():
    assert ulps_between((1.0).hex(), (1.0).hex()) == 0
    assert ulps_between((1.0).hex(), (1 + 2**-22).hex()) == 2
    assert ulps_between((-1.5).hex(), (-1.5 + 2**-23).hex()) == 1


def test_the_picture_has_a_tick_per_float32_and_both_kernels():
    many = recorded_row("reduce_atomic")
    shown = draw_sums(many, recorded_row("reduce9"))
    assert shown.body.count("v8") == ulps_between(many.lowest, many.highest) + 1
    assert f"{many.different} different sums" in shown.alt
    assert "reduce9: 1000 runs, one sum." in shown.alt


def test_there_are_at_most_as_many_sums_as_float32_in_their_range():
    many = recorded_row("reduce_atomic")
    assert many.different <= ulps_between(many.lowest, many.highest) + 1
