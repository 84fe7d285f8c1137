"""Tests of submissions that ignore the idea of their task.

`check` accepts none of them, and the grader gives none of them more than 40 % of its part. They are
those of the exercises' `cheap.py`, and the files of `attacks/`, which try to deceive the grader.
"""

from pathlib import Path

import pytest

from labs import EXERCISES
from labs.checking.variants import cheap_versions
from labs.grading import grade as grading
from labs.grading.grade import grade
from labs.grading.labs import LABS, Lab
from labs.grading.selftest import apart
from labs.grading.submissions import Submission
from labs.host.exercise import HostExercise
from tests.labs import versions
from tests.labs.grading.conftest import sandbox  # noqa: F401, a fixture

SECRET = "a secret of sixteen characters"
MOST = 40  # percent of a part
FEWEST = 5
AT_ONCE = 2  # versions of each exercise that are tested without the slow tests
ATTACKS = Path(__file__).parent / "attacks"  # a folder per exercise
# What attacks that also do a part of the task earn for that part, in percent.
EARNED = {
    "benchmark-one_span_counted_again": 75,
    "column_sums-each_sum_twice": 83,
    "cut_along_k-all_terms_in_each_slice": 63,
    "double_buffer-computed_with_at_once": 63,
    "double_buffer-dead_branch": 63,
    "enough_blocks-powers_of_two_alone": 42,
    "four_loads-all_loads_again": 83,
    "fused-all_again_64_times": 83,
    "fused-values_in_shared_memory": 83,
    "pipe_roof-pipe_alone": 41,
    "row_length-plus_difference": 83,
    "stage_ready-wait_for_all": 86,
    "to_the_gpu_and_back-large_grid": 50,
    "to_the_gpu_and_back-no_grid": 50,
    "unroll-a_factor_for_each_term": 63,
    "unroll-a_test_for_each_term": 63,
    "unroll-a_test_in_a_function": 63,
    "unroll-whole_groups_alone": 63,
    "waiting_blocks-one_slot_less": 43,
}


def cases() -> list:
    return [
        pytest.param(
            name, text, id=f"{name}-{what}", marks=() if number < AT_ONCE else pytest.mark.slow
        )
        for name, exercise in EXERCISES.items()
        for number, (what, text) in enumerate((*cheap_versions(exercise), *attacks(name)))
    ]


def attacks(name: str) -> list[tuple[str, str]]:
    """Return (name of the file, text) of every attack on an exercise."""
    return [(file.stem, file.read_text()) for file in sorted((ATTACKS / name).glob("*.py"))]


def test_every_attack_is_on_an_exercise():
    assert {folder.name for folder in ATTACKS.iterdir()} <= set(EXERCISES)


@pytest.mark.parametrize("name, text", cases())
def test_a_submission_that_ignores_the_idea_is_not_accepted(name, text):
    verdict = versions.judged(name, text)
    if versions.needs_the_compiler(verdict):
        pytest.skip("the compiler knows that it ignores the idea")
    assert not verdict.passed
    (cause, *_) = verdict.causes
    assert cause


def labs_of(name: str) -> list[Lab]:
    """Return the labs that have an exercise, with this part alone, for 100 points."""
    return [lab for lab in apart(LABS.values()) if lab.parts[0].exercise == name]


@pytest.fixture(autouse=True)
def unexplained(monkeypatch):
    """Let the grader give marks without explanations, which need a second run of the function."""
    monkeypatch.setattr(grading, "_explanations", lambda *_: {})


def points(lab: Lab, text: str) -> int:
    return grade(lab, Submission("student", (("work.py", text.encode()),)), SECRET).points


@pytest.mark.parametrize("name, text", cases())
def test_a_submission_that_ignores_the_idea_gets_few_points(name, text, request):
    if isinstance(EXERCISES[name], HostExercise):
        request.getfixturevalue("sandbox")
    for lab in labs_of(name):
        assert points(lab, text) <= EARNED.get(request.node.callspec.id, MOST)


def test_a_loop_in_another_cell_is_no_unrolled_loop_of_the_same_line():
    raw = (ATTACKS / "unroll" / "loop_in_another_cell.ipynb").read_bytes()
    (lab,) = labs_of("unroll")
    assert grade(lab, Submission("student", (("work.ipynb", raw),)), SECRET).points <= MOST


@pytest.mark.parametrize("name", ["scale", "missing_barrier", "order_tree", "wavefronts"])
def test_a_solution_gets_all_points_of_these_labs(name):
    assert [points(lab, EXERCISES[name].solution_text) for lab in labs_of(name)] == [100]


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_several_of_them(name):
    texts = [text for _, text in cheap_versions(EXERCISES[name])]
    assert len(set(texts)) >= FEWEST
    assert EXERCISES[name].solution_text not in texts
