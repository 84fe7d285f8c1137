"""Tests of tasks in which one line is to be changed: the note, and divisions in loops."""

import pytest

from labs import EXERCISES, check
from labs.checking.changed_lines import changed_lines
from labs.targets.divisions import divisions
from tests.labs.versions import changed, from_text, right

NAME = "without_remainder"
TEST = "tid & uint32(2 * stride - 1) == 0"


def test_a_solution_of_a_task_to_change_differs_from_the_starter_in_as_many_lines():
    some = [one for one in EXERCISES.values() if getattr(one, "kind", "") == "change"]
    assert {one.name for one in some} >= {NAME, "sectors"}
    for one in some:
        assert changed_lines(one.starter, one.solution) == one.lines_to_change


@pytest.mark.slow
def test_more_lines_than_needed_are_noted_and_no_flaw():
    verdict = check(NAME, right(NAME, "a loop over the steps"))
    assert verdict.passed
    assert verdict.notes[-1] == (
        "Your kernel differs from the given one in 4 lines, and it is right. There is also a "
        "solution that differs in 1 line."
    )
    assert not check(NAME, EXERCISES[NAME].solution).notes


def test_comments_and_spaces_are_no_changes():
    text = EXERCISES[NAME].starter_text
    spaced = text.replace("tid = uint32", "# a comment\n\n    tid   =   uint32")
    assert spaced != text
    assert changed_lines(EXERCISES[NAME].starter, from_text(NAME, spaced)) == 0


@pytest.mark.parametrize(
    ("test", "count"),
    [
        ("tid % (2 * stride) == 0", 1), ("tid // stride % 2 == 0", 2), ("tid % BLOCK == 0", 0),
        ("tid % (BLOCK // 2) == 0", 0), ("divmod(tid, 2 * stride)[1] == 0", 1), ("tid & 1", 0),
        ("tid % cuda.blockDim.x == 0", 1), ("tid / BLOCK == 0", 0),
        ("float32(tid) / float32(2 * stride) == tid >> 1", 1),
    ],
)  # fmt: skip
def test_divisions_in_loops_are_counted_unless_the_divisor_is_a_constant(test, count):
    assert len(divisions(changed(NAME, (TEST, test)))) == min(count, 1)


@pytest.mark.slow
def test_a_division_before_the_loop_or_in_a_function_that_is_called():
    before = changed(NAME, ("stride = uint32(1)", "stride = uint32(tid // cuda.blockDim.x + 1)"))
    assert divisions(before) == []
    text = EXERCISES[NAME].solution_text.replace(
        "@cuda.jit\n",
        "@cuda.jit(device=True)\ndef rest(a, b):\n    return a % b\n\n\n@cuda.jit\n",
    )
    hidden = from_text(NAME, text.replace(TEST, "rest(tid, 2 * stride) == 0"))
    (site,) = divisions(hidden)
    assert site.source == "return a % b"
    assert "`return a % b` divides in every iteration" in check(NAME, hidden).causes[0]


INNER = "    shared = cuda.shared.array(BLOCK, float32)\n"
DEVICE = "@cuda.jit(device=True)\ndef rest(a, b):\n    return a % b\n\n\n"
APPLIED = "@cuda.jit(device=True)\ndef applied(f, a, b):\n    return f(a, b)\n\n\n"
ARGUMENTS = "(float32(tid), float32(2 * stride)) == 0"
CALL = f"rest{ARGUMENTS}"


def with_parts(above: str, inner: str, test: str):
    """Return the solution's kernel with text above it, a line within it, and another test."""
    text = EXERCISES[NAME].solution_text.replace(INNER, INNER + inner).replace(TEST, test)
    return from_text(NAME, text.replace("@cuda.jit\n", f"{above}@cuda.jit\n"))


@pytest.mark.parametrize(
    ("above", "inner", "test"),
    [
        ("from math import fmod as rest\n\n\n", "", CALL),
        ("import math as m\n\n\nrest = m.fmod\n\n\n", "", CALL),
        ("import math\n\n\n", "    rest = math.fmod\n", CALL),
        ("from numba.cuda import libdevice\n\n\n", "", f"libdevice.fmodf{ARGUMENTS}"),
        ("from numba.cuda.libdevice import fdiv_rn as rest\n\n\n", "", CALL),
        ("", "    def rest(a, b):\n        return a % b\n\n", CALL),
        ("", "    rest = lambda a, b: a % b\n", CALL),
        (DEVICE, "    other = rest\n", CALL.replace("rest", "other")),
        (f"{DEVICE}other = rest\n\n\n", "", CALL.replace("rest", "other")),
        (DEVICE + APPLIED, "", CALL.replace("rest(", "applied(rest, ")),
    ],
)
def test_a_division_under_another_name_is_found(above, inner, test):
    assert len(divisions(with_parts(above, inner, test))) == 1


@pytest.mark.parametrize(
    ("above", "inner", "test"),
    [
        ("", "    def rest(a, b):\n        return a & (b - 1)\n\n", CALL),
        ("", "    mod = tid = uint32(cuda.threadIdx.x)\n", "mod & (2 * stride - 1) == 0"),
        ("from math import fmod\n\n\n", "", "fmod(tid, 2) == 0 or tid % (BLOCK / 2) == 0"),
        (DEVICE.replace("rest", "mod").replace("%", "+"), "", CALL.replace("rest", "mod")),
    ],
)
def test_no_division_is_seen_where_none_is(above, inner, test):
    assert divisions(with_parts(above, inner, test)) == []
