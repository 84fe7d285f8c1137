"""The picture of the sums that kernels found again and again."""

import re

from reduce_kernels.bits import recorded_row
from utils.lessons.lesson_20.repeated_sums import draw_sums, ulps_between


def test_steps_between_two_float32_are_counted():
    assert ulps_between((1.0).hex(), (1.0).hex()) == 0
    assert ulps_between((1.0).hex(), (1 + 2**-22).hex()) == 2
    assert ulps_between((-1.5).hex(), (-1.5 + 2**-23).hex()) == 1


def test_the_picture_has_a_bar_per_sum_that_was_found():
    many, single = recorded_row("reduce_atomic"), recorded_row("reduce9")
    shown = draw_sums(many, single)
    assert shown.body.count("<rect") == many.different + single.different
    assert f"{many.different} different sums" in shown.alt
    assert ", ".join(map(str, many.counts)) in shown.alt
    assert "reduce9: 1000 runs, one sum." in shown.alt


def test_the_single_sum_is_in_the_column_of_its_float32():
    many, single = recorded_row("reduce_atomic"), recorded_row("reduce9")
    low, high, sum_ = map(float.fromhex, (many.lowest, many.highest, single.lowest))
    bars = [float(x) for x in re.findall(r'<rect x="([\d.]+)"', draw_sums(many, single).body)]
    place = (sum_ - low) / (high - low) * (len(many.counts) - 1)
    assert place == round(place)
    assert bars[-1] == bars[round(place)]


def test_there_is_a_count_for_each_float32_in_the_range():
    many = recorded_row("reduce_atomic")
    assert len(many.counts) == ulps_between(many.lowest, many.highest) + 1
