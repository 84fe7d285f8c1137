"""The time line of a warp has four waits, or one."""

from itertools import pairwise

import pytest

from utils.lessons.lesson_09.load_timeline import (
    LATENCY,
    STEP,
    WORDS,
    all_at_once,
    draw_loads_in_time,
    one_at_a_time,
    waits,
)

WAYS = pytest.mark.parametrize("way", [one_at_a_time, all_at_once])


@WAYS
def test_no_word_is_stored_before_it_is_there(way):
    loads, stores = way()
    assert [word for _, word in loads] == [word for _, word in stores] == list(range(WORDS))
    assert all(stored >= begun + LATENCY for (begun, _), (stored, _) in zip(loads, stores))


@WAYS
def test_a_warp_issues_one_instruction_at_a_time(way):
    loads, stores = way()
    starts = sorted(start for start, _ in (*loads, *stores))
    assert all(two - one >= STEP for one, two in pairwise(starts))


def test_one_load_at_a_time_waits_for_each_word_and_four_wait_once():
    assert len(waits(*one_at_a_time())) == WORDS
    assert len(waits(*all_at_once())) == 1


def test_words_say_when_each_is_done():
    alt = draw_loads_in_time().alt
    assert "one load at a time: done after 324 units" in alt
    assert "four loads under way: done after 108 units" in alt
