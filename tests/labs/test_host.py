"""Tests of host functions: they are called and stopped, and their errors become sentences."""

import contextlib
import sys

import pytest

from labs.host import exercise as host
from labs.host.exercise import CallFailed, Examination, HostExercise


def examine(double) -> Examination:
    if double(3) != 6:
        return Examination(("Three should give six.",))
    return Examination(facts=("Three gives six.",))


EXERCISE = HostExercise(
    name="double", lesson="00", title="Twice", text=("Write it.",), hints=(), after="Done.",
    parameters=("x",), promises=("right",), examine=examine,
)  # fmt: skip


def verdict_on(submission) -> str:
    return str(host.judge(EXERCISE, submission, patience=0.2))


def test_a_right_function_passes_with_its_facts():
    assert verdict_on(lambda x: 2 * x) == "Twice: right.\nThree gives six.\nDone."


def test_a_wrong_function_gets_the_cause_of_the_examination():
    assert "Three should give six" in verdict_on(lambda x: x)


def test_an_error_is_told_with_its_line_and_its_words():
    def raises(x):
        return x / 0

    line = raises.__code__.co_firstlineno + 1
    assert f"Line {line} raises ZeroDivisionError" in verdict_on(raises)


def test_a_loop_without_an_end_is_stopped_and_tracing_ends_with_it():
    def never(x):
        while True:
            x += 1

    before = sys.gettrace()
    assert "has not ended" in verdict_on(never)
    assert sys.gettrace() is before


def test_even_a_function_that_catches_everything_is_stopped():
    def catches(x):
        while True:
            with contextlib.suppress(Exception):
                x += 1

    assert "has not ended" in verdict_on(catches)


@pytest.mark.parametrize(
    ("submission", "words"),
    [
        (None, "This is None"),
        (6, "This is a int"),
        (lambda: 6, "Yours has 0 parameters"),
        (lambda x, y: 6, "Yours has 2 parameters"),
    ],
)
def test_what_is_no_such_function_is_refused_in_a_sentence(submission, words):
    assert words in verdict_on(submission)


def test_prints_of_the_function_do_not_come_through(capsys):
    def prints(x):
        print("noise")
        return 2 * x

    assert "right" in verdict_on(prints)
    assert capsys.readouterr().out == ""


def test_a_call_gives_the_value_back_and_fails_as_a_cause():
    assert host.call(lambda x: x + 1, 1, patience=1) == 2
    with pytest.raises(CallFailed, match="KeyError"):
        host.call(lambda x: {}[x], 1, patience=1)
