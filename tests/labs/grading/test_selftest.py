"""The self-test: which mutants it takes, and what it says where something does not hold."""

import re

import pytest

from labs import EXERCISES
from labs.grading.mutants import sample
from labs.grading.selftest import Summary, Tried


def test_mutants_of_a_self_test_are_the_same_ones_each_time_and_of_every_rule():
    text = EXERCISES["tiling"].solution_text
    some = sample(text, 24)
    assert [one.text for one in some] == [one.text for one in sample(text)[:24]]
    assert len({one.text for one in some}) == 24
    assert len({one.rule for one in some[:12]}) == 12


def tried(kind, points, told="", what=""):
    return Tried("x", kind, what, points, 100, told, 0.0)


GOOD = (
    tried("solution", 100), tried("starter", 10, "no"),
    *(tried("right", 100) for _ in range(4)), *(tried("mutant", 0, "Line 1.") for _ in range(12)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ((), None),
        ((tried("mutant", 100),), None),
        ((tried("solution", 99, "why"),), "The solution loses points: why"),
        ((tried("starter", 34),), "more than a third"),
        ((tried("right", 50, "why", "turned"),), r"\(turned\): why"),
        ((tried("mutant", 0),), "nothing is told"),
    ],
)
def test_a_self_test_says_what_does_not_hold(added, words):
    told = " ".join(Summary("x", GOOD + added).wrong)
    assert re.search(words, told) if words else told == ""


@pytest.mark.parametrize(
    "told", ["", "3 of 8 elements are wrong.", "1 of 9 cases are wrong. For `n = 3` it returns 4."]
)
def test_a_count_names_no_cause(told):
    named = [tried("mutant", 0, told) if one.kind == "mutant" else one for one in GOOD]
    assert "0 mutants are told the cause, and 12 are needed." in list(Summary("x", named).wrong)


def test_too_few_right_functions_are_told():
    few = [one for one in GOOD if one.kind != "right"]
    assert list(Summary("x", few).wrong) == ["There are 0 right functions, and 4 are needed."]
