"""The pictures show what crosses the bus: arrays once with copies, managed pages when used."""

import re

from utils.lessons.lesson_04.time_axis import draw_time_axis
from utils.lessons.lesson_04.two_memories import COLOURS, EVERY, draw_copies, draw_pages

SQUARE = re.compile(r'<rect x="([\d.]+)"[^>]*?fill="(#\w+)"/>')


def moments(picture) -> list[str]:
    return re.findall(r'<div class="frame[^"]*">(.*?</svg>)', picture.body, re.DOTALL)


def squares(moment: str) -> tuple[list[str], list[str]]:
    """Return the names of the arrays with squares on the host, and on the device."""
    names = {colour: name for name, colour in COLOURS.items()}
    corners = [(float(x), names[colour]) for x, colour in SQUARE.findall(moment) if colour in names]
    return [n for x, n in corners if x < 150], [n for x, n in corners if x > 250]


def test_copies_leave_a_and_b_on_both_sides_and_bring_c_back():
    host, device = squares(moments(draw_copies())[-1])
    assert host == device == ["a"] * 3 + ["b"] * 3 + ["c"] * 3


def test_a_page_is_in_one_memory_at_a_time_and_those_of_c_begin_on_the_device():
    names = [sorted(host + device) for host, device in map(squares, moments(draw_pages()))]
    inputs = ["a"] * 3 + ["b"] * 3
    every = sorted(name for name, _ in EVERY)
    assert names == [inputs] * 3 + [[*inputs, "c"], every, every]


def test_at_the_end_the_pages_of_c_are_on_the_host_and_the_others_stay():
    host, device = squares(moments(draw_pages())[-1])
    assert set(host) == {"c"}
    assert set(device) == {"a", "b"}


def test_the_first_pages_come_one_by_one():
    on_device = [squares(moment)[1] for moment in moments(draw_pages())]
    assert on_device[:4] == [[], ["a"], ["a", "b"], ["a", "b", "c"]]


def test_parts_of_a_time_axis_are_drawn_to_scale():
    drawn = draw_time_axis({"x": {"pages": 1, "kernel": 3}, "y": {"kernel": 2}}, "Times")
    one, three, two = (
        float(width)
        for width in re.findall(r'width="([\d.]+)" height="22"', drawn.body)
    )  # fmt: skip
    assert abs(three - 3 * one) < 0.05
    assert abs(two - 2 * one) < 0.05
    assert "x: pages 1, kernel 3; y: kernel 2" in drawn.alt
