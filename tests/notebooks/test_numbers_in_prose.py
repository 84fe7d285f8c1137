"""Tests that numbers in the prose of lessons are proven by quotes whose figures a test computes."""

import ast
import re

import pytest

from tests.quotes import explains, says
from tools.numbers_in_prose import claims_of, pattern, prose, unproven, unproven_in
from tools.rule_exceptions import proves_its_numbers
from utils.lessons.questions import bank
from utils.lessons.rule_exceptions import exceptions_of
from utils.paths import lessons

# The lessons whose prose is proven so far; a lesson that is rewritten leaves the exceptions.
HELD = [number for number in lessons() if proves_its_numbers.__name__ not in exceptions_of(number)]


@pytest.mark.parametrize("number", HELD)
def test_every_number_in_the_prose_is_proven(number):
    assert unproven(number) == []


def quote(text, *figures):
    return pattern(text, [ast.parse(figure, mode="eval").body for figure in figures])


def test_a_number_is_held_by_a_field_whose_figure_is_computed():
    cell = "The strided kernel takes 33 cycles, and\nnaive 2."
    assert len(unproven_in([cell], [])) == 2
    assert unproven_in([cell], [quote("takes {} cycles, and naive {}.", "one", "other")]) == []
    (place,) = unproven_in([cell], [quote("takes {:.0f} cycles", "sum(needed)")])
    assert "naive 2." in place


def test_a_literal_proves_nothing():
    cell = "It takes 33 cycles."
    for figure in ("33", "32 + 1", "'33'"):
        assert unproven_in([cell], [quote("takes {} cycles", figure)])
    assert unproven_in([cell], [quote("takes 33 cycles")])


def test_a_quote_that_fits_two_different_sentences_holds_neither():
    cells = ["It takes 33 cycles.", "It takes 2 cycles."]
    assert len(unproven_in(cells, [quote("takes {} cycles", "cycles")])) == 2
    assert unproven_in(cells[:1] * 2, [quote("takes {} cycles", "cycles")]) == []


@pytest.mark.parametrize(
    "text",
    [
        "# 05 · 2 lanes",
        "**Time:** about 50 minutes, and 15 more.",
        "1. The first\n2. The second",
        "**3. A title.**",
        "See [lesson 07](07_tiling.ipynb), lessons 08 and 09, [05](05_ways.ipynb), exercise 2.",
        "`x[4]` of <code>float32(0)</code> on an H200 with sm_90\n\n```\na = 1\n```",
    ],
)
def test_names_code_and_numbers_of_lessons_and_items_need_no_quote(text):
    assert unproven_in([text], []) == []


def test_a_sentence_that_the_lesson_does_not_say_is_refused():
    assert any("33 to 5" in cell for cell in prose("05"))
    says("05", "the sectors fall from {} to 5", 33)
    for figure in (3, 330, 34):
        with pytest.raises(AssertionError, match="does not say"):
            says("05", "sectors fall from {} to 5", figure)
    with pytest.raises(AssertionError, match="does not say"):
        says("05", "{} to 5, a factor", 3)


@pytest.mark.parametrize("number", HELD)
def test_every_explanation_of_an_answer_is_proven(number):
    text = claims_of(number).read_text(encoding="utf-8")
    explained = {name for name, question in bank().items() if question.because}
    names = {name for name in explained if name.startswith(f"{number}.")}
    assert names == names & set(re.findall(r'\bexplains\(\s*"([^"]+)"', text))


def test_an_explanation_with_another_figure_or_a_literal_is_refused():
    because = bank()["00.idle"].because
    words = re.sub(r"\d[\d.]*\d|\d", "{}", because)
    figures = re.findall(r"\d[\d.]*\d|\d", because)
    explains("00.idle", words, *figures)
    with pytest.raises(AssertionError):
        explains("00.idle", words, *figures[:-1], f"{figures[-1]}0")
    with pytest.raises(AssertionError, match="is not computed"):
        explains("00.idle", because)
