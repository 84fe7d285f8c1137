"""Times as text, with a suitable unit."""

import pytest

from utils.measuring.durations import duration


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(8.1e-6, "8.1 us"), (2.0161e-3, "2.02 ms"), (0.31, "310 ms"), (1.283, "1.28 s"), (0, "0 us")],
)
def test_a_time_has_three_digits_and_a_unit(seconds, written):
    assert duration(seconds) == written
