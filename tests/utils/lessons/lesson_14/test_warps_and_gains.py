"""Speed-ups beside warps: a bar points to the right if a variant became faster."""

import re

from utils.lessons.lesson_14.warps_and_gains import GREEN, ORANGE, Gain, draw_gains_and_warps

GAINS = [Gain("a", 0.9, 16, 12), Gain("b", 1.1, 16, 16), Gain("c", 1.2, 12, 12)]


def bars(body: str) -> list[tuple[float, float, str]]:
    """Return (x, width, colour) of each bar, from top to bottom."""
    matches = re.findall(
        r'<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)" height="15" fill="(#\w+)"', body
    )
    return [(float(x), float(width), colour) for x, _, width, colour in matches]


def test_the_largest_gain_comes_first_and_lies_to_the_right_of_one():
    drawn = draw_gains_and_warps("t", GAINS)
    best, second, worst = bars(drawn.body)
    assert best[0] == second[0] == worst[0] + worst[1]
    assert best[1] > second[1]
    assert [one[2] for one in (best, second, worst)] == [GREEN, GREEN, ORANGE]


def test_warps_are_told_as_they_change():
    drawn = draw_gains_and_warps("t", GAINS)
    assert "16 → 12 warps" in drawn.body
    assert "a: 0.90 times, 16 → 12 warps" in drawn.alt
    assert "c: 1.20 times, 12 warps" in drawn.alt
