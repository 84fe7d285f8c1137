"""Tests of versions: wrong ones get their sentence, right ones pass, mutants do not pass unseen."""

import json
import shutil
import warnings
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs import EXERCISES, check
from labs.checking import exercise as exercises
from labs.checking.exercise import KernelExercise
from labs.checking.recognise import FILE
from labs.checking.variants import harmless_mutants, right_versions, wrong_versions
from labs.grading.equivalents import equivalents
from labs.numbers.exercise import NumbersExercise
from tests.labs import versions
from tools import mistakes

# The number of versions of each exercise that are tested without the slow tests.
WRONG_AT_ONCE, RIGHT_AT_ONCE = 3, 2
SLOW = {False: (), True: pytest.mark.slow}

KERNELS = [one for one in EXERCISES.values() if isinstance(one, KernelExercise)]
RECOGNISED = [
    one for one in EXERCISES.values() if isinstance(one, KernelExercise | NumbersExercise)
]


def cases(listed, at_once: int) -> list:
    """Return the parameters of a test for each version of each exercise."""
    return [
        pytest.param(name, what, *version, id=f"{name}-{what}", marks=SLOW[number >= at_once])
        for name, exercise in EXERCISES.items()
        for number, (what, *version) in enumerate(listed(exercise))
    ]


def wrong(exercise):
    return ((one.what, one.text, one.says) for one in wrong_versions(exercise))


def named(some):
    return pytest.mark.parametrize("exercise", some, ids=[one.name for one in some])


@pytest.mark.parametrize("name, what, text, says", cases(wrong, WRONG_AT_ONCE))
def test_a_wrong_version_is_refused_with_its_sentence(name, what, text, says):
    verdict = versions.judged(name, text, what)
    if versions.needs_the_compiler(verdict):
        pytest.skip("the compiler knows that it is wrong")
    assert not verdict.passed
    assert versions.holds(verdict, says), f"wanted: {says}\n{verdict}"
    assert not versions.says_twice(verdict, says), f"said twice: {says}\n{verdict}"
    if getattr(EXERCISES[name], "on_cpu", False):
        assert "thread" not in str(verdict)


@pytest.mark.parametrize("name, what, text", cases(right_versions, RIGHT_AT_ONCE))
def test_a_right_version_passes(name, what, text):
    verdict = versions.judged(name, text, what)
    assert verdict.passed, str(verdict)


@pytest.mark.slow
@named(list(EXERCISES.values()))
def test_a_slip_by_rule_is_refused_or_known_to_be_harmless(exercise):
    passed, harmless = versions.passing_mutants(exercise), harmless_mutants(exercise)
    names = [what for what, _ in passed]
    assert versions.unexplained(names, harmless) == []
    assert versions.stale(names, harmless) == []
    if isinstance(exercise, KernelExercise):
        assert {what: shapes for what, kernel in passed
                if (shapes := versions.wrong_shapes(exercise, kernel))} == {}  # fmt: skip


# ------------------------------------------------------------------------- tables of mistakes


def file_of(exercise) -> dict:
    return json.loads((exercise.folder / FILE).read_text(encoding="utf-8"))


@named(RECOGNISED)
def test_a_table_is_made_from_the_files_as_they_are(exercise):
    made_from = file_of(exercise)["made_from"]
    assert made_from == mistakes.digest_of(exercise), f"python -m tools.mistakes {exercise.name}"


# Only two exercises, and quick ones, because all tables take half an hour on one core.
@pytest.mark.slow
@named([EXERCISES["scale"], EXERCISES["wavefronts"]])
def test_a_table_is_what_the_command_makes(exercise):
    with warnings.catch_warnings(action="ignore"):
        made = mistakes.as_text(mistakes.table(exercise))
    assert (exercise.folder / FILE).read_text(encoding="utf-8") == made


@cache
def spellings(exercise) -> list:
    """Return the wrong versions that the table knows, each in all other spellings."""
    known = file_of(exercise)["known"]
    return [
        (exercise.name, one.what, rule, text, one.says)
        for one in wrong_versions(exercise)
        if one.says in known
        for rule, text in equivalents(one.text)
    ]


def is_recognised(data) -> None:
    exercise = data.draw(st.sampled_from(KERNELS), "exercise")
    others = spellings(exercise)
    if others:
        name, what, _, text, says = data.draw(st.sampled_from(others), "spelling")
        verdict = versions.judged(name, text, what)
        assert versions.holds(verdict, says), f"wanted: {says}\n{verdict}"


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_a_known_mistake_is_recognised_in_another_spelling(data):
    is_recognised(data)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_known_mistakes_are_recognised_in_many_other_spellings(data):
    is_recognised(data)


# -------------------------------------------------------------- what these tests would notice


@pytest.mark.parametrize("name", ["scale", "tiling"])
def test_one_process_runs_the_cases_about_one_exercise(name, request):
    assert request.node.get_closest_marker("xdist_group").args == (name,)


def test_a_text_is_judged_once():
    text = EXERCISES["scale"].starter_text
    assert versions.judged("scale", text) is versions.judged("scale", text)
    assert versions.judged("scale", EXERCISES["scale"].solution_text).passed
    assert not versions.judged("scale", text).passed


def test_of_texts_with_one_syntax_tree_one_is_judged(monkeypatch):
    right, wrong = (EXERCISES["scale"].solution_text, EXERCISES["scale"].starter_text)
    assert versions.passes("scale", f"# As it is\n{right}")
    assert not versions.passes("scale", f"# As it is\n{wrong}")
    monkeypatch.setattr(versions, "check", None)
    assert versions.passes("scale", right)
    assert not versions.passes("scale", wrong)
    with pytest.raises(TypeError):
        versions.passes("scale", right.replace("i < out.size", "i < out.size - 7"))


def test_a_sentence_that_is_not_said_is_noticed():
    verdict = check("scale", EXERCISES["scale"].starter)
    assert versions.holds(verdict, "no thread {does} or writes")
    assert versions.holds(verdict, "No Thread reads")
    assert not versions.holds(verdict, "no thread {does} or dances")
    assert not versions.holds(verdict, "any array. Is the body still to be written?")


def test_a_sentence_that_is_said_twice_is_noticed():
    said = "no thread reads or writes any array"
    verdict = check("scale", EXERCISES["scale"].starter)
    assert not versions.says_twice(verdict, said)
    assert versions.says_twice(replace(verdict, causes=verdict.causes * 2), said)


def test_a_slip_that_passes_and_an_entry_that_fits_none_are_noticed():
    passed = ["float64 in `a[i] = 0.0`", "constant_one_more in `b = 1`"]
    harmless = {"float64 in `a": "a reason", "float64 in `b": "another one"}
    assert versions.unexplained(passed, harmless) == passed[1:]
    assert versions.unexplained(passed, {}) == passed
    assert versions.stale(passed, harmless) == ["float64 in `b"]


def test_a_slip_that_is_wrong_at_another_shape_is_noticed():
    small = versions.changed("scale", ("i < out.size", "i < min(out.size, 64)"))
    assert versions.wrong_shapes(EXERCISES["scale"], small)
    assert not versions.wrong_shapes(EXERCISES["scale"], EXERCISES["scale"].solution)


def test_a_file_that_was_changed_since_is_noticed(tmp_path, monkeypatch):
    exercise = EXERCISES["scale"]
    before = mistakes.digest_of(exercise)
    shutil.copytree(exercise.folder, tmp_path / "scale")
    monkeypatch.setattr(exercises, "EXERCISES", tmp_path)
    assert mistakes.digest_of(exercise) == before
    with (tmp_path / "scale" / "wrong.py").open("a", encoding="utf-8") as file:
        file.write("# One line more.\n")
    assert mistakes.digest_of(exercise) != before
