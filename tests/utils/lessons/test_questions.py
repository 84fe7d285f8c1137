"""Tests of the questions of all lessons: their names, texts and kinds of answer."""

import re

import pytest

from gemm_kernels import LADDER as GEMM
from reduce_kernels import LADDER as SUMS
from utils import lessons as course
from utils.errors import CourseError
from utils.figures.look import number
from utils.lessons.questions import Question, bank
from utils.machine import devices

QUESTIONS = [pytest.param(question, id=name) for name, question in bank().items()]


@pytest.mark.parametrize("name", bank())
def test_a_name_begins_with_its_lesson(name):
    assert re.fullmatch(r"\d\d\.[a-z_]+", name)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_one_kind_of_answer(question):
    assert [bool(question.unit), bool(question.choices), bool(question.order)].count(True) == 1
    assert not question.text.endswith((".", "?"))
    assert len(question.text) <= 80


@pytest.mark.parametrize(
    "value, text", [(0.25, "0.25"), (32.0, "32"), (9.98, "9.98"), (15728.6, "15,729")]
)
def test_a_number_has_three_digits_that_count(value, text):
    assert number(value) == text


def test_a_share_is_compared_in_percentage_points():
    share = Question("A share", unit="%")
    assert share.feedback(30, 51.5) == (
        "You said 30 %, the answer is 51.5 %: too low by 21.5 percentage points."
    )
    assert share.feedback(61, 51.5).endswith("too high by 9.5 percentage points.")
    assert share.feedback(51, 51.5) == "You were right: you said 51 %."


@pytest.mark.parametrize(
    "unit, said, verdict",
    [
        ("times", 105, "You were right"), ("times", 106, "Close"), ("times", 115, "Close"),
        ("times", 116, "You said"), ("times", 85, "Close"), ("times", 84, "You said"),
        ("%", 115, "Close"), ("%", 116, "You said"),
    ],
)  # fmt: skip
def test_right_is_within_5_percent_and_close_within_15(unit, said, verdict):
    assert Question("How much", unit).feedback(said, 100).startswith(verdict)


def test_a_small_share_is_close_within_three_points():
    share = Question("A share", unit="%")
    assert share.feedback(10, 7.5) == "Close: you said 10 %, the answer is 7.5 %."
    assert share.feedback(4.6, 7.5).startswith("Close")
    assert share.feedback(10.6, 7.5).startswith("You said")
    assert Question("Time", "ms").feedback(10, 7.5).startswith("You said")


def test_a_choice_is_told_beside_the_right_one():
    speed = Question("Is it faster", choices=("faster", "slower"))
    assert speed.feedback("slower", "faster") == (
        'You chose "slower". The right answer is "faster".'
    )
    assert speed.feedback("faster", "faster") == 'You chose "faster". That is right.'


@pytest.mark.parametrize("given", [2048, 2048.0, "2048", " 2048 "])
def test_a_number_is_taken_where_the_choices_are_numbers_in_quotes(given):
    assert Question("Which size", choices=("512", "2048")).parse(given) == "2048"


@pytest.mark.parametrize("given", [True, float("nan"), float("inf"), 2048.5, 1024, None, [2048]])
def test_another_number_is_no_choice(given):
    with pytest.raises(CourseError, match="is not one of the answers"):
        Question("Which size", choices=("1", "512", "2048")).parse(given)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_explanation_has_one_or_two_short_lines(question):
    assert len(question.reasons) <= 2
    assert all(len(line) <= 110 for line in question.reasons)


NAIVE = GEMM.step("naive")
PEAK = devices.find("H200")
REDUCE = {name: SUMS.step(name).variant(BLOCK=256) for name in ("reduce1", "reduce2", "reduce3")}


def column(table, title):
    """Return name of the row -> number in the column with this title."""
    return {row[0]: int(row[table.head.index(title)]) for row in table.rows}


def figures():
    """Return (name of a question, text with computed figures that its explanation must hold)."""
    naive, least = course.recorded_ms(NAIVE, "4096"), 2 * 4096**3 / PEAK.peak_gflops / 1e6
    multiply_adds = PEAK.sms * PEAK.fp32_lanes_per_sm
    share = 100 * course.share_of_peak(NAIVE, "4096")
    active = [min(8, 2 ** (7 - step)) for step in range(8)]
    one, two, three = (course.recorded_ms(REDUCE[name], "2^30") for name in REDUCE)
    cycles = course.block_cycles("2^30", **REDUCE)
    started, recorded = column(cycles, "instructions"), column(cycles, "recorded")
    seen = column(course.blocks(**REDUCE), "wavefronts")
    return [
        ("00.idle", f"1000 ÷ 256 = {1000 / 256:.1f}, so {-(-1000 // 256)} blocks"),
        ("00.idle", f"1024 threads − 1000 elements = {4 * 256 - 1000} threads"),
        ("00.strided", f"32 × 4 = {32 * 4} words"),
        ("00.strided", f"{32 * 4} ÷ 8 = {32 * 4 // 8} sectors"),
        ("00.peak", f"{multiply_adds:,} multiply-adds per cycle, which are {2 * multiply_adds:,}"),
        ("00.peak", f"= {2 * multiply_adds * 1.98:,.0f} · 10⁹ operations per second"),
        ("00.naive", f"{2 * 4096**3 / 1e9:.0f} ÷ {PEAK.peak_gflops:,.0f} seconds = {least:.2f} ms"),
        ("00.naive", f"{least:.2f} ÷ {naive:.1f} = {share:.1f} %"),
        ("18.lanes", f"{' + '.join(str(128 >> step) for step in range(8))} = {256 - 1} additions"),
        ("18.lanes", f"{' + '.join(map(str, active))} = {sum(active)} loads"),
        ("18.lanes", f"255 ÷ {sum(active)} = {255 / sum(active):.2f} lanes"),
        ("18.banks", f"from {seen['reduce1']} to {seen['reduce2']}"),
        ("18.banks", f"from {started['reduce1']} to {started['reduce2']} cycles"),
        ("18.banks", f"= {started['reduce1'] / started['reduce2']:.2f}, and "),
        ("18.banks", f"{recorded['reduce1']} ÷ {recorded['reduce2']} = {one / two:.2f}"),
        ("18.idle", f"{started['reduce3']} against {started['reduce2']} cycles"),
        ("18.idle", f"{three:.2f} of {two:.2f} ms, {100 * three / two:.1f} %"),
    ]


def test_the_figures_of_the_explanations_are_computed():
    wrong = [(name, words) for name, words in figures() if words not in bank()[name].because]
    assert wrong == []
