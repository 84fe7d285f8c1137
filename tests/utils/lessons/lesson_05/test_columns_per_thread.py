"""The order of the loops decides how often a thread loads its row of a."""

import re

from utils.lessons.lesson_05.columns_per_thread import draw_orders
from virtual_gpu.pictures.svg import GREEN, PURPLE


def test_column_by_column_loads_a_for_each_multiply_add_and_iteration_by_iteration_once():
    loads = re.findall(r"loads so far: (\d+) of a, (\d+) of b</text>", draw_orders().body)
    outside, inside = loads[::2], loads[1::2]
    assert len(outside) == len(inside) == 24
    assert outside == [(str(at), str(at)) for at in range(1, 25)]
    assert inside[:5] == [("1", "1"), ("1", "2"), ("1", "3"), ("1", "4"), ("2", "5")]
    assert inside[-1] == ("6", "24")


def test_iteration_by_iteration_four_sums_are_kept_and_column_by_column_one():
    outside, inside = draw_orders().body.split("</svg>")[1:3]  # the first is the legend
    assert (outside.count(f'fill="{PURPLE}"'), outside.count(f'fill="{GREEN}"')) == (1, 0)
    assert (inside.count(f'fill="{PURPLE}"'), inside.count(f'fill="{GREEN}"')) == (1, 3)


def test_the_words_say_both_sums():
    assert "24 loads of a and 24 of b" in str(draw_orders())
    assert "6 loads of a and 24 of b" in str(draw_orders())
