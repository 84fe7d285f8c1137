"""The pictures of lessons 10 and 11: what they draw, and what they say in words."""

import re

from utils.figures.fewer_threads import draw_fewer_threads
from utils.figures.grain_bars import draw_grain_bars
from utils.figures.grain_walk import draw_grain_walk
from virtual_gpu.pictures.svg import BLUE, GREEN, GREY, ORANGE, PURPLE


def coloured(frame: str, colour: str) -> int:
    return len(re.findall(rf'<rect[^>]*fill="{colour}"', frame))


def test_with_two_tiles_of_b_one_word_of_sa_serves_two_elements():
    frames = draw_grain_walk().body.split('class="frame')[2:]
    assert len(frames) == 6
    of_one, of_two = frames[1], frames[4]
    assert (coloured(of_one, ORANGE), coloured(of_two, ORANGE)) == (1 + 1, 1 + 2)
    # The block's part of c is one pale square more.
    assert (coloured(of_one, GREEN), coloured(of_two, GREEN)) == (1 + 1, 1 + 2)


def test_bars_are_blue_for_ours_and_as_long_as_their_shares():
    drawn = draw_grain_bars("Shares", {"theirs": {1: 10.0, 2: 20.0}, "ours": {1: 5.0}}, {"ours"})
    bars = re.findall(rf'width="([\d.]+)" height="13" fill="({BLUE}|{GREY})"', drawn.body)[2:]
    assert [colour for _, colour in bars] == [GREY, GREY, BLUE]
    first, second, third = (float(width) for width, _ in bars)
    assert second == 2 * first == 4 * third
    assert "theirs: grain 1 10.0 %, grain 2 20.0 %. ours: grain 1 5.0 %." in drawn.alt


def test_with_four_rows_one_word_of_sb_serves_four_elements():
    frames = draw_fewer_threads().body.split('class="frame')[2:]
    assert [coloured(frame, PURPLE) for frame in frames] == [1, 1, 1]
    # One word of sb, and one of sa for each element; the tile of c is one pale square more.
    assert [coloured(frame, ORANGE) for frame in frames] == [1 + 1, 1 + 2, 1 + 4]
    assert [coloured(frame, GREEN) for frame in frames] == [1 + 1, 1 + 2, 1 + 4]
