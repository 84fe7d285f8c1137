"""The picture of threads that compute several rows: what it draws."""

import re

from utils.lessons.lesson_11.fewer_threads import draw_fewer_threads
from virtual_gpu.pictures.svg import GREEN, ORANGE, PURPLE


def coloured(frame: str, colour: str) -> int:
    return len(re.findall(rf'<rect[^>]*fill="{colour}"', frame))


def test_with_four_rows_one_word_of_sb_serves_four_elements():
    frames = draw_fewer_threads().body.split('class="frame')[2:]
    assert [coloured(frame, PURPLE) for frame in frames] == [1, 1, 1]
    # One word of sb, and one of sa for each element; the tile of c is one pale square more.
    assert [coloured(frame, ORANGE) for frame in frames] == [1 + 1, 1 + 2, 1 + 4]
    assert [coloured(frame, GREEN) for frame in frames] == [1 + 1, 1 + 2, 1 + 4]
