"""`mma` on the virtual GPU: which lane holds which element, the product, and how sums round."""

import csv
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utils.paths import DATA, ROOT
from virtual_gpu import installed, trace
from virtual_gpu.numbers import tensor_sums
from virtual_gpu.numbers.fragments import (
    COLUMNS,
    DEPTHS,
    ROWS,
    element_of_a,
    element_of_b,
    element_of_c,
)
from virtual_gpu.tests.kernels.tensor_rounding import INSTRUCTIONS, LANES, bits_of, compare

README = ROOT / "virtual_gpu" / "README.md"


def read(name):
    """Return the rows of a record of the H200 as dicts."""
    with (DATA / "measured" / "nvidia_h200" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fragments_of(matrix, element_of, size):
    """Return what each lane holds of a matrix, in the shape (32, size)."""
    return np.stack([matrix[element_of(LANES, i)] for i in range(size)], axis=1)


def matrix_of(held, element_of, shape):
    """Return the matrix of which each lane holds ``held``, in the shape (32, size)."""
    matrix = np.zeros(shape, held.dtype)
    for i in range(held.shape[1]):
        matrix[element_of(LANES, i)] = held[:, i]
    return matrix


# --- fragments -------------------------------------------------------------------------------


@pytest.mark.parametrize("k", DEPTHS)
def test_each_element_of_a_matrix_is_held_once(k):
    for element_of, shape in (
        (element_of_a, (ROWS, k)), (element_of_b, (k, COLUMNS)), (element_of_c, (ROWS, COLUMNS))
    ):  # fmt: skip
        size = shape[0] * shape[1] // 32
        held = {element_of(lane, i) for lane in range(32) for i in range(size)}
        assert held == set(np.ndindex(shape))


def test_the_maps_are_those_of_the_manual():
    # PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
    assert [element_of_a(5, i) for i in range(8)] == [
        (1, 2), (1, 3), (9, 2), (9, 3), (1, 10), (1, 11), (9, 10), (9, 11)
    ]  # fmt: skip
    assert [element_of_b(5, i) for i in range(4)] == [(2, 1), (3, 1), (10, 1), (11, 1)]
    assert [element_of_c(5, i) for i in range(4)] == [(1, 2), (1, 3), (9, 2), (9, 3)]


# --- mma -------------------------------------------------------------------------------------


def multiplied(kernel, a, b, c, warps=1):
    """Return the trace of one mma per warp, and the sums as a matrix (of the last warp)."""
    k = a.shape[1]
    held = [
        np.tile(fragments_of(matrix, element_of, matrix.size // 32), (warps, 1))
        for matrix, element_of in ((a, element_of_a), (b, element_of_b), (c, element_of_c))
    ]
    assert held[0].shape == (32 * warps, k // 2)
    run = trace(kernel, 1, 32 * warps, *held)
    return run, matrix_of(held[2][-32:], element_of_c, c.shape)


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda one: one.name)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_mma_of_whole_numbers_is_the_plain_product(instruction, seed):
    rng, k = np.random.default_rng(seed), instruction.k
    a, b = (rng.integers(-64, 65, shape).astype(float) for shape in ((16, k), (k, 8)))
    c = rng.integers(-99, 100, (16, 8)).astype(np.float32)
    held = [instruction.held(bits_of(matrix, instruction)) for matrix in (a, b)]
    run, sums = multiplied(instruction.kernel, *held, c)
    assert run.findings == ()
    np.testing.assert_array_equal(sums, a @ b + c)


def test_each_warp_has_matrices_of_its_own_and_counts_once():
    rng = np.random.default_rng(1)
    a, b = rng.random((16, 8)).astype(np.float16), rng.random((8, 8)).astype(np.float16)
    c = np.zeros((16, 8), np.float32)
    run, sums = multiplied(INSTRUCTIONS[0].kernel, a, b, c, warps=3)
    assert run.totals["mma"] == 3
    np.testing.assert_allclose(sums, a.astype(float) @ b.astype(float), rtol=1e-6)


# --- rounding --------------------------------------------------------------------------------


def exponent(value, least):
    return max(math.frexp(value)[1] - 1, least)


def exact_model(a, b, c, least):
    """Return the rounded sum of one element in rational numbers: the model of the two studies."""
    products = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    exponents = [
        exponent(float(x), least) + exponent(float(y), least)
        for x, y in zip(a, b, strict=True)
        if x and y
    ]
    exponents.append(exponent(float(c), -126) if c else -133)
    unit = Fraction(2) ** (max(exponents) - 25)
    total = sum(math.trunc(term / unit) for term in (*products, Fraction(float(c)))) * unit
    if not total:
        return 0.0
    first = total.numerator.bit_length() - total.denominator.bit_length()
    first -= abs(total) < Fraction(2) ** first
    last = Fraction(2) ** (max(first, -126) - 23)
    return float(math.trunc(total / last) * last)


def any_numbers(rng, shape, dtype):
    """Return finite numbers of random bits; a third of them are 0."""
    bits = rng.integers(0, 1 << 8 * dtype().itemsize, shape).astype(f"u{dtype().itemsize}")
    values = bits.view(dtype)
    return np.where(np.isfinite(values) & (rng.random(shape) < 2 / 3), values, dtype(0))


@given(seed=st.integers(0, 2**32 - 1), bfloat16=st.booleans(), zero=st.booleans())
@settings(max_examples=20, deadline=None)
def test_a_sum_is_rounded_as_the_models_of_hopper_say(seed, bfloat16, zero):
    rng = np.random.default_rng(seed)
    a, b = (any_numbers(rng, shape, np.float16) for shape in ((1, 3, 16), (1, 16, 2)))
    if bfloat16:
        a, b = (tensor_sums.from_bfloat16(x.view(np.uint16)) for x in (a, b))
        a, b = (np.where(np.isfinite(x), x, np.float32(1)) for x in (a, b))
    c = any_numbers(rng, (1, 3, 2), np.float32) * np.float32(not zero)
    sums = tensor_sums.multiply_add(a, b, c)[0]
    for row, column in np.ndindex(3, 2):
        least = -126 if bfloat16 else -14
        model = exact_model(a[0, row], b[0, :, column], c[0, row, column], least)
        with np.errstate(over="ignore"):
            assert sums[row, column] == np.float32(model)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_the_error_is_below_the_stated_bound(seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.normal(size=shape).astype(np.float16) for shape in ((9, 16, 16), (9, 16, 8)))
    a, b = (np.where(abs(x) < 2**-14, np.float16(1), x) for x in (a, b))
    c = rng.normal(size=(9, 16, 8)).astype(np.float32)
    sums = tensor_sums.multiply_add(a, b, c)
    products = a[:, :, None, :].astype(float) * b.swapaxes(1, 2)[:, None]
    terms = np.concatenate([products, c[..., None]], axis=-1)
    largest = abs(terms).max(axis=-1)
    bound = 2.0**-23 * abs(sums) + terms.shape[-1] * 2.0**-25 * largest
    assert (abs(sums - terms.sum(axis=-1)) < bound).all()


def test_sums_are_truncated_and_not_rounded_to_nearest():
    a, b = np.zeros((1, 16, 8), np.float16), np.zeros((1, 8, 8), np.float16)
    a[0, 0, :2], b[0, :2, 0] = (1, 0.875), (1, 2.0**-23)
    c = np.zeros((1, 16, 8), np.float32)
    assert tensor_sums.multiply_add(a, b, c)[0, 0, 0] == 1
    assert tensor_sums.multiply_add(-a, b, c)[0, 0, 0] == -1


def test_infinity_and_nan_go_through():
    a, b = np.ones((1, 16, 8), np.float16), np.ones((1, 8, 8), np.float16)
    c = np.zeros((1, 16, 8), np.float32)
    a[0, 0, 3], a[0, 1, :2], b[0, 2, 5] = np.inf, (np.inf, -np.inf), np.nan
    sums = tensor_sums.multiply_add(a, b, c)[0]
    assert sums[0, 0] == np.inf
    assert np.isnan(sums[1, 0])
    assert sums[2, 5].view(np.uint32) == 0x7FFFFFFF
    assert sums[2, 0] == 8


def test_a_sum_that_float32_cannot_hold_is_infinite():
    huge = np.full((1, 16, 16), 3e38, np.float32)
    a = tensor_sums.from_bfloat16(bits_of(huge, INSTRUCTIONS[-1]))
    sums = tensor_sums.multiply_add(a, -a[:, :, :8], np.zeros((1, 16, 8), np.float32))
    assert (sums == -np.inf).all()


def test_a_sum_that_the_model_does_not_predict_is_counted_and_shown():
    def nearest(instruction, a, b, c):
        with np.errstate(all="ignore"):
            a, b = (instruction.values(bits).astype(float) for bits in (a, b))
            return (a @ b + c).astype(np.float32)

    for instruction in INSTRUCTIONS:
        with installed():
            rows = compare(instruction, warps=4)
        assert {row.differing for row in rows} == {0}
        (row,) = (row for row in compare(instruction, 4, nearest) if row.inputs == "normal numbers")
        assert row.sums / 4 < row.differing < row.sums
        assert len(row.example.split(" | ")) == 5


def test_the_recorded_device_gave_every_bit_of_the_model():
    rows = read("tensor_rounding.csv")
    assert {row["differing"] for row in rows} == {"0"}
    (sums,) = {int(row["sums"]) for row in rows}
    # "36 tests of 65,536 sums", and in the module "36 of its tests, with 65,536 sums each"
    said = rf"\b{len(rows)}( of its)? tests( of|, with) {sums:,} sums"
    for text in (README.read_text(encoding="utf-8"), tensor_sums.__doc__):
        assert re.search(said, text)


@pytest.mark.slow
@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda one: one.name)
def test_the_model_gives_every_bit_that_the_recorded_device_gave(instruction):
    def model(instruction, a, b, c):
        return tensor_sums.multiply_add(instruction.values(a), instruction.values(b), c)

    recorded = {(row["instruction"], row["inputs"]): row for row in read("tensor_rounding.csv")}
    same = 0
    for row in compare(instruction, run=model):
        record = recorded[row.instruction, row.inputs]
        if int(record["inputs_crc"]) == row.inputs_crc:  # this NumPy draws the same numbers
            assert (row.inputs, row.sums_crc) == (record["inputs"], int(record["sums_crc"]))
            same += row.sums
    if not same:
        pytest.skip("This version of NumPy draws other numbers.")
