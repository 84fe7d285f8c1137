"""Edge cases of arithmetic give what an H200 computed (differential.csv), where NumPy differs."""

import math

import numpy as np
import pytest
from numba import cuda

from virtual_gpu import trace

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
F32_MAX, F64_MAX = np.finfo(np.float32).max, np.finfo(np.float64).max


@cuda.jit
def quotient(a, b, out):
    out[0] = a[0] // b[0]


@cuda.jit
def remainder(a, b, out):
    out[0] = a[0] % b[0]


@cuda.jit
def power(a, b, out):
    out[0] = a[0] ** b[0]


@cuda.jit
def left_shift(a, b, out):
    out[0] = a[0] << b[0]


@cuda.jit
def right_shift(a, b, out):
    out[0] = a[0] >> b[0]


@cuda.jit
def larger(a, b, out):
    out[0] = max(a[0], b[0])


@cuda.jit
def smaller(a, b, out):
    out[0] = min(a[0], b[0])


@cuda.jit
def negated(a, b, out):
    out[0] = -a[0]


@cuda.jit
def stored(a, b, out):
    out[0] = a[0]


def of(value, dtype):
    return np.array([value], dtype)


@pytest.mark.parametrize(
    ("kernel", "a", "b", "kind", "expected"),
    [
        (quotient, of(INT64_MIN, "i8"), of(-1, "i8"), "i8", 0),
        (quotient, of(100, "i2"), of(math.inf, "f4"), "f8", math.nan),
        (quotient, of(True, "?"), of(-0.0, "f4"), "f4", -math.inf),
        (quotient, of(-F64_MAX, "f8"), of(-127, "i1"), "f8", math.inf),
        (remainder, of(33, "u1"), of(math.inf, "f8"), "f8", math.nan),
        (remainder, of(-F32_MAX, "f4"), of(-32767, "i2"), "f4", 1.9965497e31),
        (remainder, of(-F64_MAX, "f8"), of(-32767, "i2"), "f8", 1.9802478071164798e292),
        (remainder, of(-7.5, "f8"), of(2, "f8"), "f8", 0.5),
        (power, of(64, "u1"), of(2147483646, "i4"), "i8", INT64_MAX),
        (power, of(10, "i1"), of(2**63, "u8"), "i8", INT64_MAX),
        (power, of(7, "u4"), of(2**63, "u8"), "u8", 2**64 - 1),
        (power, of(3, "i4"), of(-1, "i4"), "i8", 0),
        (power, of(-1, "i4"), of(-3, "i4"), "i8", -1),
        (power, of(-65536.0, "f4"), of(-8, "i2"), "f4", 0.0),
        (left_shift, of(1, "u1"), of(INT64_MIN + 1, "i8"), "u8", 2),
        (left_shift, of(7, "u1"), of(2**63, "u8"), "u8", 7),
        (right_shift, of(64, "u1"), of(INT64_MIN + 1, "i8"), "u8", 32),
        (larger, of(math.nan, "f2"), of(-1, "f2"), "f4", math.nan),
        (larger, of(math.nan, "f4"), of(100, "i4"), "f8", math.nan),
        (larger, of(math.nan, "f4"), of(-1, "f4"), "f4", -1),
        (smaller, of(math.nan, "f8"), of(33, "u8"), "f8", math.nan),
        (negated, of(-(2**31), "i4"), of(0, "i2"), "i8", -(2**31)),
        (negated, of(254, "u1"), of(0, "i2"), "u8", 2),
        (stored, of(math.nan, "f4"), of(0, "f4"), "i4", 0),
        (stored, of(math.nan, "f8"), of(0, "f4"), "i4", -(2**31)),
        (stored, of(math.nan, "f4"), of(0, "f4"), "i8", INT64_MIN),
        (stored, of(math.nan, "f8"), of(0, "f4"), "u4", 2**31),
        (stored, of(32768.0, "f4"), of(0, "f4"), "i1", -1),
        (stored, of(2.0**31, "f4"), of(0, "f4"), "u2", 65535),
        (stored, of(2.0**31, "f4"), of(0, "f4"), "u1", 255),
        (stored, of(-9.2e18, "f8"), of(0, "f4"), "i2", -32768),
        (stored, of(-math.inf, "f2"), of(0, "f4"), "i1", -128),
    ],
)  # fmt: skip
def test_a_corner_is_as_on_the_device(kernel, a, b, kind, expected):
    out = np.zeros(1, kind)
    kinds = {finding.kind for finding in trace(kernel, 1, 1, a, b, out).findings}
    assert kinds <= {"overflow"}  # a result that the type of `out` cannot hold is a warning
    np.testing.assert_array_equal(out, np.array([expected], kind))


def test_a_divisor_may_be_the_same_in_every_thread():
    @cuda.jit
    def parts(x, y, out):
        i = cuda.grid(1)
        out[0, i] = x[i] // y
        out[1, i] = x[i] % y
        out[2, i] = y % x[i]

    x, out = np.linspace(-4, 4, 32), np.zeros((3, 32))
    trace(parts, 1, 32, x, 1.5, out)
    np.testing.assert_array_equal(out, [x // 1.5, x % 1.5, 1.5 % x])


def test_lanes_match_by_their_bits():
    @cuda.jit
    def match(x, out):
        i = cuda.grid(1)
        out[i] = cuda.match_any_sync(0xFFFFFFFF, x[i])

    out = np.zeros(32, np.uint32)
    trace(match, 1, 32, np.full(32, np.nan, np.float32), out)
    assert (out == 0xFFFFFFFF).all()
    trace(match, 1, 32, np.array([0.0, -0.0] * 16, np.float32), out)
    assert (out == np.array([0x55555555, 0xAAAAAAAA] * 16)).all()


def test_a_sum_with_infinity_is_infinite_although_the_product_overflows():
    @cuda.jit
    def fused(a, b, c, out):
        out[0] = cuda.fma(a[0], b[0], c[0])

    out = np.zeros(1)
    trace(fused, 1, 1, of(F64_MAX, "f8"), of(-(2.0**31), "f8"), of(math.inf, "f8"), out)
    assert out[0] == math.inf
