"""The time line shows exactly the span that a clock measures."""

import re

from labs.exercises import find
from utils.lessons.lesson_01 import timeline


def bars(drawn: str, colour: str) -> list[tuple[float, float]]:
    matches = re.findall(rf'<rect x="([\d.]+)" y="\d+" width="([\d.]+)"[^>]*fill="{colour}"', drawn)
    return [(float(x), float(width)) for x, width in matches]


def clock_bars(drawn: str) -> list[tuple[float, float]]:
    """Return the (begin, end) of each span that the clock measures."""
    matches = re.findall(r'd="M([\d.]+) \d+H([\d.]+)"[^>]*stroke="#c63939"', drawn)
    return [(float(begin), float(end)) for begin, end in matches]


def test_a_launch_that_nobody_waits_for_ends_for_the_clock_before_the_kernel():
    panels = timeline.draw_launches().body.split("<g ")[1:]
    assert len(panels) == 3
    early, right, first = panels
    ((begin, width),) = [bar for bar in bars(early, timeline.KERNEL) if bar[1] > 13]
    assert clock_bars(early)[0][1] <= begin + 1
    assert clock_bars(right)[0][1] >= begin + width
    assert bars(first, timeline.COMPILE)[0][0] == clock_bars(first)[0][0]
    assert not bars(right, timeline.COMPILE)


def test_a_benchmark_is_drawn_as_it_behaves():
    solution = timeline.draw_benchmark(find("benchmark").solution)
    starter = timeline.draw_benchmark(find("benchmark").starter)
    assert len(clock_bars(solution.body)) >= 2
    assert len(clock_bars(starter.body)) == 1
    assert "flush from" in solution.alt
    assert "wait" not in starter.alt


def test_the_launch_of_a_flush_has_another_colour_than_that_of_a_kernel():
    def flushed(device, m, n, k):
        device.flush()
        device.synchronize()

    drawn = timeline.draw_benchmark(flushed).body
    assert not [bar for bar in bars(drawn, timeline.LAUNCH) if bar[1] != 13]
    assert len([bar for bar in bars(drawn, timeline.GREEN) if bar[1] != 13]) == 2


def test_nothing_is_drawn_outside_of_the_picture():
    drawn = timeline.draw_benchmark(find("benchmark").starter).body
    ends = [x + width for x, width in bars(drawn, timeline.KERNEL)]
    assert max(ends) <= timeline.RIGHT


def test_two_waits_are_drawn_as_they_behave():
    solution = timeline.draw_two_waits(find("two_waits").solution)
    starter = timeline.draw_two_waits(find("two_waits").starter)
    ((begin, end),) = clock_bars(solution.body)
    (early,) = clock_bars(starter.body)
    *_, (kernel, width) = [bar for bar in bars(solution.body, timeline.KERNEL) if bar[1] != 13]
    assert begin < kernel < kernel + width <= end + 1
    assert early[1] - early[0] < (end - begin) / 2
    assert end <= timeline.RIGHT
    assert "flush" not in solution.body
