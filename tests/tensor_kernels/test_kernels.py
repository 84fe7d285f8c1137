"""Every step on tensor cores, on the GPU if there is one and on the virtual GPU."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensor_kernels import LADDER, run
from tensor_kernels.parts.swizzles import swizzle
from tests.steps_edited import edited_step
from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.explain import trace_step
from utils.ladder.problems import bfloat16_bits, judge, of_bfloat16
from utils.ladder.shapes import GemmShape
from utils.ladder.tasks import TENSOR_GEMM
from utils.ladder.verify import verify_all

DEFAULTS = [step.variant() for step in LADDER.steps]
VARIANTS = [
    pytest.param(variant, marks=[pytest.mark.slow] * (not variant.is_default), id=str(variant))
    for step in LADDER.steps
    for variant in step.variants()
]
# Long in one direction at a time, so that every edge is met and the virtual GPU stays quick.
EDGES = [(1, 1, 1), (17, 19, 23), (2, 3, 31), (3, 2, 32), (2, 3, 33), (7, 9, 104)]
EDGES += [(m, n, 3) for size in (127, 128, 129) for m, n in ((size, 2), (2, size))]
WIDE = [step.name for step in LADDER.steps[1:]]

every_step = pytest.mark.parametrize("variant", DEFAULTS, ids=str)
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def nearest(variant, m: int, n: int, k: int) -> GemmShape:
    """Return the shape, or with n and k rounded up to sizes that the step accepts."""
    shape = GemmShape(m, n, k)
    try:
        variant.launch(shape)
    except CourseError:
        shape = GemmShape(m, cdiv(n, 8) * 8, cdiv(k, 8) * 8)
    return shape


def traced(variant, m: int, n: int, k: int):
    """Return the virtual GPU's trace of one product."""
    return trace_step(variant, GemmShape(m, n, k))


@every_step
@pytest.mark.parametrize("m, n, k", EDGES)
def test_every_element_is_right_for_any_shape(variant, m, n, k):
    (verdict,) = verify_all(LADDER, [variant], nearest(variant, m, n, k))
    assert verdict.passed, verdict


@every_variant
def test_every_element_is_right_with_several_blocks_and_a_last_tile_that_is_not_full(variant):
    shape = nearest(variant, 131, 133, 203)
    (verdict,) = verify_all(LADDER, [variant], shape, kinds=("integers",))
    assert verdict.passed, verdict


@every_step
@settings(max_examples=5, deadline=None)
@given(size=st.tuples(*[st.integers(1, 40)] * 3))
def test_shapes_that_nobody_thought_of_are_right(variant, size):
    shape = nearest(variant, *size)
    (verdict,) = verify_all(LADDER, [variant], shape, kinds=("integers",))
    assert verdict.passed, verdict


@every_variant
def test_no_variant_computes_in_float64_or_has_a_finding(variant):
    result = traced(variant, 33, 24, 40)
    assert result.findings == ()
    assert result.totals["float64_ops"] == 0


def test_an_empty_side_gives_an_empty_product_and_an_empty_sum_zeros():
    for m, n, k in ((0, 8, 8), (3, 0, 8), (3, 8, 0)):
        c = run("mma_naive", np.empty((m, k), np.float16), np.empty((k, n), np.float16))
        np.testing.assert_array_equal(c, np.zeros((m, n), np.float32), strict=True)


@pytest.mark.parametrize("step", WIDE)
def test_rows_that_128_bits_do_not_fit_are_refused_with_the_nearest_shape(step):
    dtype = LADDER.step(step).task.dtype
    a, b = np.zeros((5, 12), dtype), np.zeros((12, 16), dtype)
    with pytest.raises(CourseError, match=f"{step} .* multiples of 8, .* 5×16×12: .* 5×16×16"):
        run(step, a, b)


def test_float32_matrices_are_refused_with_what_to_do():
    a = np.zeros((8, 8), np.float32)
    with pytest.raises(CourseError, match=r"a holds float32, .* use a.astype\(np.float16\)"):
        run("mma_naive", a, a)
    with pytest.raises(CourseError, match=r"bits are uint16: use bfloat16_bits\(a\)"):
        run("mma_bfloat16", a, a)


def test_bfloat16_is_the_upper_half_of_float32_rounded_to_the_nearest_or_the_even_one():
    x = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -3.0e38, 0], np.float32)
    expected = np.array([1, 1, 1 + 2**-6, 1 + 2**-7, -3.0e38, 0], np.float32)
    np.testing.assert_allclose(of_bfloat16(bfloat16_bits(x)), expected, rtol=2**-9)
    np.testing.assert_array_equal(of_bfloat16(bfloat16_bits(x))[:4], expected[:4])


def test_sums_in_float16_would_be_noticed():
    problem = TENSOR_GEMM.problem(GemmShape(16, 16, 256), "uniform")
    a, b = problem.inputs
    out = np.zeros((16, 16), np.float16)
    for k in range(0, 256, 8):
        out += a[:, k : k + 8].astype(np.float32) @ b[k : k + 8].astype(np.float32)
    assert not judge(problem, out.astype(np.float32)).passed


@pytest.mark.parametrize("columns", [16, 32, 64, 128, 256])
def test_a_swizzle_moves_each_chunk_within_its_row_and_spreads_eight_rows_over_all_banks(columns):
    place = swizzle(columns).py_func
    for row in range(16):
        chunks = [place(row, col) for col in range(0, columns, 8)]
        assert sorted(chunks) == list(range(0, columns, 8))
    for col in range(0, columns, 8):
        for first in (0, 8):
            rows = range(first, first + 8)
            banks = {(row * columns + place(row, col)) // 8 % 8 for row in rows}
            assert len(banks) == 8


# Four matrices are four wavefronts. Eight rows of a, 64 bytes apart, are in two groups of four
# banks: four wavefronts each. Eight rows of b, 256 bytes apart, are all in one: eight.
@pytest.mark.parametrize(
    "step, of_a, of_b",
    [
        *(("mma_shared", 16, 32), ("mma_swizzled", 4, 4), ("mma_pipelined", 4, 4)),
        ("mma_bfloat16", 4, 4),
    ],
)
def test_wavefronts_that_an_ldmatrix_needs(step, of_a, of_b):
    lines = traced(LADDER.step(step).variant(), 16, 16, 32).lines
    for text, wavefronts in (("ldmatrix_x4(", of_a), ("ldmatrix_x4_trans(", of_b)):
        line = lines[lines["source"].str.contains(text, regex=False)]
        assert line["shared_load_wavefronts"].sum() == wavefronts * line["ldmatrix"].sum() > 0


@pytest.mark.slow
@pytest.mark.parametrize("step, k", [("mma_naive", 8), ("mma_swizzled", 8), ("mma_pipelined", 16)])
def test_a_product_is_made_of_as_many_instructions_as_it_has_parts(step, k):
    side = 128 if step in WIDE else 16
    totals = traced(LADDER.step(step).variant(), side, side, 32).totals
    assert totals["mma"] == side // 16 * (side // 8) * (32 // k)


# Step, a part of a line that is replaced, the text instead, and which of several it is.
FLAWS = {
    "the barrier after the loads": ("mma_shared", "cuda.syncthreads()", "pass", 1),
    "the barrier after the products": ("mma_swizzled", "cuda.syncthreads()", "pass", 2),
    "the barrier of a stage": ("mma_pipelined", "cuda.syncthreads()", "pass", 1),
    "the wait for a stage": ("mma_pipelined", "wait_copies(PENDING)", "pass", 1),
    "a stage too few": ("mma_pipelined", "PENDING = STAGES - 2", "PENDING = STAGES - 1", 1),
    "a group without copies": ("mma_pipelined", "commit_copies()", "pass", 2),
}


@pytest.mark.parametrize("name, old, new, occurrence", FLAWS.values(), ids=FLAWS)
def test_what_orders_the_threads_is_missed_when_it_is_left_out(name, old, new, occurrence):
    wrong = edited_step(LADDER.step(name), old, new, occurrence)
    assert traced(wrong.variant(), 16, 16, 128).findings
