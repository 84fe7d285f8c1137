"""The pictures of lanes show their reads in both directions, their numbers and their columns."""

import re

import numpy as np

from utils.lessons.lesson_05.lanes import draw_directions, draw_owners, draw_threads
from virtual_gpu.pictures.svg import BLUE, GREEN, PALE, PURPLE


def pictures(picture):
    """Return the drawings of a picture, each as text."""
    return re.findall(r"<svg.*?</svg>", picture.body, flags=re.DOTALL)


def squares(drawn: str, colour: str) -> int:
    return drawn.count(f'fill="{colour}"')


def test_lanes_that_go_down_read_eight_rows_of_a_and_those_that_go_along_one():
    panels = pictures(draw_directions())[1:]  # the first is the legend
    assert len(panels) == 16
    for down, along in zip(panels[::2], panels[1::2], strict=True):
        assert squares(down, BLUE) == squares(along, BLUE) == 8 + 1
        assert squares(down, PALE) == 8 * 7 + 7
        assert squares(along, PALE) == 7
        assert squares(down, GREEN) == squares(along, GREEN) == 8


def test_each_turn_reads_other_words():
    panels = pictures(draw_directions())[1:]
    assert len(set(panels)) == len(panels)


def test_threads_show_what_they_wrote_with_a_gap_between_blocks():
    picture = draw_threads(np.array([[0, 1, 0, 1], [2, 3, 2, 3]], np.float32), block=(2, 2))
    assert re.findall(r'font-size="13"[^>]*>(\d)<', picture.body) == list("01012323")
    at = [float(x) for x in re.findall(r'<rect x="([\d.]+)"', picture.body)[:4]]
    first, between, second = np.diff(at)
    assert first == second < between


def test_four_lanes_own_four_columns_each_in_either_way():
    body = draw_owners().body
    assert [squares(body, colour) for colour in (BLUE, GREEN, PURPLE)] == [8, 8, 8]
    assert "".join(re.findall(r">(\d)<", body)) == "0000111122223333" + "0123" * 4
