"""The picture of words that serve several elements of c: what it draws."""

import re

from utils.lessons.lesson_10.grain_walk import draw_grain_walk
from virtual_gpu.pictures.svg import GREEN, ORANGE


def coloured(frame: str, colour: str) -> int:
    return len(re.findall(rf'<rect[^>]*fill="{colour}"', frame))


def test_with_two_tiles_of_b_one_word_of_sa_serves_two_elements():
    frames = draw_grain_walk().body.split('class="frame')[2:]
    assert len(frames) == 6
    of_one, of_two = frames[1], frames[4]
    assert (coloured(of_one, ORANGE), coloured(of_two, ORANGE)) == (1 + 1, 1 + 2)
    # The block's part of c is one pale square more.
    assert (coloured(of_one, GREEN), coloured(of_two, GREEN)) == (1 + 1, 1 + 2)
