"""The picture of both loop orders: which words it touches, and how many cache lines come."""

import re

from utils.figures.loop_orders import CORNERS, LINE, SIDE, SIZE, draw_loop_orders
from virtual_gpu.pictures.svg import BLUE, PALE


def sides() -> list[list[str]]:
    """The two drawings of each turn."""
    html = draw_loop_orders()._repr_html_()
    drawings = re.findall(r"<svg[^>]*Turn.*?</svg>", html, flags=re.DOTALL)
    return [drawings[at : at + 2] for at in range(0, len(drawings), 2)]


def words(drawing: str, colour: str) -> set[tuple[str, int, int]]:
    """The coloured words: array, row, column."""
    found = set()
    rectangle = rf'<rect x="([\d.]+)" y="([\d.]+)" [^>]*fill="{re.escape(colour)}"'
    for x, y in re.findall(rectangle, drawing):
        for array, (left, top) in CORNERS.items():
            column, row = (float(x) - left) // SIZE, (float(y) - top) // SIZE
            if 0 <= row < SIDE and 0 <= column < SIDE:
                found.add((array, int(row), int(column)))
    return found


def test_k_innermost_goes_along_a_and_down_b_and_stores_at_the_end():
    for turn, (left, _) in enumerate(sides()):
        stored = {("c", 0, 0)} if turn == SIDE - 1 else set()
        assert words(left, BLUE) == {("a", 0, turn), ("b", turn, 0)} | stored


def test_n_innermost_goes_along_b_and_c():
    for turn, (_, right) in enumerate(sides()):
        assert words(right, BLUE) == {("a", 0, 0), ("b", 0, turn), ("c", 0, turn)}


def test_whole_cache_lines_come_and_are_counted():
    for drawings in sides():
        for drawing in drawings:
            came = {
                (array, row, column // LINE)
                for array, row, column in words(drawing, BLUE) | words(drawing, PALE)
            }
            (told,) = re.findall(r">(\d+) cache lines?<", drawing)
            assert int(told) == len(came)


def test_its_words_have_the_counts_of_the_last_turn():
    left, right = sides()[-1]
    told = str(draw_loop_orders())
    for drawing in (left, right):
        (lines,) = re.findall(r">(\d+) cache lines?<", drawing)
        assert f"{lines} " in told
