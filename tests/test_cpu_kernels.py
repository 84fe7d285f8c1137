"""Every step of the CPU ladder of SGEMM."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemm_kernels.cpu import LADDER, run
from utils.errors import CourseError
from utils.shapes import GemmShape
from utils.verify import verify_all

VARIANTS = [step.variant(**constants) for step in LADDER.steps for constants in step.variants()]


@pytest.mark.parametrize(
    "m, n, k",
    [(1, 1, 1), (17, 19, 23), (255, 256, 257), (257, 255, 256), (256, 256, 256), (1003, 999, 1001)],
)
def test_every_element_is_right_for_any_shape(m, n, k):
    for variant, verdict in zip(VARIANTS, verify_all(LADDER, VARIANTS, GemmShape(m, n, k))):
        assert verdict.passed, f"{variant}: {verdict}"


def test_the_large_matrices_of_the_course_are_right():
    variants = [variant for variant in VARIANTS if variant.step.name != "naive"]
    for variant, verdict in zip(variants, verify_all(LADDER, variants, GemmShape(2000, 600, 2000))):
        assert verdict.passed, f"{variant}: {verdict}"


@settings(max_examples=20, deadline=None)
@given(size=st.tuples(*[st.integers(1, 40)] * 3))
def test_shapes_that_nobody_thought_of_are_right(size):
    for variant, verdict in zip(VARIANTS, verify_all(LADDER, VARIANTS, GemmShape(*size))):
        assert verdict.passed, f"{variant}: {verdict}"


@pytest.mark.parametrize("step", LADDER.steps, ids=lambda step: step.name)
@pytest.mark.parametrize("m, n, k", [(0, 3, 2), (3, 0, 2), (3, 4, 0)])
def test_an_empty_side_gives_an_empty_product_and_an_empty_sum_zeros(step, m, n, k):
    c = run(step.name, np.empty((m, k), np.float32), np.empty((k, n), np.float32))
    np.testing.assert_array_equal(c, np.zeros((m, n), np.float32), strict=True)


def test_shapes_that_do_not_chain_are_refused():
    a = np.zeros((3, 4), np.float32)
    with pytest.raises(CourseError, match="a is 3×4 and b is 3×4"):
        run("naive", a, a)


def test_moving_one_loop_lets_the_compiler_use_vectors():
    vectors = {}
    for step in LADDER.steps:
        function = step.build()
        function.compile(step.signature.args)
        (llvm,) = function.inspect_llvm().values()
        vectors[step.name] = "x float>" in llvm
    assert vectors == {"naive": False, "loop_reordered": True}
