"""Every step of the ladder of reductions, the second pass, and the function for programs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from reduce_kernels import LADDER, reduce, run
from reduce_kernels.parts import second_pass
from reduce_kernels.reduction import longest_chain
from tests.steps_edited import edited_step
from utils.errors import CourseError
from utils.ladder.explain import trace_step
from utils.ladder.memory import on_device
from utils.ladder.problems import draw
from utils.ladder.shapes import ReduceShape
from utils.ladder.verify import verify_all

VARIANTS = [
    pytest.param(variant, marks=[pytest.mark.slow] * (not variant.is_default))
    for step in LADDER.steps
    for variant in step.variants()
]
LENGTHS = (1, 2, 31, 32, 33, 255, 257, 1025)

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=str)
every_step = pytest.mark.parametrize("step", LADDER.steps, ids=lambda step: step.name)


@every_variant
def test_the_sum_is_right_for_any_length(variant):
    for elements in LENGTHS:
        (verdict,) = verify_all(LADDER, [variant], ReduceShape(elements), kinds=("integers",))
        assert verdict.passed, (elements, verdict)


@every_step
def test_the_sum_of_a_million_and_seven_is_right(step):
    (verdict,) = verify_all(LADDER, [step.variant()], ReduceShape(10**6 + 7))
    assert verdict.passed, verdict


@every_step
@settings(max_examples=8, deadline=None)
@given(data=st.data(), elements=st.integers(1, 5000))
def test_lengths_that_nobody_thought_of_are_right(step, data, elements):
    variant = data.draw(st.sampled_from(step.variants()))
    (verdict,) = verify_all(LADDER, [variant], ReduceShape(elements), kinds=("integers",))
    assert verdict.passed, verdict


@pytest.mark.parametrize("name", ["reduce8", "reduce9", "reduce_atomic"])
@pytest.mark.parametrize("first", [1, 2, 3])
def test_a_part_that_begins_off_a_boundary_of_16_bytes_is_summed_to_its_end(name, first):
    x = draw("integers", 4101, seed=4)
    for elements in (1, 2, 4, 5, 4098):
        part = cuda.to_device(x)[first : first + elements]
        assert run(name, part, BLOCK=32) == x[first : first + elements].sum()


@pytest.mark.parametrize(
    "partials", [1, second_pass.SUMS_PER_BLOCK, second_pass.SUMS_PER_BLOCK + 1]
)
def test_the_second_pass_adds_all_partial_sums_in_one_launch_or_two(partials):
    x = draw("integers", partials, seed=3)
    out = cuda.to_device(np.full(1, np.nan, np.float32))
    calls = second_pass.sum_of_partials(cuda.to_device(x), out, on_device)
    for call in calls:
        call.bound()()
    assert len(calls) == (1 if partials <= second_pass.SUMS_PER_BLOCK else 2)
    assert out.copy_to_host() == [x.sum()]


def test_the_last_block_leaves_the_counter_as_it_found_it():
    variant, x = LADDER.step("reduce9").variant(BLOCK=32, TURNS=1), draw("integers", 5000, seed=1)
    out = cuda.to_device(np.zeros(1, np.float32))
    again = variant.execution(ReduceShape(5000), (cuda.to_device(x),), out)
    for _ in range(3):
        again()
        assert out.copy_to_host() == [x.sum()]


# Step, the line that is left out, and which of several it is.
FLAWS = {
    "reduce0 without the barrier of a step": ("reduce0", "cuda.syncthreads()", 2),
    "reduce3 without the barrier of a step": ("reduce3", "cuda.syncthreads()", 2),
    # Like the classic kernel, with a volatile array instead of waiting.
    "reduce4 without syncwarp": ("reduce4", "cuda.syncwarp()", 1),
    "reduce9 without the fence before the ticket": ("reduce9", "cuda.threadfence()", 1),
    "reduce_cooperative without waiting": ("reduce_cooperative", "cuda.cg.this_grid().sync()", 1),
}


def findings(step):
    """Return the virtual GPU's findings for 10 000 elements and blocks of 64 threads."""
    return trace_step(step.variant(BLOCK=64), ReduceShape(10_000)).findings


@every_step
def test_no_step_has_a_finding(step):
    assert findings(step) == ()


@pytest.mark.parametrize("name, line, occurrence", FLAWS.values(), ids=FLAWS)
def test_what_orders_the_threads_is_missed_when_it_is_left_out(name, line, occurrence):
    wrong = edited_step(LADDER.step(name), line, "pass", occurrence)
    assert {finding.kind for finding in findings(wrong)} == {"race"}


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


def test_a_block_that_is_no_power_of_two_is_refused():
    with pytest.raises(CourseError, match="BLOCK=48 is not offered by reduce0: choose one of 256"):
        run("reduce0", X, BLOCK=48)


DTYPES = (np.float32, np.float64, np.int32, np.int64)
NUMPY = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}
every_dtype = pytest.mark.parametrize("dtype", DTYPES)
every_operation = pytest.mark.parametrize("op", NUMPY)


@every_dtype
@every_operation
def test_a_reduction_is_numpys_in_value_and_dtype(dtype, op):
    """Return odd numbers, so that a product of integers that wraps around is never zero."""
    generator = np.random.default_rng(5)
    for elements in (1, 2, 3, 1000, 40_009):
        x = generator.choice(np.array([-3, -1, 1, 3], dtype), elements)
        if op == "prod" and dtype in (np.float32, np.float64):
            x = np.sign(x)
        got, expected = reduce(x, op), NUMPY[op](x)
        assert (got, got.dtype) == (expected, expected.dtype)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3000), st.integers(0, 2**32), st.sampled_from([np.float32, np.float64]))
def test_a_float_sum_keeps_its_bound(elements, seed, dtype):
    generator = np.random.default_rng(seed)
    x = (generator.standard_normal(elements) * 10.0 ** generator.integers(-3, 4)).astype(dtype)
    allowed = longest_chain(elements, x.itemsize) * np.finfo(dtype).eps / 2 * math.fsum(abs(x))
    assert abs(math.fsum([*x, -reduce(x)])) <= allowed


def test_one_by_one_a_float32_sum_stops_at_2_to_the_24():
    ones = np.ones(2**25, np.float32)
    assert np.cumsum(ones)[-1] == 2**24
    # Here, too, once a sum is 2^24: all that comes after it in the same chain is lost.
    x = np.ones(2**15 + 1, np.float32)
    x[0] = 2**24
    assert np.cumsum(x)[-1] == 2**24
    assert abs(reduce(x) - (2**24 + 2**15)) <= longest_chain(x.size, 4)


@every_operation
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("at", [0, 1, 31, 1000])
def test_one_nan_makes_the_result_nan(op, dtype, at):
    x = np.arange(1001, dtype=dtype)
    x[at] = np.nan
    assert np.isnan(reduce(x, op))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinities_are_the_largest_and_the_smallest(dtype):
    x = np.array([-np.inf, 0, np.inf], dtype)
    assert (reduce(x, "max"), reduce(x, "min")) == (np.inf, -np.inf)


@every_dtype
def test_nothing_sums_to_zero_and_multiplies_to_one(dtype):
    nothing = np.empty(0, dtype)
    assert (reduce(nothing), reduce(nothing, "prod")) == (0, 1)
    assert reduce(nothing).dtype == np.sum(nothing).dtype


def test_an_array_on_the_device_of_any_shape_is_taken_where_it_is():
    x = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    assert reduce(cuda.to_device(x)) == x.sum()


REFUSED_REDUCTIONS = {
    "a list": ([1.0], "sum", r"x is a list, and an array is needed: use np.array\(x\)"),
    "another dtype": (np.ones(3, np.int8), "sum", "x holds int8, and a reduction takes float32,"),
    "another byte order": (np.ones(3, ">f4"), "sum", "x holds >f4, and a reduction takes float32"),
    "another operation": (X, "mean", "no reduction 'mean': choose one of sum, prod, max, min"),
    "every other element": (X[::2], "sum", r"x is not contiguous .* np.ascontiguousarray\(x\)"),
    "columns first": (np.asfortranarray(X.reshape(2, 4)), "sum", "x is not contiguous in C order"),
    "a mask": (np.ma.masked_array(X, X > 2), "sum", r"x is a MaskedArray, .* use x.filled\(...\)"),
    "a list of operations": (X, ["sum"], r"no reduction \['sum'\]: choose one of sum, prod"),
    "no operation": (X, None, "no reduction None: choose one of sum, prod"),
    "integers on the device": (
        cuda.to_device(np.ones(3, np.int8)),
        "sum",
        r"x.copy_to_host\(\).astype\(np.float32\)",
    ),
    "a part on the device": (
        cuda.to_device(X)[::2],
        "sum",
        r"np.ascontiguousarray\(x.copy_to_host\(\)\)",
    ),
    "the maximum of nothing": (X[:0], "max", "x is empty, and nothing has no max"),
    "the minimum of nothing": (X[:0], "min", "x is empty, and nothing has no min"),
}


@pytest.mark.parametrize("x, op, sentence", REFUSED_REDUCTIONS.values(), ids=REFUSED_REDUCTIONS)
def test_a_reduction_that_cannot_be_is_refused_with_what_to_do(x, op, sentence):
    with pytest.raises(CourseError, match=sentence):
        reduce(x, op)
