"""The picture shows the rows that one thread computes, and the words that it reads."""

import re

from utils.lessons.lesson_11.elements_per_thread import draw_fewer_threads
from virtual_gpu.pictures.svg import GREEN, ORANGE, PURPLE


def coloured(frame: str, colour: str) -> int:
    return len(re.findall(rf'<rect[^>]*fill="{colour}"', frame))


def test_with_four_rows_one_word_of_sb_serves_four_elements():
    frames = draw_fewer_threads().body.split('class="frame')[2:]
    assert [coloured(frame, PURPLE) for frame in frames] == [1, 1, 1]
    # One word of sb, and one of sa per element; the tile of c adds one pale square.
    assert [coloured(frame, ORANGE) for frame in frames] == [1 + 1, 1 + 2, 1 + 4]
    assert [coloured(frame, GREEN) for frame in frames] == [1 + 1, 1 + 2, 1 + 4]
