"""Every step of the GPU ladder of SGEMM, on the GPU where there is one and on the virtual GPU."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from gemm_kernels import LADDER, run
from utils.edits import Edit, edited
from utils.errors import CourseError
from utils.lesson import module_of
from utils.shapes import GemmShape
from utils.verify import draw, verify_all
from utils.virtual_gpu import trace

VARIANTS = [step.variant(**constants) for step in LADDER.steps for constants in step.variants()]
# Long in one direction at a time, so that every edge is met and the virtual GPU stays quick.
EDGES = [(1, 1, 1), (17, 19, 23), (2, 3, 255), (3, 2, 256), (2, 3, 257)]
EDGES += [(m, n, 3) for size in (255, 256, 257) for m, n in ((size, 2), (2, size))]

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=str)


@every_variant
@pytest.mark.parametrize("m, n, k", EDGES)
def test_every_element_is_right_for_any_shape(variant, m, n, k):
    (verdict,) = verify_all(LADDER, [variant], GemmShape(m, n, k))
    assert verdict.passed, verdict


@every_variant
@settings(max_examples=8, deadline=None)
@given(size=st.tuples(*[st.integers(1, 40)] * 3))
def test_shapes_that_nobody_thought_of_are_right(variant, size):
    (verdict,) = verify_all(LADDER, [variant], GemmShape(*size), kinds=("integers",))
    assert verdict.passed, verdict


@every_variant
@pytest.mark.parametrize("m, n, k", [(0, 3, 2), (3, 0, 2), (0, 0, 0), (3, 4, 0)])
def test_an_empty_side_gives_an_empty_product_and_an_empty_sum_zeros(variant, m, n, k):
    a, b = np.empty((m, k), np.float32), np.empty((k, n), np.float32)
    c = run(variant.step.name, a, b, **variant.constants)
    np.testing.assert_array_equal(c, np.zeros((m, n), np.float32), strict=True)


def test_the_sources_own_workload_of_2000_by_2000_by_600_is_right():
    """Not a multiple of the tile in n, and 1.2 million threads: half a minute on two cores."""
    tiled = LADDER.step("tiled").variant(TILE=32)
    (verdict,) = verify_all(LADDER, [tiled], GemmShape(2000, 600, 2000), kinds=("uniform",))
    assert verdict.passed, verdict


def traced(variant):
    launch = variant.launch(GemmShape(33, 17, 9))
    arrays = [np.ones(size, np.float32) for size in ((33, 9), (9, 17), (33, 17))]
    return trace(variant.kernel, launch.grid, launch.block, *arrays)


@every_variant
def test_no_step_computes_in_float64_or_has_a_finding(variant):
    result = traced(variant)
    assert result.findings == ()
    assert result.totals["float64_ops"] == 0


def test_an_accumulator_of_0_0_is_seen_by_the_virtual_gpu_too():
    naive = LADDER.step("naive")
    wrong = edited(module_of(naive), Edit("float32(0)", "0.0")).STEP
    assert traced(wrong.variant()).totals["float64_ops"] > 0


def test_device_arrays_are_taken_as_they_are():
    a, b = draw("integers", (5, 6), 1), draw("integers", (6, 7), 2)
    c = run("tiled", cuda.to_device(a), b, TILE=8)
    np.testing.assert_array_equal(c, a @ b, strict=True)


def test_nan_and_infinity_pass_through():
    a, b = draw("integers", (3, 4), 1), draw("integers", (4, 2), 2)
    a[0, 0], a[1, 1] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        expected = a @ b
    for step in LADDER.steps:
        np.testing.assert_array_equal(run(step.name, a, b), expected)


A = np.zeros((3, 4), np.float32)
B = np.zeros((4, 5), np.float32)
REFUSED = {
    "shapes that do not chain": (A, A, "a is 3×4 and b is 3×4.* give a b of 4×4 or an a of 3×3"),
    "another dtype": (A.astype(float), B, r"a holds float64.* use a.astype\(np.float32\)"),
    "columns side by side": (
        A,
        np.asfortranarray(B),
        r"b is not contig.*np.ascontiguousarray\(b\)",
    ),
    "every other row": (A, np.zeros((8, 5), np.float32)[::2], r"use np.ascontiguousarray\(b\)"),
    "one dimension": (A[0], B, r"a has the shape \(4,\), and 2 dimensions are needed"),
    "a list": ([[1.0]], B, r"a is a list, and an array is needed"),
}


@pytest.mark.parametrize("a, b, sentence", REFUSED.values(), ids=REFUSED)
def test_inputs_that_do_not_fit_are_refused_with_what_to_do(a, b, sentence):
    with pytest.raises(CourseError, match=sentence):
        run("naive", a, b)
