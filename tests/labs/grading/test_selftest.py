"""The self-test: its choice of mutants, and its sentences about failures."""

import re

import pytest

from labs import EXERCISES
from labs.grading.mutants import sample
from labs.grading.selftest import PartSummary, Trial


def test_mutants_of_a_self_test_are_the_same_ones_each_time_and_of_every_rule():
    text = EXERCISES["tiling"].solution_text
    some = sample(text, 24)
    assert [one.text for one in some] == [one.text for one in sample(text)[:24]]
    assert len({one.text for one in some}) == 24
    assert len({one.rule for one in some[:12]}) == 12


def trial(kind, points, told="", what=""):
    return Trial("x", kind, what, points, 100, told, 0.0)


GOOD = (
    trial("solution", 100), trial("starter", 10, "no"),
    *(trial("right", 100) for _ in range(4)), *(trial("mutant", 0, "Line 1.") for _ in range(12)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ((), None),
        ((trial("mutant", 100),), None),
        ((trial("solution", 99, "why"),), "The solution loses points: why"),
        ((trial("starter", 34),), "more than a third"),
        ((trial("right", 50, "why", "turned"),), r"\(turned\): why"),
        ((trial("mutant", 0),), "nothing is told"),
    ],
)
def test_a_self_test_says_what_does_not_hold(added, words):
    sentences = " ".join(PartSummary("x", GOOD + added).wrong)
    assert re.search(words, sentences) if words else sentences == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "3 of 8 elements are wrong.",
        "Not right at n = 3 and 1 more of 6 shapes. 3 of 8 elements are wrong.",
        "1 of 9 cases are wrong. For `n = 3` it returns 4.",
    ],
)
def test_a_count_names_no_cause(sentence):
    named = [trial("mutant", 0, sentence) if one.kind == "mutant" else one for one in GOOD]
    assert "0 mutants are told the cause, and 12 are needed." in list(PartSummary("x", named).wrong)


def test_too_few_right_functions_are_told():
    few = [one for one in GOOD if one.kind != "right"]
    assert list(PartSummary("x", few).wrong) == ["There are 0 right functions, and 4 are needed."]
