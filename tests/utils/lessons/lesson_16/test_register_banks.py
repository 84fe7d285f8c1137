"""Operands by register bank: those that are read, and those kept for reuse."""

from utils.lessons.lesson_16.register_banks import (
    _instruction,
    bank_reads,
    draw_idea,
    draw_reads,
    reads_of,
)


def reads(*lines):
    return [operands for _, operands in reads_of([_instruction(line) for line in lines])]


def test_a_marked_register_is_at_hand_in_the_same_place_of_the_next_instruction():
    first, second, third = reads(
        "FFMA R11, R2.reuse, R4, R11", "FFMA R13, R2, R6, R13", "FFMA R15, R2, R6, R15"
    )
    assert [read.kept for read in first] == [False] * 3
    assert [read.kept for read in second] == [True, False, False]
    assert not any(read.kept for read in third)


def test_a_mark_is_lost_in_another_place_and_behind_another_instruction():
    (_, elsewhere) = reads("FFMA R11, R2.reuse, R4, R11", "FFMA R13, R4, R2, R13")
    assert not any(read.kept for read in elsewhere)
    (_, later) = reads(
        "FFMA R11, R2.reuse, R4, R11", "IADD3 R0, R0, 0x2, RZ", "FFMA R1, R2, R4, R1"
    )
    assert not any(read.kept for read in later)


def test_a_register_that_two_operands_share_is_read_once():
    (operands,) = reads("FFMA R11, R2, R2, R4")
    assert (bank_reads("even", operands), bank_reads("odd", operands)) == (2, 0)


def test_the_words_count_what_is_crowded():
    assert "4 multiply-adds want more than one register of a bank" in str(draw_idea())
    code = [_instruction("FFMA R11, R2, R4, R11")] * 9
    assert "loop: 3 multiply-adds;" in str(draw_reads("Title", {"loop": code}, first=2, most=3))
