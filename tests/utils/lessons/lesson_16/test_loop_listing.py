"""A loop beside its Python: every instruction has its number, kind, line and explanation."""

import re

from gemm_kernels import LADDER
from gpu_xray.opcodes import UNKNOWN
from labs.exercises.single_precision import starter as double
from labs.exercises.sums_in_registers import starter as local
from utils import lessons as course
from utils.lessons.lesson_16.loop_listing import explanation, flags
from utils.lessons.lesson_16.reading_machine_code import _lines_around

NAIVE = LADDER.step("naive")


def test_the_text_has_every_instruction_with_its_number_and_kind():
    lines = str(course.machine_loop(NAIVE)).splitlines()
    assert lines[1:4] == ["while i < k:", "    total += a[row, i] * b[i, col]", "    i += 1"]
    assert lines[24].split() == ["21", "FFMA", "R27,", "R20,", "R27,", "R29", "multiply-add"]
    assert len(lines) == 4 + 31


def test_each_instruction_has_a_line_and_an_explanation_in_html():
    shown = course.machine_loop(NAIVE)._repr_html_()
    assert shown.count("<li ") == 31
    assert len(re.findall(r'<li data-line="\d" title="\d+\. ', shown)) == 31
    assert "@ID@" not in shown


def test_every_opcode_of_the_lesson_has_words():
    for step in (NAIVE, double, local):
        assert UNKNOWN not in course.machine_loop(step)._repr_html_()


def test_the_explanation_says_what_the_control_code_says():
    (load, multiply_add) = (course.machine_loop(NAIVE).rows[at].instruction for at in (4, 20))
    assert "It sets flag 3" in " ".join(explanation(5, load))
    assert "It waits until flag 3 is free." in explanation(21, multiply_add)
    assert "in the next cycle" in " ".join(explanation(21, multiply_add))


def test_the_explanation_says_whose_registers_are_read_and_which_lanes_take_part():
    rows = course.machine_loop(NAIVE).rows
    load, jump = (" ".join(explanation(at, rows[at - 1].instruction)) for at in (14, 31))
    assert "It sets flag 0 until the registers that it names are read." in load
    assert "`@P1`: only the lanes in which P1 is true do this." in jump
    store = " ".join(explanation(12, course.machine_loop(local).rows[11].instruction))
    assert "`@!P0`: only the lanes in which P0 is false do this." in store


def test_an_instruction_that_waits_for_several_flags_says_so_in_the_plural():
    said = [
        sentence
        for at, row in enumerate(course.machine_loop(local).rows, start=1)
        for sentence in explanation(at, row.instruction)
        if len(row.instruction.control.waits) > 1
    ]
    assert any(re.search(r"until the flags \d and \d are free", sentence) for sentence in said)


def test_the_first_modifier_that_matters_names_an_opcode():
    copy = course.machine_loop(NAIVE).rows[0].instruction
    assert copy.opcode == "IMAD.MOV.U32"
    assert "`IMAD.MOV`: copy a register" in explanation(1, copy)[0]


def test_the_fold_leaves_out_opcodes_that_are_known():
    everything, new = (
        course.machine_loop(double, known=known)._repr_html_() for known in (None, NAIVE)
    )
    assert "<dt>LDG" in everything
    assert "<dt>LDG" not in new
    assert "<dt>DADD" in new
    assert "<details" not in course.machine_loop(NAIVE, known=NAIVE)._repr_html_()


def test_the_fewest_lines_that_have_all_texts():
    lines = ["x = 0", "for i in a:", "    x += i", "    # a comment", "", "    y(x)", "x = 0"]
    assert _lines_around(lines, {"x += i", "y(x)"}) == ("x += i", "y(x)")
    assert _lines_around(lines, {"x = 0", "y(x)"}) == ("    y(x)", "x = 0")


def test_flags_and_cycles_have_columns():
    rows = course.machine_loop(local).rows
    words = [flags(row.instruction) for row in rows]
    assert words[:2] == ["", "wait 2, set 2"]
    assert "wait 1 3" in words
    shown = course.machine_loop(local)._repr_html_()
    assert shown.count('class="flags"') == shown.count('class="cycles"') == len(rows) + 1
