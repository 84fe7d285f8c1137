"""Tests of the innermost loops of products: compiled here, recorded, or neither."""

from collections import Counter

import pytest

from gemm_kernels import LADDER
from gpu_xray.compile import NO_COMPILER
from tools.records.hot_loops import ARCH, variants
from utils.errors import CourseError
from utils.lessons import Edit, draw_loops, edited, hot_loop, hot_loops, two_estimates
from utils.lessons.cards import Card
from utils.lessons.inner_loops import InnerLoop, _ms, compiled_loop, recorded_loops

SAME = {"IMAD.IADD": "IADD3", "IMAD.MOV.U32": "MOV"}
NAIVE, UNROLLED = LADDER.step("naive"), LADDER.step("unrolled")


@pytest.fixture
def no_compiler(monkeypatch):
    def refuse(*_):
        raise CourseError(NO_COMPILER)

    monkeypatch.setattr("utils.lessons.inner_loops.xray", refuse)


def slow_but_for_lesson_06(variant):
    marks = () if variant.step in (NAIVE, UNROLLED) else pytest.mark.slow
    return pytest.param(variant, marks=marks, id=str(variant))


@pytest.mark.parametrize("variant", [slow_but_for_lesson_06(one) for one in variants()])
def test_the_record_is_what_the_compiler_makes(variant, compiler):
    recorded, compiled = recorded_loops()[ARCH, str(variant)], compiled_loop(variant, ARCH)
    assert (recorded.loads_first, recorded.around) == (compiled.loads_first, compiled.around)
    assert instructions(recorded) == instructions(compiled)


def instructions(loop):
    """Return how often each instruction occurs, whichever unit adds or moves.

    Numba emits the variables of a long loop in the order of a set, so that the same kernel of 370
    instructions is compiled in several orders, and a few additions and moves change their unit.
    """
    return Counter(SAME.get(opcode, opcode) for opcode in loop.opcodes)


def test_counts_of_a_loop_are_those_of_its_opcodes():
    loop = InnerLoop(2, ("LDG.E", "LDG.E", "FFMA", "FFMA.FTZ", "IADD3", "BRA"))
    assert (loop.multiply_adds, loop.per_multiply_add) == (2, 3)


def test_loads_are_counted_up_to_the_first_wait(compiler):
    loads = [compiled_loop(each, ARCH).loads_first for each in (NAIVE.variant(), *variants()[1:])]
    assert loads[0] == 8
    assert max(loads) > 8 > min(loads)


def test_without_a_compiler_the_record_takes_its_place(no_compiler):
    assert hot_loop(NAIVE) == recorded_loops()[ARCH, "naive"]
    assert "31 instructions" in str(draw_loops(1, naive=NAIVE))


def test_an_edited_kernel_has_no_record(no_compiler):
    other = edited(NAIVE.file, Edit("float32(0)", "float32(1)")).STEP
    with pytest.raises(CourseError, match="compiler is not installed"):
        hot_loop(other)
    card = hot_loops(naive=NAIVE, other=other)
    assert isinstance(card, Card)
    assert "The lesson goes on" in str(card)


def test_turns_are_drawn_until_the_multiply_adds_are_reached(no_compiler):
    alt = str(draw_loops(16, naive=NAIVE, by_4=UNROLLED.variant(UNROLL=4)))
    assert "naive: 124 instructions" in alt
    assert "by 4: 91 instructions" in alt


def test_two_estimates_stand_beside_the_record(no_compiler):
    (row,) = two_estimates("4096", naive=NAIVE).rows
    # 4096³ / 32 multiply-adds of warps on 132 SMs at 1980 MHz, with 7.75 / 4 and with 2 cycles each
    assert row == ("naive at\N{NO-BREAK SPACE}4096", "15.9 ms", "16.4 ms", "27.5 ms")


@pytest.mark.slow
def test_an_edited_copy_has_no_recorded_time(compiler):
    copy = edited(NAIVE.file, Edit("float32(0)", "float32(1)")).STEP
    for shown in (two_estimates, hot_loops):
        rows = shown("4096", ours=NAIVE, copy=copy).rows
        assert [row[-1] for row in rows] == ["27.5 ms", "–"]


def test_without_a_compiler_an_edited_copy_has_no_estimate(no_compiler):
    copy = edited(NAIVE.file, Edit("float32(0)", "float32(1)")).STEP
    card = two_estimates("4096", ours=NAIVE, copy=copy)
    assert isinstance(card, Card)
    assert "The lesson goes on" in str(card)


def test_a_time_has_three_digits():
    assert [_ms(ms) for ms in (2.40303, 218.217, 0.011621)] == ["2.40 ms", "218 ms", "0.0116 ms"]


def test_a_name_of_two_words_stays_on_one_row(no_compiler):
    assert hot_loops(UNROLL_1=UNROLLED.variant(UNROLL=1)).rows[0][0] == "UNROLL\N{NO-BREAK SPACE}1"


def test_a_table_has_recorded_times_where_a_shape_is_asked_for(no_compiler):
    shown = hot_loops("4096", naive=NAIVE)
    assert shown.head[-1] == "recorded at 4096"
    assert shown.rows == (("naive", "4", "7.75", "8", "27.5 ms"),)
