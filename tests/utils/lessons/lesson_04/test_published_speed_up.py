"""The published speed-up is drawn with the times of its source."""

import pytest

from utils.lessons.lesson_04 import published_speed_up as speed_up


@pytest.mark.parametrize(
    ("fraction", "words", "copies"),
    [
        (speed_up.printed(), "9560 ms ÷ 48 ms = 199", "26.2 ms"),
        (speed_up.repaired(), "3047 ms ÷ 25.2 ms = 121", "2.6 ms"),
    ],
)
def test_a_fraction_is_drawn_with_its_result_and_the_parts_of_the_gpu(fraction, words, copies):
    drawn = speed_up.draw("The source says", fraction)
    assert words in drawn.alt
    assert f">{copies}</text>" in drawn.body
