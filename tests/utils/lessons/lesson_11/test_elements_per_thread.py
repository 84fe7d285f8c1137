"""The picture shows the rows that one thread computes, and the words that it reads."""

import re

from utils.lessons.lesson_11.elements_per_thread import (
    draw_fewer_threads,
    draw_rows_and_tiles,
)
from virtual_gpu.pictures.svg import GREEN, ORANGE, PURPLE


def coloured(frame: str, colour: str) -> int:
    return len(re.findall(rf'<rect[^>]*fill="{colour}"', frame))


def test_one_word_of_sb_serves_all_elements_of_a_thread():
    frames = draw_fewer_threads().body.split('class="frame')[2:]
    grains = (1, 2, 4, 8)
    assert [coloured(frame, PURPLE) for frame in frames] == [1] * len(grains)
    # One word of sb, and one of sa per element; the tile of c adds one pale square.
    assert [coloured(frame, ORANGE) for frame in frames] == [1 + grain for grain in grains]
    assert [coloured(frame, GREEN) for frame in frames] == [1 + grain for grain in grains]
    for frame, grain in zip(frames, grains, strict=True):
        assert f"{1 + grain} words for" in frame


def test_four_rows_and_four_tiles_have_as_many_sums_and_words():
    drawn = draw_rows_and_tiles().body
    in_legend = 1
    assert coloured(drawn, GREEN) - in_legend == 2 * 4
    assert coloured(drawn, ORANGE) - in_legend == 2 * (4 + 1)
