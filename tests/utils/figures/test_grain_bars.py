"""Tests of the bars by grain: their colours, their lengths and the alt text."""

import re

from utils.figures.grain_bars import draw_grain_bars
from virtual_gpu.pictures.svg import BLUE, GREY


def test_bars_are_blue_for_ours_and_as_long_as_their_shares():
    picture = draw_grain_bars("Shares", {"theirs": {1: 10.0, 2: 20.0}, "ours": {1: 5.0}}, {"ours"})
    bars = re.findall(rf'width="([\d.]+)" height="13" fill="({BLUE}|{GREY})"', picture.body)[2:]
    assert [colour for _, colour in bars] == [GREY, GREY, BLUE]
    first, second, third = (float(width) for width, _ in bars)
    assert second == 2 * first == 4 * third
    assert "theirs: grain 1 10.0 %, grain 2 20.0 %. ours: grain 1 5.0 %." in picture.alt
