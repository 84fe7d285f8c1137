"""Groups of loads and multiply-adds between the waits of a loop."""

from gemm_kernels import LADDER
from utils import lessons as course
from utils.lessons.compiled_loops import listing
from utils.lessons.load_waits import groups_between_waits, waits_per_8


def test_naive_waits_once_for_four_multiply_adds():
    code = listing(str(LADDER.step("naive").variant()))
    names = [[one.name for one in group] for group in groups_between_waits(code)]
    assert names == [["LDG"] * 8, ["FFMA"] * 4]
    assert waits_per_8(code) == 2


def test_loads_that_start_together_are_waited_for_once():
    code = listing(str(LADDER.step("multi_output").variant()))
    # Two waits of four flags in a row are one.
    assert [len(group) for group in groups_between_waits(code)] == [11, 14, 9]


def test_the_picture_says_the_groups():
    said = str(course.draw_waits())
    assert "11 loads and 0 multiply-adds, 7 loads and 7 multiply-adds" in said
