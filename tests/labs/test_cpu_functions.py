"""Tests of exercises with CPU functions, which are interpreted step by step."""

import numpy as np
import pytest
from numba import cuda, njit, prange

from labs import check
from labs.checking.access_order import innermost_accesses
from labs.checking.run import run_kernel
from labs.exercises import find
from tests.labs.versions import changed, from_text, written

NAME = "loop_order"
FIRST = find(NAME).shapes[0]


@cuda.jit
def kernel(a, b, c):
    c[cuda.grid(1), 0] = 1


def plain(a, b, c):
    c[0, 0] = 1


@njit
def two_arguments(a, c):
    c[0, 0] = 1


@njit
def gives_back(a, b, c):
    return c


@njit
def speaks_to_the_gpu(a, b, c):
    i = cuda.grid(1)
    c[i, 0] = 1


@njit
def shares_out(a, b, c):
    for row in prange(c.shape[0]):
        c[row, 0] = 1


@njit
def nothing(a, b, c):
    pass


@njit
def only_reads(a, b, c):
    total = a[0, 0]
    for i in range(b.shape[0]):
        total += b[i, 0]


@njit
def changes_an_input(a, b, c):
    b[0, 0] = 1


@njit
def raises(a, b, c):
    raise ValueError("no")


@njit
def never_ends(a, b, c):
    i = 0
    while i < c.shape[0]:
        c[i, 0] = 0


@njit
def far_too_long(a, b, c):
    for i in range(10**9):
        c[0, 0] = i


@njit
def with_a_new_array(a, b, c):
    totals = np.zeros(3)
    c[0, 0] = totals[0]


SUBMISSIONS = {
    "nothing": (None, ["`None`", "name alone"]),
    "a text": (NAME, ["without quotes"]),
    "a kernel": (kernel, ["`kernel` has `@cuda.jit` above it", "about the CPU"]),
    "plain Python": (plain, ["no `@njit` above `plain`"]),
    "a number": (3, ["int is no function"]),
    "too few arguments": (two_arguments, ["calls the function with three arguments", "`a`, `c`"]),
    "a value returned": (gives_back, ["`return c`", "this function returns nothing"]),
    "words of the GPU": (speaks_to_the_gpu, ["`i = cuda.grid(1)`", "runs once, on the CPU"]),
    "prange": (
        shares_out,
        ["prange() is not known to this check", "step by step", "about one core"],
    ),
    "an empty body": (nothing, ["no array is read or written"]),
    "no result": (only_reads, ["The function reads its inputs, but it never stores into `c`"]),
    "a store into an input": (changes_an_input, ["changes `b`", "Who called the function"]),
    "an error raised": (raises, ["The function raises an error", 'ValueError("no")']),
    "no end": (never_ends, ["`while i < c.shape[0]`", "does not end"]),
    "too many turns": (far_too_long, ["the function has not ended", "more turns than the task"]),
    "an array of its own": (
        with_a_new_array,
        ["np.zeros(3)", "made here is not known to this check"],
    ),
}


@pytest.mark.parametrize("what", SUBMISSIONS)
def test_whatever_is_given_gets_a_sentence_without_a_word_of_threads(what):
    submission, words = SUBMISSIONS[what]
    (cause,) = check(NAME, submission).causes
    assert [word for word in words if word not in cause] == [], cause
    assert "thread" not in cause
    assert "virtual GPU" not in cause


def test_an_index_outside_names_line_element_and_extent():
    (cause,) = check(NAME, changed(NAME, ("range(k)", "range(k + 1)"))).causes
    assert "the loop goes to `a[0, 6]`" in cause
    assert "`a` has 3 rows and 6 columns" in cause
    assert "thread" not in cause


def test_an_element_that_is_needed_before_it_is_stored_is_named():
    late = "        for col in range(n):\n            c[row, col] = float32(0)\n"
    (cause,) = check(NAME, changed(NAME, (late, "        c[row, 0] = float32(0)\n"))).causes
    assert "`c[0, 1]` before anything was stored there" in cause


@pytest.mark.slow
def test_the_stride_is_that_of_the_innermost_loop():
    def strides(function) -> dict[tuple[str, str], int]:
        accesses = innermost_accesses(run_kernel(find(NAME), function, FIRST, patience=20))
        return {(one.array, one.kind): one.stride for one in accesses}

    _, n, _ = FIRST
    assert strides(find(NAME).starter) == {
        ("a", "load"): 1,
        ("b", "load"): n,
    }  # a sum waits in a variable, and its store is outside
    assert strides(find(NAME).solution) == {
        ("a", "load"): 0,
        ("b", "load"): 1,
        ("c", "load"): 1,
        ("c", "store"): 1,
    }


def test_a_loop_unrolled_by_hand_has_the_stride_of_the_one_it_was():
    twice = """\
    m, k = a.shape
    n = b.shape[1]
    for row in range(m):
        for col in range(n):
            c[row, col] = float32(0)
        for i in range(k):
            for col in range(0, n - n % 2, 2):
                c[row, col] += a[row, i] * b[i, col]
                c[row, col + 1] += a[row, i] * b[i, col + 1]
            if n % 2:
                c[row, n - 1] += a[row, i] * b[i, n - 1]
"""
    text = find(NAME).solution_text
    head = text[: text.index("    m, k")]
    verdict = check(NAME, from_text(NAME, head + twice))
    assert verdict.passed, str(verdict)


def test_an_element_that_waits_in_a_variable_is_outside_of_the_innermost_loop():
    outside = """\
    m, k = a.shape
    n = b.shape[1]
    c[:, :] = 0
    for i in range(k):
        for row in range(m):
            factor = a[row, i]
            for col in range(n):
                c[row, col] += factor * b[i, col]
"""
    text = find(NAME).solution_text
    verdict = check(NAME, from_text(NAME, text[: text.index("    m, k")] + outside))
    assert verdict.passed, str(verdict)


def test_a_kernel_is_refused_by_name_also_where_it_would_be_right():
    (cause,) = check(NAME, written(NAME, "    c[0, 0] = 1\n")).causes
    assert "`@cuda.jit`" in cause
