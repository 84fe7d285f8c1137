"""Tests of submissions that ignore the idea of their task: `check` accepts none of them."""

import pytest

from labs import EXERCISES
from labs.checking.variants import cheap_versions
from tests.labs import versions

FEWEST = 5
AT_ONCE = 2  # versions of each exercise that are tested without the slow tests


def cases() -> list:
    return [
        pytest.param(
            name, text, id=f"{name}-{what}", marks=() if number < AT_ONCE else pytest.mark.slow
        )
        for name, exercise in EXERCISES.items()
        for number, (what, text) in enumerate(cheap_versions(exercise))
    ]


@pytest.mark.parametrize("name, text", cases())
def test_a_submission_that_ignores_the_idea_is_not_accepted(name, text):
    verdict = versions.judged(name, text)
    if versions.needs_the_compiler(verdict):
        pytest.skip("the compiler knows that it ignores the idea")
    assert not verdict.passed
    (cause, *_) = verdict.causes
    assert cause


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_several_of_them(name):
    texts = [text for _, text in cheap_versions(EXERCISES[name])]
    assert len(set(texts)) >= FEWEST
    assert EXERCISES[name].solution_text not in texts
