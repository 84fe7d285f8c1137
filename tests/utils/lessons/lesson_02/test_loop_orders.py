"""The picture of both loop orders shows the touched words and the loaded cache lines."""

import re

from utils.lessons.lesson_02.loop_orders import CORNERS, LINE, SIDE, SIZE, draw_loop_orders
from virtual_gpu.pictures.svg import BLUE, PALE


def panels() -> list[list[str]]:
    """Return the two drawings of each iteration."""
    html = draw_loop_orders()._repr_html_()
    drawings = re.findall(r"<svg[^>]*Turn.*?</svg>", html, flags=re.DOTALL)
    return [drawings[at : at + 2] for at in range(0, len(drawings), 2)]


def words(drawing: str, colour: str) -> set[tuple[str, int, int]]:
    """Return the coloured words, as (array, row, column)."""
    coloured = set()
    rectangle = rf'<rect x="([\d.]+)" y="([\d.]+)" [^>]*fill="{re.escape(colour)}"'
    for x, y in re.findall(rectangle, drawing):
        for array, (left, top) in CORNERS.items():
            column, row = (float(x) - left) // SIZE, (float(y) - top) // SIZE
            if 0 <= row < SIDE and 0 <= column < SIDE:
                coloured.add((array, int(row), int(column)))
    return coloured


def test_k_innermost_goes_along_a_and_down_b_and_stores_at_the_end():
    for iteration, (left, _) in enumerate(panels()):
        stored = {("c", 0, 0)} if iteration == SIDE - 1 else set()
        assert words(left, BLUE) == {("a", 0, iteration), ("b", iteration, 0)} | stored


def test_n_innermost_goes_along_b_and_c():
    for iteration, (_, right) in enumerate(panels()):
        assert words(right, BLUE) == {("a", 0, 0), ("b", 0, iteration), ("c", 0, iteration)}


def test_whole_cache_lines_come_and_are_counted():
    for drawings in panels():
        for drawing in drawings:
            came = {
                (array, row, column // LINE)
                for array, row, column in words(drawing, BLUE) | words(drawing, PALE)
            }
            (count,) = re.findall(r">(\d+) cache lines?<", drawing)
            assert int(count) == len(came)


def test_its_words_have_the_counts_of_the_last_turn():
    left, right = panels()[-1]
    description = str(draw_loop_orders())
    for drawing in (left, right):
        (lines,) = re.findall(r">(\d+) cache lines?<", drawing)
        assert f"{lines} " in description
