"""The parts of a small sum: a table of calls, and a picture."""

import pytest

from utils.lessons.lesson_20 import launch_parts as parts


@pytest.mark.parametrize("way", parts.PARTS)
def test_the_parts_add_up_to_the_recorded_time(way):
    *_, (_, kernel, _) = parts.PARTS[way]
    assert sum(us for _, us in parts.parts_of(way)) == pytest.approx(
        parts.launch_us(kernel), abs=0.01
    )
    rounded = sum(round(us, 1) for _, us in parts.parts_of(way))
    assert f"{rounded:.1f}" == parts._total(parts.parts_of(way))  # as printed, they add up, too


def test_the_picture_has_each_way_and_its_total():
    shown = parts.draw_parts()
    for way in parts.PARTS:
        assert f"{way.capitalize()}: {parts._total(parts.parts_of(way))} us" in shown.alt


def test_the_table_has_two_launches_and_one():
    times = parts.launch_times()
    shown = parts.table_of_calls()
    assert [row[1] for row in shown.rows] == [
        f"{parts.launch_us(step):.2f} us" for step in ("reduce8", "reduce9")
    ]
    assert shown.rows[0][2] == f"{times['reduce8'].host_us:.1f} us"
