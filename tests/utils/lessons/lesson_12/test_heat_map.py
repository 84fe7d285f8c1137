"""The heat map has each value in its cell and a frame around the best one."""

import re

from utils.lessons.lesson_12.heat_map import draw_heat_map

CELLS = {("one", "left"): 2.0, ("one", "right"): 1.0, ("two", "left"): 3.0, ("two", "right"): 2.5}


def test_every_value_stands_in_the_row_and_column_of_its_name():
    body = draw_heat_map("Title", ("rows", "columns"), CELLS, "ms").body
    at = {
        value: (float(x), float(y))
        for x, y, value in re.findall(r'x="([\d.]+)" y="([\d.]+)"[^>]*>([\d.]+) ms<', body)
    }
    assert at["2.00"][1] == at["1.00"][1] < at["3.00"][1] == at["2.50"][1]
    assert at["2.00"][0] == at["3.00"][0] < at["1.00"][0] == at["2.50"][0]


def test_more_is_darker_and_the_least_has_a_frame():
    body = draw_heat_map("Title", ("rows", "columns"), CELLS, "ms").body
    shades = [float(one) for one in re.findall(r'fill-opacity="([\d.]+)"', body)]
    assert shades[1] < shades[0] < shades[3] < shades[2]
    assert body.count("<path") == 1


def test_it_is_told_in_words():
    picture = draw_heat_map("Title", ("rows", "columns"), CELLS, "ms")
    assert picture.alt.startswith("Title. rows, columns: one, left: 2.00 ms; ")
