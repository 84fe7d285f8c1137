"""Every step of the ladder of reductions, and the second pass behind them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from reduce_kernels import LADDER, run, second_pass
from utils.errors import CourseError
from utils.shapes import ReduceShape
from utils.verify import draw, verify_all

VARIANTS = [step.variant(**constants) for step in LADDER.steps for constants in step.variants()]

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=str)


@every_variant
@pytest.mark.parametrize("elements", [1, 2, 31, 255, 256, 257, 1023, 1025, 40_009])
def test_the_sum_is_right_for_any_length(variant, elements):
    (verdict,) = verify_all(LADDER, [variant], ReduceShape(elements))
    assert verdict.passed, verdict


@every_variant
@settings(max_examples=8, deadline=None)
@given(elements=st.integers(1, 5000))
def test_lengths_that_nobody_thought_of_are_right(variant, elements):
    (verdict,) = verify_all(LADDER, [variant], ReduceShape(elements), kinds=("integers",))
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    "partials", [1, second_pass.SUMS_PER_BLOCK, second_pass.SUMS_PER_BLOCK + 1]
)
def test_the_second_pass_adds_all_partial_sums_in_one_launch_or_two(partials):
    x = draw("integers", partials, seed=3)
    out = cuda.to_device(np.full(1, np.nan, np.float32))
    launches = second_pass.bind(cuda.to_device(x), out)
    for launch in launches:
        launch()
    assert len(launches) == (1 if partials <= second_pass.SUMS_PER_BLOCK else 2)
    assert out.copy_to_host() == [x.sum()]


def test_no_elements_sum_to_zero():
    assert run("reduce0", np.empty(0, np.float32)) == 0


def test_the_sum_is_a_float32():
    assert run("reduce0", np.ones(1000, np.float32), BLOCK=128) == np.float32(1000)


X = np.zeros(8, np.float32)
REFUSED = {
    "another dtype": (X.astype(np.int32), r"x holds int32.* use x.astype\(np.float32\)"),
    "every other element": (X[::2], r"use np.ascontiguousarray\(x\)"),
    "two dimensions": (X.reshape(2, 4), r"x has the shape \(2, 4\), and 1 dimension is needed"),
}


@pytest.mark.parametrize("x, sentence", REFUSED.values(), ids=REFUSED)
def test_inputs_that_do_not_fit_are_refused_with_what_to_do(x, sentence):
    with pytest.raises(CourseError, match=sentence):
        run("reduce0", x)
