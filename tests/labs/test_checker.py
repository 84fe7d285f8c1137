"""Tests of the checker that hold for any exercise: its answers to whatever a reader submits."""

import pickle

import numpy as np
import pytest
from numba import cuda, njit

from labs import EXERCISES, Verdict, check
from labs.checking.run import UNWRITTEN, run_kernel
from tests.labs.versions import changed, from_text, written

NAME = "coalescing"
GOOD = EXERCISES[NAME].solution


def plain(a, b, c):
    """A function without a decorator."""


@njit
def on_the_cpu(a, b, c):
    c[0, 0] = a[0, 0] * b[0, 0]


@cuda.jit(device=True)
def helper(a, b, c):
    return a + b + c


@cuda.jit
def two_arguments(a, c):
    c[0, 0] = a[0, 0]


@cuda.jit
def other_order(c, a, b):
    c[0, 0] = a[0, 0] * b[0, 0]


@cuda.jit
def gives_back(a, b, c):
    return c


@cuda.jit
def raises(a, b, c):
    raise ValueError("no")


@cuda.jit
def asserts(a, b, c):
    assert a.shape[0] == b.shape[0]


@cuda.jit
def makes_a_list(a, b, c):
    total = [1, 2]
    c[0, 0] = total[0]


@cuda.jit
def unknown_name(a, b, c):
    c[0, 0] = nothing_of_this_name  # noqa: F821


@cuda.jit
def three_indices(a, b, c):
    c[0, 0] = a[0, 0, 0]


@cuda.jit
def any_number_of_arguments(*arrays):
    arrays[0][0, 0] = 1


class Odd:
    def __call__(self, a, b, c):
        pass


SUBMISSIONS = {
    "nothing": (None, ["`None`", "A launch"]),
    "a launch that was made": (GOOD[1, 1], ["kernel[grid, block]", "without brackets"]),
    "a text": ("coalescing", ["'coalescing' is a text", "without quotes"]),
    "a number": (3, ["int is no kernel"]),
    "an object that can be called": (Odd(), ["Odd is no kernel"]),
    "plain Python": (plain, ["no `@cuda.jit` above `plain`"]),
    "a function of the CPU": (on_the_cpu, ["`@njit`", "compiled for the CPU"]),
    "a device function": (helper, ["`helper` is a device function"]),
    "too few arguments": (two_arguments, ["three arguments", "2 parameters: `a`, `c`"]),
    "another order": (other_order, ["in this order", "`c`, `a`, `b`"]),
    "a value returned": (gives_back, ["`return c`", "returns nothing"]),
    "an error raised": (raises, ["raises an error", 'ValueError("no")', "thread (0, 0)"]),
    "an assertion that fails": (asserts, ["raises an error", "assert a.shape[0]"]),
    "a list": (makes_a_list, ["does not run", "[1, 2]"]),
    "an unknown name": (unknown_name, ["does not run", "nothing_of_this_name"]),
    "an index too many": (three_indices, ["does not run", "3 indices", "rank 2"]),
    "any number of arguments": (any_number_of_arguments, ["does not run", "*args"]),
}


@pytest.mark.parametrize("what", SUBMISSIONS)
def test_whatever_is_given_gets_a_sentence(what):
    submission, words = SUBMISSIONS[what]
    (cause,) = check(NAME, submission).causes
    assert [word for word in words if word not in cause] == [], cause


def test_a_kernel_declared_for_its_types_passes():
    text = EXERCISES[NAME].solution_text
    lazy = "@cuda.jit\n"
    declared = '@cuda.jit("void(float32[:, :], float32[:, :], float32[:, :])")\n'
    assert lazy in text
    verdict = check(NAME, from_text(NAME, text.replace(lazy, declared)))
    assert verdict.passed, str(verdict)


def test_a_source_that_cannot_be_read_is_a_sentence():
    space = {"cuda": cuda}
    exec(compile("@cuda.jit\ndef hidden(a, b, c):\n    c[0, 0] = 1\n", "<nowhere>", "exec"), space)
    (cause,) = check(NAME, space["hidden"]).causes
    assert "cannot be read" in cause


@pytest.mark.parametrize("hungry", ["9**9**9**9", "1 << (1 << 40)", "2**(2**30)"])
def test_a_hungry_constant_ends_in_a_sentence(hungry):
    (cause,) = check(NAME, changed(NAME, ("float32(0)", hungry))).causes
    assert cause


@pytest.mark.parametrize(
    "loop", ["while True:\n        i = 1\n", "for j in range(10**12):\n        i = j\n"]
)
def test_a_loop_without_an_end_is_named_by_its_line(loop):
    (cause,) = check(NAME, written(NAME, f"    i = 0\n    {loop}")).causes
    assert cause.startswith("Line 7")
    assert "for ever" in cause or "the kernel has not ended" in cause


def test_patience_ends_where_rounds_are_not_counted(monkeypatch):
    monkeypatch.setattr("labs.checking.run.LANE_ROUNDS", None)
    kernel = changed(NAME, ("        i += 1\n", "        i = 1 - i\n"))
    (cause,) = check(NAME, kernel, patience=1).causes
    assert cause.startswith("Line 16, `while i < k`: after 1 s the kernel has not ended")


def test_the_outer_loop_is_named_where_the_inner_one_ends():
    body = """\
    i, total = 0, float32(0)
    while i < 3:
        for j in range(4):
            total = a[0, j]
    c[0, 0] = total
"""
    (cause,) = check(NAME, written(NAME, body)).causes
    assert "`while i < 3`" in cause


def test_what_a_kernel_prints_is_not_shown_and_no_flaw(capsys):
    kernel = changed(NAME, ("    total = float32(0)\n", "    total = float32(0)\n    print(row)\n"))
    verdict = check(NAME, kernel)
    assert verdict.passed
    assert "prints is not shown" in verdict.notes[0]
    assert verdict.notes[0] in str(verdict)
    assert capsys.readouterr().out == ""


def test_the_first_cause_alone_is_told():
    kernel = changed(NAME, ("float32(0)", "0.0"), ("i < k", "i < k - 1"), ("row >= m", "row > m"))
    (cause,) = check(NAME, kernel).causes
    assert "lacks the term" in cause


def test_a_warning_of_a_right_kernel_is_no_cause():
    kernel = changed(NAME, ("total = float32(0)", "total = float32(0) * b[0, col - n]"))
    verdict = check(NAME, kernel)
    assert "wrong" not in str(verdict)
    assert verdict.causes[0].startswith("The result is right. But")


def test_a_verdict_is_data():
    verdict = check(NAME, GOOD)
    again = pickle.loads(pickle.dumps(verdict))
    assert again == verdict
    assert isinstance(again, Verdict)
    assert again.passed
    assert again.counts["sectors per request"] == 4


def test_a_verdict_shows_itself_without_marks_and_escaped():
    verdict = check(NAME, changed(NAME, ("row >= m", "row > m")))
    assert "`" not in str(verdict)
    shown = verdict._repr_html_()
    assert "&lt;=" in shown
    assert "<code>a[9, 0]</code>" in shown


def test_a_check_leaves_its_inputs_and_seeds_alone():
    first, again = check(NAME, GOOD), check(NAME, GOOD)
    assert first == again


def test_an_element_that_nobody_wrote_is_not_one_that_is_nan():
    kernel = written(NAME, "    c[0, 0] = a[0, 0] / (a[0, 0] - a[0, 0]) * 0\n")
    run = run_kernel(EXERCISES[NAME], kernel, (2, 3, 4), 2)
    assert np.isnan(run.out[0, 0])
    assert not run.unwritten[0, 0]
    assert run.unwritten.sum() == 5
    assert np.isnan(UNWRITTEN.view(np.float32))
