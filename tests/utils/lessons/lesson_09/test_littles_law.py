"""The belt shows the items in flight and the resulting rate."""

import re

import pytest

from utils.lessons.lesson_09.littles_law import LATENCY, draw_belt
from virtual_gpu.pictures.svg import BLUE, ORANGE


def frames(*workers: int, each: int = 1) -> list[str]:
    body = draw_belt([(number, each) for number in workers]).body
    return re.findall(r'<div class="frame.*?</svg></div>', body, flags=re.DOTALL)


def boxes(frame: str, colour: str) -> int:
    """Return the boxes, which have round corners; the bar of the rate has none."""
    return len(re.findall(rf'<rect [^>]*fill="{colour}" rx', frame))


@pytest.mark.parametrize("workers", [1, 4, 8, 10])
def test_every_worker_has_one_box_on_the_belt_or_waits(workers):
    (frame,) = frames(workers)
    assert boxes(frame, BLUE) == min(workers, LATENCY)
    assert boxes(frame, ORANGE) == max(workers - LATENCY, 0)


def test_two_workers_with_four_boxes_each_fill_the_belt():
    (frame,) = frames(2, each=4)
    assert boxes(frame, BLUE) == 8
    assert re.findall(">([A-H])</text>", frame) == [*"AAAABBBB"]
    assert draw_belt().body.count("2 workers, 4 boxes each</text>") == 1


def test_the_rate_is_what_is_under_way_over_the_latency():
    half, full, more = frames(4, 8, 10)
    assert "4 in 8 seconds: 0.5 a second" in half
    assert "8 in 8 seconds: 1 a second" in full
    assert "8 in 8 seconds: 1 a second" in more


def test_words_say_what_is_to_be_seen():
    alt = draw_belt([(1, 1), (10, 1)]).alt
    assert "1 worker, one box each: 1 of 8 places are full, 0.125 boxes a second" in alt
    assert "10 workers, one box each: 8 of 8 places are full, and 2 wait" in alt


def test_a_waiting_box_has_the_letter_of_its_worker():
    (frame,) = frames(10)
    assert sorted(re.findall(">([A-J])</text>", frame)) == [*"ABCDEFGHIJ"]
