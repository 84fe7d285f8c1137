"""The self-test: its choice of mutants, and its sentences about failures."""

import re
from dataclasses import replace

import pytest

from labs import EXERCISES
from labs.checking.exercise import KernelExercise
from labs.grading.command import SELFTEST_SECRET
from labs.grading.labs import LABS, find
from labs.grading.marks import (
    DRAWN_CASES,
    TASK_CASES,
    other_targets,
    points_of_rows,
    split_points,
)
from labs.grading.mutants import sample
from labs.grading.selftest import PartSummary, Trial, apart, summaries
from labs.numbers.exercise import NumbersExercise


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


def test_a_part_of_several_labs_is_graded_once_if_only_its_points_differ():
    labs = apart(LABS.values())
    parts = [lab.parts for lab in labs]
    assert {len(one) for one in parts} == {1}
    assert {one.points for (one,) in parts} == {100}
    every = [part for lab in LABS.values() for part in lab.parts]
    assert {one.exercise for (one,) in parts} == {one.exercise for one in every}
    assert len(set(parts)) == len(parts) < len(every)
    lab = find("tiling")
    pinned = replace(lab, parts=tuple(replace(part, pinned=True) for part in lab.parts))
    assert len(apart([lab, lab])) == len(lab.parts)
    assert len(apart([lab, pinned])) == 2 * len(lab.parts)


def test_a_row_that_loses_something_loses_a_point_in_every_lab():
    """So a submission has all points of a part in all labs or in none."""
    for part in (part for lab in LABS.values() for part in lab.parts):
        if isinstance(part.definition, KernelExercise):
            right, idea, targets = points_of_rows(part)
            assert min(right, idea) > 0
            assert targets > 0 or not other_targets(part)
        elif isinstance(part.definition, NumbersExercise):
            assert min(split_points(part.points, (TASK_CASES, DRAWN_CASES))) > 0


@pytest.mark.slow
def test_the_self_test_grades_each_kind_of_submission():
    (lab,) = apart([replace(find("first_kernel"), parts=find("first_kernel").parts[:1])])
    (summary,) = summaries([lab], SELFTEST_SECRET, workers=1, most=1)
    kinds = [one.kind for one in summary.trials]
    assert kinds[:2] == ["solution", "starter"]
    assert set(kinds[2:]) == {"right", "mutant"}
    assert all(one.full for one in summary.trials if one.kind in ("solution", "right"))
    assert not summary.of_kind("starter")[0].full
