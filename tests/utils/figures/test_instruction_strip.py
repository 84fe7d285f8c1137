"""Tests of the drawing of loops: a square per instruction, in its colour and in order."""

import re

import pytest

from utils.figures.instruction_strip import ACROSS, COLOURS, draw_idea, draw_loops, kind_of

SQUARE = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="1[29]" [^>]*fill="([^"]+)"')
LOOP = ("LDG.E", "IADD3", "FFMA", "ISETP.NE.AND", "BRA")


def squares_of(picture) -> list[tuple[float, float, str]]:
    """Return (x, y, colour) of each square, without the larger squares of the legend."""
    return [(float(x), float(y), colour) for x, y, colour in SQUARE.findall(picture.body)]


@pytest.mark.parametrize(
    "opcode, kind",
    [
        ("LDG.E.128", "load"),
        ("FFMA", "multiply-add"),
        ("IMAD.MOV.U32", "address or counter"),
        ("ISETP.NE.U32.AND", "test or jump"),
        ("BRA", "test or jump"),
    ],
)
def test_an_opcode_has_a_kind(opcode, kind):
    assert kind_of(opcode) == kind


def test_squares_stand_in_order_and_a_turn_begins_a_row():
    squares = squares_of(draw_loops("two turns", {"loop": (LOOP, 2)}))
    assert [colour for _, _, colour in squares] == [COLOURS[kind_of(opcode)] for opcode in LOOP] * 2
    assert len({y for _, y, _ in squares}) == 2
    assert [x for x, _, _ in squares[:5]] == [x for x, _, _ in squares[5:]]


def test_a_long_turn_goes_on_in_the_next_row():
    squares = squares_of(draw_loops("one turn", {"loop": (("FFMA",) * (ACROSS + 1), 1)}))
    assert len({y for _, y, _ in squares}) == 2


def test_the_words_count_each_kind():
    alt = str(draw_loops("two turns", {"loop": (LOOP, 2)}))
    assert "10 instructions (load 2, multiply-add 2, address or counter 2, test or jump 4)" in alt


def test_of_the_idea_only_what_keeps_the_loop_going_becomes_less():
    before, after = str(draw_idea()).split("all four in one iteration")
    for part in ("load 8, multiply-add 4",):
        assert part in before
        assert part in after
    assert "24 steps" in before
    assert "15 steps" in after
