"""The checker is tested with results and kernels that are known to be wrong."""

from dataclasses import replace

import numpy as np
import pytest

import gemm_kernels
import gemm_kernels.cpu
import reduce_kernels
import virtual_gpu
from tests.steps_edited import edited_step
from utils.ladder.explain import trace_step
from utils.ladder.problems import KINDS, draw, judge, poisoned
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.ladder.tasks import GEMM, SUM
from utils.ladder.verify import execute, verify_all

NAIVE, TILED = map(gemm_kernels.LADDER.step, ("naive", "tiled"))
REDUCE0 = reduce_kernels.LADDER.step("reduce0")
SHAPE = GemmShape(33, 35, 37)


def product(a, b):
    return a @ b


def rounded_to_tf32(x):
    """Return float32 with the last 13 of the 23 mantissa bits cleared."""
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


WRONG_PRODUCTS = {
    "never written": lambda a, b: poisoned((a.shape[0], b.shape[1])),
    "k everywhere, right for ones": lambda a, b: np.full((33, 35), 37, np.float32),
    "last k missing": lambda a, b: a[:, :-1] @ b[:-1],
    "first k twice": lambda a, b: a @ b + a[:, :1] @ b[:1],
    "rows of a reversed": lambda a, b: a[::-1] @ b,
    "tf32": lambda a, b: rounded_to_tf32(a) @ rounded_to_tf32(b),
    "float16": lambda a, b: (a.astype(np.float16) @ b.astype(np.float16)).astype(np.float32),
    "another shape": lambda a, b: (a @ b).T,
}


@pytest.mark.parametrize("wrong", WRONG_PRODUCTS.values(), ids=WRONG_PRODUCTS)
def test_a_wrong_product_is_refused(wrong):
    problem = GEMM.problem(SHAPE, "uniform")
    assert judge(problem, product(*problem.inputs)).passed
    assert not judge(problem, wrong(*problem.inputs)).passed


@pytest.mark.parametrize("kind", KINDS)
def test_one_wrong_element_of_a_product_is_seen(kind):
    problem = GEMM.problem(SHAPE, kind)
    out = product(*problem.inputs)
    out[32, 34] = -out[32, 34]
    assert not judge(problem, out).passed


def test_one_element_that_was_not_written_is_counted():
    problem = GEMM.problem(SHAPE, "uniform")
    out = product(*problem.inputs)
    out[0, 0] = np.nan
    assert "1 elements are NaN" in str(judge(problem, out))


@pytest.mark.parametrize("elements", [1, 2, 1000, 2**20])
def test_one_skipped_element_of_a_sum_is_seen_at_any_length(elements):
    problem = SUM.problem(ReduceShape(elements), "integers")
    (x,) = problem.inputs
    assert judge(problem, x.sum(keepdims=True)).passed
    assert not judge(problem, x[1:].sum(keepdims=True)).passed


def test_a_sum_in_any_order_is_accepted():
    problem = SUM.problem(ReduceShape(100_000), "uniform")
    (x,) = problem.inputs
    one_after_the_other = np.float32(0)
    for value in x:
        one_after_the_other += value
    assert judge(problem, np.array([one_after_the_other])).passed
    assert judge(problem, x.sum(keepdims=True)).passed


def test_integer_inputs_leave_no_room_for_an_error():
    for task, shape in ((GEMM, SHAPE), (SUM, ReduceShape(4096))):
        assert task.problem(shape, "integers").allowed == 0


def test_integer_inputs_are_not_used_where_float32_could_not_hold_the_sum():
    assert GEMM.problem(GemmShape(1, 1, 400_000), "integers").allowed > 0


def test_the_allowed_error_of_a_product_grows_with_the_root_of_k():
    allowed = [GEMM.problem(GemmShape(2, 2, k), "uniform").allowed for k in (16, 64)]
    assert allowed == pytest.approx([4e-6, 8e-6])


def test_drawn_numbers_have_both_signs_and_no_zero_among_the_integers():
    integers, uniform = (draw(kind, 10_000, seed=5) for kind in KINDS)
    assert set(np.unique(integers)) == {-7, -5, -3, -1, 1, 3, 5, 7}
    assert -1 <= uniform.min() < -0.99
    assert 0.99 < uniform.max() < 1
    assert integers.dtype == uniform.dtype == np.float32


WRONG_KERNELS = {
    "k loop too short": (NAIVE, "while i < k:", "while i < k - 1:"),
    "b read as if transposed": (TILED, "sb[i, tx]", "sb[tx, i]"),
    "edge of c left out": (TILED, "if row < m and col < n:", "if row < m - 1 and col < n:"),
    "last tile of a left out": (TILED, "start + tx < k", "start + TILE < k"),
    "last stride missing": (REDUCE0, "stride < cuda.blockDim.x:", "stride < cuda.blockDim.x // 2:"),
    "block 0 writes all sums": (REDUCE0, "partials[cuda.blockIdx.x]", "partials[0]"),
}


@pytest.mark.parametrize("step, old, new", WRONG_KERNELS.values(), ids=WRONG_KERNELS)
def test_a_wrong_kernel_is_refused(step, old, new):
    wrong = edited_step(step, old, new)
    right_ladder = reduce_kernels.LADDER if step is REDUCE0 else gemm_kernels.LADDER
    ladder = replace(right_ladder, steps=(wrong,))
    shape = ReduceShape(1000) if step is REDUCE0 else SHAPE
    try:
        (verdict,) = verify_all(ladder, [wrong.variant()], shape)
    except virtual_gpu.VirtualGpuError:
        return
    assert not verdict.passed


SYNC = "cuda.syncthreads()"
FLAWED_KERNELS = {
    "bounds test of the sources": (
        NAIVE,
        ("row >= m or col >= n", "row > m or col > n"),
        "out_of_bounds",
    ),
    "k edge one too far": (TILED, ("start + tx < k", "start + tx <= k"), "out_of_bounds"),
    "first barrier gone": (TILED, (SYNC, "pass", 1), "race"),
    "second barrier gone": (TILED, (SYNC, "pass", 2), "race"),
    "barrier of the tree gone": (REDUCE0, (SYNC, "pass", 2), "race"),
}


def findings(variant):
    """Return the virtual GPU's findings for one launch of the kernel on a shape with edges."""
    shape = SHAPE if variant.step.task is GEMM else ReduceShape(1000)
    return trace_step(variant, shape).findings


@pytest.mark.parametrize("step, edit, kind", FLAWED_KERNELS.values(), ids=FLAWED_KERNELS)
def test_a_flaw_that_may_give_the_right_numbers_is_found_by_the_virtual_gpu(step, edit, kind):
    assert kind in {finding.kind for finding in findings(edited_step(step, *edit).variant())}


@pytest.mark.parametrize("step", [NAIVE, TILED, REDUCE0], ids=lambda step: step.name)
def test_the_kernels_without_the_flaws_are_accused_of_nothing(step):
    for variant in step.variants():
        assert findings(variant) == ()


def test_the_output_is_poisoned_before_a_step_runs():
    def lazy(a, b, c):
        c[:-1] = (a @ b)[:-1]

    ladder = gemm_kernels.cpu.LADDER
    step = replace(ladder.steps[0], build=lambda: lazy)
    problem = GEMM.problem(SHAPE, "uniform")
    verdict = execute(ladder, step.variant(), problem, problem.inputs)
    assert verdict.unwritten == SHAPE.n


def test_a_failure_on_one_kind_of_inputs_is_not_hidden_by_the_next():
    def right_for_signs_of_one_kind(a, b, c):
        c[...] = a @ b if abs(a).max() < 1 else 0

    ladder = gemm_kernels.cpu.LADDER
    step = replace(ladder.steps[0], build=lambda: right_for_signs_of_one_kind)
    (verdict,) = verify_all(ladder, [step.variant()], SHAPE, kinds=("integers", "uniform"))
    assert not verdict.passed
