"""Remarks on right answers: another map than the zig-zag, rows of other lengths, float64."""

import pytest

from labs import EXERCISES, check
from labs.checking.variants import function_in
from tests.labs.versions import right


@pytest.mark.parametrize(
    "name, what, words",
    [
        ("lane_bits", "bit 0 across, bit 1 down", "Your map is not the zig-zag"),
        ("row_length", "rows of 80 words", "Four rows of 48 words have no bank conflict either."),
        ("row_length", "another order in rows of 32", "Your rows have no unused words"),
        ("whole_rows", "the whole tile at once", "your array has 576"),
        ("whole_rows", "two buffers and one barrier", "your array has 384"),
        ("whole_rows", "rows of 80 words", "your array has 320"),
        ("fused", "a zero with a point", "works in float64, 1,024 operations"),
    ],
)
def test_another_right_answer_is_remarked_and_no_flaw(name, what, words):
    verdict = check(name, right(name, what))
    assert verdict.passed
    assert words in " ".join(verdict.notes)


@pytest.mark.parametrize("name", ["lane_bits", "row_length", "whole_rows", "fused"])
def test_the_solution_has_no_remark(name):
    assert check(name, EXERCISES[name].solution).notes == ()


def test_an_array_of_one_dimension_is_no_larger_than_its_rows():
    flat = EXERCISES["row_length"].solution_text
    for old, new in (("(4, 48)", "192"), ("(down, across * 4)", "down * 48 + across * 4"),
                     ("rows[r, lane]", "rows[r * 48 + lane]")):  # fmt: skip
        flat = flat.replace(old, new)
    verdict = check("row_length", function_in("row_length", flat))
    assert verdict.passed
    assert verdict.notes == ()
