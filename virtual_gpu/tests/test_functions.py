"""Functions of numbers give what Numba's own formulas give, also in edge cases."""

import cmath
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numba import cuda, float32, int32, njit
from numba.cuda import fp16, libdevice  # noqa: F401 - it makes cuda.fp16

from virtual_gpu import Unsupported, trace

CORNERS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, math.inf, -math.inf, math.nan, 1e30, 88.0, -1e30)
COMPLEX = np.array([complex(x, y) for x, y in itertools.product(CORNERS, CORNERS)])
COMPLEX.real, COMPLEX.imag = zip(*itertools.product(CORNERS, CORNERS), strict=True)


def rounded(value, digits):
    """Return ``round(value, digits)`` by Numba's formula for kernels, in Python."""
    if not math.isfinite(value):
        return value
    scale, rest = 10.0 ** abs(digits), 1.0
    if digits > 22:
        scale, rest = 10.0 ** (digits - 22), 1e22
    scaled = value * scale * rest if digits >= 0 else value / scale
    if math.isinf(scaled):
        return value
    whole = max(-(2**63), min(2**63 - 1, round(scaled)))
    return whole / rest / scale if digits >= 0 else whole * scale


@cuda.jit
def round_each(values, digits, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = round(values[i], digits[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_scales_in_float64(dtype):
    values = [0.3425, 2.675, -0.5, 1.5, 12345.678, 1e20, 3e38, math.inf, math.nan, -2.5]
    pairs = list(itertools.product(np.array(values, dtype), (-40, -3, -1, 0, 1, 3, 5, 22, 23, 300)))
    numbers, digits = (np.array(column) for column in zip(*pairs, strict=True))
    out = np.zeros_like(numbers)
    assert trace(round_each, 4, 32, numbers, digits, out).findings == ()
    want = np.array([rounded(float(v), int(d)) for v, d in pairs])
    np.testing.assert_array_equal(out, want.astype(dtype))


def test_the_float32_next_to_a_half_rounds_as_its_decimal():
    @cuda.jit
    def kernel(out, value):
        out[0] = round(value, 3)
        out[1] = round(value * 10000, -1) + round(value, 1)

    out = np.zeros(2, np.float32)
    kernel[1, 1](out, np.float32(0.3425))
    assert out.tolist() == [np.float32(0.343), np.float32(3430.3)]


ONE_ARGUMENT = (
    "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh",
    "asin", "acos", "atan", "asinh", "acosh", "atanh",
)  # fmt: skip


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_a_complex_function_has_numbas_corners(name):
    function = getattr(cmath, name)

    @cuda.jit
    def kernel(z, out):
        i = cuda.grid(1)
        if i < z.size:
            out[i] = function(z[i])

    compiled = njit(error_model="numpy")(eval(f"lambda z: cmath.{name}(z)"))
    want = np.array([compiled(z) for z in COMPLEX])
    out = np.zeros_like(COMPLEX)
    trace(kernel, 5, 32, COMPLEX, out)
    for got, right in ((out.real, want.real), (out.imag, want.imag)):
        np.testing.assert_allclose(got, right, rtol=1e-12, atol=1e-12)
        clear = ~np.isnan(right)
        np.testing.assert_array_equal(np.signbit(got[clear]), np.signbit(right[clear]))


def test_complex_powers_and_parts():
    @cuda.jit
    def kernel(z, w, out):
        i = cuda.grid(1)
        out[0, i] = z[i] ** w[i]
        size, angle = cmath.polar(z[i])
        out[1, i] = cmath.rect(size, angle)
        out[2, i] = cmath.log(z[i], w[i] + 2)

    z = np.array([1 + 2j, 0, 0, 3 - 1j, -2 + 0j])
    w = np.array([0.5 - 1j, 0, 1j, 2 + 0j, 0.5 + 0j])
    out = np.zeros((3, 5), complex)
    trace(kernel, 1, 5, z, w, out)
    want = [cmath.exp(b * cmath.log(a)) if a else 1 - bool(b) for a, b in zip(z, w, strict=True)]
    np.testing.assert_allclose(out[0], want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(out[1], z, atol=1e-12)
    np.testing.assert_allclose(out[2, 3], cmath.log(3 - 1j) / cmath.log(4))


@cuda.jit
def half_dot(x, y, out):
    total = np.float16(0)
    for i in range(x.size):
        total = cuda.fp16.hfma(x[i], y[i], total)
    out[0] = total
    out[1] = cuda.fp16.hadd(x[0], y[0]) * x[1] - y[1] / x[2]
    out[2] = cuda.fp16.hsqrt(x[3]) if cuda.fp16.hlt(x[3], y[3]) else cuda.fp16.hneg(x[3])
    out[3] = -x[4] + abs(y[4])


def test_a_dot_product_in_half_precision():
    x = (np.arange(1, 17) / 8).astype(np.float16)
    y = (np.arange(16, 0, -1) / 3).astype(np.float16)
    out = np.zeros(4, np.float16)
    assert trace(half_dot, 1, 1, x, y, out).findings == ()
    total = np.float16(0)
    for a, b in zip(x, y, strict=True):
        total = np.float16(float(a) * float(b) + float(total))
    want = [total, (x[0] + y[0]) * x[1] - y[1] / x[2], np.sqrt(x[3]), y[4] - x[4]]
    assert out.tolist() == [float(w) for w in want]


@cuda.jit
def from_the_library(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[0, i] = libdevice.rsqrtf(v) + libdevice.fmaxf(v, float32(1))
    out[1, i] = libdevice.float_as_int(v)
    out[2, i] = libdevice.round(-v) + libdevice.fast_sinf(v)
    out[3, i] = libdevice.fmaf(v, v, -v) + libdevice.normcdff(v)
    out[4, i] = libdevice.float2int_rn(v) + libdevice.mulhi(int32(1 << 30), int32(i))


def test_functions_of_libdevice():
    x, out = np.array([0.5, 1.5, 2.5, 9], np.float32), np.zeros((5, 4))
    assert trace(from_the_library, 1, 4, x, out).findings == ()
    np.testing.assert_allclose(out[0], 1 / np.sqrt(x) + np.maximum(x, 1), rtol=1e-6)
    assert out[1].tolist() == x.view(np.int32).tolist()
    np.testing.assert_allclose(out[2], np.sin(x) - [1, 2, 3, 9], rtol=1e-6)
    cdf = [0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x]
    np.testing.assert_allclose(out[3], x * x - x + cdf, rtol=1e-6)
    assert out[4].tolist() == [0, 2, 2, 9]


@cuda.jit
def with_two_results(x, out):
    i = cuda.grid(1)
    out[0, i], out[1, i] = libdevice.sincosf(x[i])
    out[2, i], out[3, i] = libdevice.sincospi(x[i])
    out[4, i], out[5, i] = libdevice.modf(x[i])
    out[6, i], out[7, i] = libdevice.frexpf(x[i])
    out[8, i], out[9, i] = libdevice.fast_sincosf(2)


def test_functions_of_libdevice_with_two_results():
    x, out = np.array([0.5, -1.75, 2.5, 9], np.float32), np.zeros((10, 4))
    assert trace(with_two_results, 1, 4, x, out).findings == ()
    turn = np.pi * x.astype(np.float64)
    want = [np.sin(x), np.cos(x), np.sin(turn), np.cos(turn), *np.modf(x), *np.frexp(x)]
    np.testing.assert_allclose(out[:8], want, rtol=1e-6, atol=1e-14)
    np.testing.assert_allclose(out[8:], np.array([[math.sin(2)], [math.cos(2)]]) + np.zeros(4))


def test_two_results_of_what_is_no_number_are_refused():
    @cuda.jit
    def kernel(x):
        x[0], x[1] = libdevice.sincos(x)

    with pytest.raises(Unsupported, match=r"libdevice\.sincos\(x\), of a 1D array,"):
        kernel[1, 1](np.zeros(2))


def test_a_function_of_libdevice_that_is_not_known_is_refused():
    @cuda.jit
    def kernel(x):
        x[0] = libdevice.j0(x[0])

    with pytest.raises(Unsupported, match=r"a call of libdevice\.j0\(\)"):
        kernel[1, 1](np.zeros(1))


def test_poles_of_the_gamma_function_are_infinities_as_cuda_has_them():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[0, i] = math.gamma(x[i])
        out[1, i] = math.lgamma(x[i])

    x, out = np.array([0.0, -0.0, -2.0, 5.0]), np.zeros((2, 4))
    trace(kernel, 1, 4, x, out)
    np.testing.assert_array_equal(out[0], [math.inf, -math.inf, math.nan, 24.0])
    np.testing.assert_array_equal(out[1], [math.inf, math.inf, math.inf, math.lgamma(5.0)])


def test_a_half_becomes_the_nearest_integer_and_a_float_is_truncated():
    @cuda.jit
    def kernel(half, single, out):
        i = cuda.grid(1)
        out[0, i] = int32(half[i])
        out[1, i] = int32(single[i])

    values, out = [0.75, -1.75, 2.5, 3.5], np.zeros((2, 4), np.int32)
    trace(kernel, 1, 4, np.array(values, np.float16), np.array(values, np.float32), out)
    assert out.tolist() == [[1, -2, 2, 4], [0, -1, 2, 3]]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_fused_product_and_sum_is_rounded_once(dtype):
    @cuda.jit
    def kernel(a, b, c, out):
        i = cuda.grid(1)
        out[i] = fma(a[i], b[i], c[i])

    fma = cuda.fp16.hfma if dtype == np.float16 else cuda.fma
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 64)).astype(dtype)
    c = np.where(np.arange(64) % 2, a * b * dtype(-1), rng.normal(size=64) * 1e-3).astype(dtype)
    a[:2], b[:2], c[:2] = np.finfo(dtype).max, 2, -np.finfo(dtype).max
    out = np.zeros(64, dtype)
    trace(kernel, 2, 32, a, b, c, out)
    with np.errstate(over="ignore"):
        near = [np.nextafter(out, dtype(end)) for end in (-np.inf, np.inf)]
    for i, (x, y, z) in enumerate(zip(*(v.tolist() for v in (a, b, c)), strict=True)):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        error = abs(Fraction(float(out[i])) - exact)
        for other in (each[i] for each in near):
            assert not np.isfinite(other) or error <= abs(Fraction(float(other)) - exact)


@cuda.jit
def cast_of_a_complex_number(z, out):
    out[0] = float32(z[0])


@cuda.jit
def smaller_of_two_complex_numbers(z, out):
    out[0] = min(z[0], z[1]).real


@cuda.jit
def sine_of_a_half(z, out):
    out[0] = np.sin(np.float16(z[0].real))


@pytest.mark.parametrize(
    "kernel", [cast_of_a_complex_number, smaller_of_two_complex_numbers, sine_of_a_half]
)
def test_what_numba_types_but_cannot_compile_is_refused(kernel):
    with pytest.raises(Unsupported):
        trace(kernel, 1, 1, np.ones(2, complex), np.zeros(1, np.float32))


def test_a_function_of_math_that_numpy_lacks_takes_what_is_the_same_in_every_thread():
    @cuda.jit
    def left_over(x, y):
        if cuda.grid(1) < 3:
            x[cuda.grid(1)] = math.remainder(7.5, y)

    x = np.zeros(4)
    left_over[1, 4](x, 2.0)
    assert x.tolist() == [-0.5, -0.5, -0.5, 0.0]
    left_over[1, 4](x, 0.0)
    assert np.isnan(x[:3]).all()
