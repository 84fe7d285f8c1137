"""The pictures and tables of lesson 15: what is missing, the slots, the map, and the stores."""

import pytest

from gemm_kernels import LADDER
from labs import EXERCISES
from utils.ladder import kept_functions
from utils.lessons import compare
from utils.lessons.lesson_15 import balance, load_of_b
from utils.lessons.lesson_15.instruction_counts import (
    beside_gray,
    draw_instructions,
    reads_and_instructions,
    slots_filled,
)
from utils.lessons.lesson_15.kernel_map import PARTS, draw_map, map_of, part_of
from utils.lessons.lesson_15.row_stores import beside_direct
from utils.lessons.lesson_15.shares_by_size import draw_shares
from utils.lessons.lesson_15.slot_bars import draw_missing, draw_verdicts

LARGE = LADDER.step("maxwell256")


def test_the_gap_is_the_difference_of_the_rounded_shares():
    assert "98 % in 2014 and 64 %" in draw_missing(LARGE).alt
    assert "34 %?" in draw_missing(LARGE).body


def test_the_verdicts_have_the_slots_of_the_gap():
    picture = draw_verdicts(LARGE)
    cleared = "bits: conflicts: not guilty, tiles: size: not guilty, stores: not guilty"
    assert cleared in picture.alt
    assert "loads, stores: 5 slots, others: 11 slots, last round: about 3" in picture.alt
    assert "not measured: 17 slots" in picture.alt


def test_the_bars_of_instructions_have_their_parts_and_times():
    alt = draw_instructions(maxwell64=LADDER.step("maxwell64"), maxwell256=LARGE).alt
    for parts in (
        "maxwell64: 689.5 instructions, 512 multiply-adds, 46 loads and stores, 131.5 o",
        "maxwell256: 637 instructions, 512 multiply-adds, 39 loads and stores, 86 o",
    ):
        assert f"{parts}thers" in alt


def test_gray_has_8_others_and_ours_86():
    rows = beside_gray(LARGE).rows
    assert rows[2:] == (("others", "8", "86"), ("in all", "556", "637"),
                        ("multiply-adds of all", "92 %", "80 %"))  # fmt: skip


def test_the_card_names_a_wrong_statement_and_then_a_missing_one():
    right = load_of_b.changing()
    assert load_of_b.find_changing(*right).kind == "good"
    assert load_of_b.find_changing(*right, 20).kind == "good"
    assert load_of_b.find_changing(right).kind == load_of_b.find_changing(set(right)).kind == "good"
    for numbers, words in (
        ((), "Begin with the statement that reads start"),
        ((3, 6), "Statement 6 does not belong to them. It is place = word & 124"),
        ((3, 7), "Right so far: 2. A statement is missing that reads row"),
        ((99,), "There is no statement 99"),
    ):
        card = load_of_b.find_changing(*numbers)
        assert card.kind == "ask"
        assert words in str(card)


SMALL = LADDER.step("maxwell64")
BALANCE = 62, 6, 16, 3, 13


@pytest.mark.slow
@pytest.mark.parametrize("parts", [BALANCE, (61.9, 5.6, 15.9, 3, 13.6)])
def test_the_balance_of_maxwell64_is_62_6_16_3_and_13(parts):
    card = balance.check_balance(SMALL, *parts)
    assert card.kind == "good"
    assert "689.5 instructions fill 84 of 100 slots, and 16 are empty" in str(card)
    assert "not measured: 13 slots" in str(card)


@pytest.mark.parametrize(
    "parts, words",
    [
        ((), "Begin with the multiply-adds"),
        ((66.5,), "66.5 is not right for multiply_adds"),
        ((62,), "loads_and_stores is missing"),
        ((62, 46), "how many slots does one instruction fill"),
        ((62, 6, 11), "11 is not right for others"),
        ((62, 6, 16, 0), "the verdict on the tiles has this number"),
        ((62, 6, 16, 3, 17), "The five parts are all slots"),
    ],
)
def test_the_card_names_the_first_wrong_part_of_the_balance(parts, words):
    card = balance.check_balance(SMALL, *parts)
    assert card.kind == "ask"
    assert words in str(card)


@pytest.mark.slow
def test_the_balance_is_made_from_counts_and_times():
    rows = balance.instructions(LARGE, SMALL).rows
    assert rows[1:] == (("loads and stores", "39", "46"), ("others", "86", "131.5"),
                        ("recorded time", "3.193 ms", "3.303 ms"))  # fmt: skip


def test_the_last_table_has_the_slots_filled_and_the_order():
    zig_zag = LADDER.step("warp_tiled").variant(LANES=3, BK=8)
    rows = slots_filled(zig_zag=zig_zag, maxwell256=LARGE).rows
    assert rows[-1] == ("slots filled", "81.3", "80.0")
    assert rows[2] == ("before the barrier", "3", "0")
    assert rows[3] == ("cycles lost to register banks", "9.5", "26")


def test_the_listing_shows_every_statement():
    assert str(load_of_b.Listing()).count("\n") + 1 == len(load_of_b.STATEMENTS)
    assert "word &amp; 124" in load_of_b.Listing()._repr_html_()


def test_the_shares_are_below_the_librarys_and_rise():
    alt = draw_shares([LARGE], [1024, 4096]).alt
    assert "at n = 1024, 4096: maxwell256 28, 64; cuBLAS 57, 77." in alt


@pytest.mark.slow
def test_the_table_of_reads_has_the_instructions():
    (row,) = reads_and_instructions(maxwell256=LARGE).rows
    assert row == ("maxwell256", "2", "36.4%", "637", "3.19 ms")


def test_the_map_has_every_line_of_the_kernel_once():
    lines = [line for _, run in map_of(LARGE) for line in run]
    assert len(lines) == len([line for line in lines if line.strip()])
    assert lines[1].startswith("def maxwell256(")
    assert "store_through_shared" in lines[-1]
    assert [line for line in lines if "#" in line] == ["    across, down = ...  # your first task"]


def test_every_part_has_lines_and_one_label():
    shown = draw_map(LARGE).data
    for part in PARTS:
        assert shown.count(f"<b>{part.name}</b>") == 1
    assert shown.index("<details>") > shown.index("<b>stores</b>")
    assert part_of("    m, k = a.shape").name == ""


@pytest.mark.slow
def test_the_readers_stores_are_counted_beside_the_steps():
    exercise = EXERCISES["whole_rows"]
    for kernel, counts in ((exercise.solution, ("1", "4")), (exercise.starter, ("1", "16"))):
        table = beside_direct(kernel)
        assert table.rows[0] == ("your whole_rows", *counts)
        assert [row[1:] for row in table.rows[1:]] == [("1", "32"), ("0.25", "4"), ("1", "4")]


def test_the_card_after_the_check_is_this_table(monkeypatch):
    exercise = EXERCISES["whole_rows"]
    monkeypatch.setattr(kept_functions, "kept_text", lambda name: exercise.solution_text)
    monkeypatch.setattr(kept_functions, "kept", lambda name: exercise.solution)
    assert "your whole_rows" in str(compare("whole_rows"))
