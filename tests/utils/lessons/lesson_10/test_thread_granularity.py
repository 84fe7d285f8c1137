"""The picture of thread granularity shows the words that serve several elements of c."""

import re

from utils.lessons.lesson_10.thread_granularity import draw_grain_walk
from virtual_gpu.pictures.svg import GREEN, ORANGE


def coloured(frame: str, colour: str) -> int:
    return len(re.findall(rf'<rect[^>]*fill="{colour}"', frame))


def test_with_two_tiles_of_b_one_word_of_sa_serves_two_elements():
    frames = draw_grain_walk().body.split('class="frame')[2:]
    assert len(frames) == 6
    one_tile, two_tiles = frames[1], frames[4]
    assert (coloured(one_tile, ORANGE), coloured(two_tiles, ORANGE)) == (1 + 1, 1 + 2)
    # The block's part of c adds one pale square.
    assert (coloured(one_tile, GREEN), coloured(two_tiles, GREEN)) == (1 + 1, 1 + 2)
