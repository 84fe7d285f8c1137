"""The bar of one iteration shows the instructions between a load and its store."""

import re

import pytest

from utils.errors import CourseError
from utils.lessons.lesson_14.instruction_timeline import (
    BLUE,
    COLOURS,
    ORANGE,
    between_load_and_store,
    draw_iterations,
)

INSTRUCTIONS = ("LDG", "IADD3", "LDG", "LDS", "FFMA", "FFMA", "STS", "BAR", "FFMA")


def test_the_way_goes_from_the_last_load_to_the_first_store_behind_it():
    assert between_load_and_store(INSTRUCTIONS) == (3, 2)
    assert between_load_and_store(("STS", *INSTRUCTIONS)) == (3, 2)


def test_a_turn_without_a_load_or_a_store_has_no_way():
    for instructions in (("FFMA", "STS"), ("LDG", "FFMA")):
        with pytest.raises(CourseError, match="no load from global memory"):
            between_load_and_store(instructions)


def test_instructions_are_drawn_to_scale():
    drawn = draw_iterations("A turn", {"x": INSTRUCTIONS, "y": INSTRUCTIONS * 2}).body
    bars = [drawn.split("<g ")[at] for at in (1, 2)]
    widths = [
        sum(
            float(one) for one in re.findall(rf'width="([\d.]+)"[^>]*fill="{COLOURS["FFMA"]}"', bar)
        )
        for bar in bars
    ]
    assert widths[1] == pytest.approx(2 * widths[0], abs=0.05)
    assert (bars[0].count(BLUE), bars[0].count(ORANGE)) == (2, 1)


def test_the_words_hold_the_counts():
    drawn = draw_iterations("A turn", {"x": INSTRUCTIONS})
    assert "x: 9 instructions, from load to store 3 instructions, 2 of them multiply" in drawn.alt
