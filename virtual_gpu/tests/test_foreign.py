"""Kernels as other people write them: the same results as NumPy, Python or Numba on the CPU.

``SNIPPETS`` are single constructs; plain Python says what they give. ``INTEGER`` and ``REAL`` are
expressions whose types matter; ``numba.njit`` says what they give. ``PROGRAMS`` are whole kernels.
"""

import cmath
import copy
import enum
import linecache
import math
import operator
import zlib

import numpy as np
import pytest
from numba import cuda, float32, float64, int32, njit, types, uint16, uint32, uint64
from numba.cuda import libdevice
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

from virtual_gpu import Unsupported, trace

FULL = 0xFFFFFFFF  # every lane of a warp
PROGRAMS = {}


def runs(grid, block, arguments, wanted, shared=0):
    """Registers a kernel, its launch, a function that makes its arguments, and what it must give.

    ``wanted(*copies of the arguments)`` is what the last argument holds afterwards; a tuple is
    what the last few arguments hold.
    """

    def register(kernel):
        PROGRAMS[kernel.py_func.__name__] = (kernel, (grid, block, 0, shared), arguments, wanted)
        return kernel

    return register


def on_host(argument):
    return argument.copy_to_host() if hasattr(argument, "copy_to_host") else copy.copy(argument)


def assert_same(got, want, tolerance=None):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    if got.dtype.kind in "fc":
        by_type = {np.float16: 2e-3, np.float32: 3e-5, np.complex64: 3e-5}
        tolerance = tolerance or by_type.get(got.dtype.type, 1e-11)
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, want)


def rng(seed=0):
    return np.random.default_rng(seed)


def f4(*shape):
    return rng(sum(shape)).random(shape, dtype=np.float32)


def f8(*shape):
    return rng(sum(shape)).random(shape)


def bytes_of(text):
    return np.frombuffer(text, np.uint8).copy()


def i4(*shape):
    return np.zeros(shape, np.int32)


def z4(*shape):
    return np.zeros(shape, np.float32)


def z8(*shape):
    return np.zeros(shape)


def defined(source, **names):
    """The function of this text, whose source can be read although it is in no file."""
    path = f"<{source}>"
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    namespace = {**vars(types), **globals(), "cmath": cmath, "operator": operator, **names}
    exec(compile(source, path, "exec"), namespace)
    return namespace["f"]


# --- single constructs --------------------------------------------------------------------------


class Colour(enum.IntEnum):
    RED = 1
    GREEN = 4


LIMITS = (3, 5.5)
PAIR_OF_PAIRS = ((1, 2), (3, 4))
TABLE = np.array([[10, 20, 30], [40, 50, 60]], np.int32)
SWITCH = True


def add(a, b):
    return a + b


def plus(v, by=1):
    return v + by


def both(a, b):
    return a + b, (a - b, a * 2)


def clamp(v, top):
    if v < 0:
        return 0.0
    if v > top:
        return top
    return v


def second(row):
    return row[1]


def fill(row, value):
    for k in range(row.shape[0]):
        row[k] = value + k


def apply(f, v):
    return f(v)


def maybe(row, k):
    if k > 2:
        return
    row[k] += 1


def variadic(*values):
    return values[0] + len(values)


HELPERS = (add, plus, both, clamp, second, fill, apply, maybe, variadic)
SNIPPETS = r"""
out[i] = add(x[i], 2)
out[i] = plus(x[i])
out[i] = plus(v=x[i], by=3)
out[i] = variadic(i, 2, 3)
s, (d, t) = both(x[i], 2.0); out[i] = s + 10 * d + 100 * t
p = both(i, 1); out[i] = p[0] + p[1][-1] + len(p)
out[i] = clamp(x[i] - 2, 0.5)
out[i] = second(m[i]) + second(m[:, 1]) + second(x[2:])
fill(m[i], 7); out[i] = m[i, 2]
maybe(out, i)
out[i] = apply(second, m[i])
f = add; out[i] = f(i, 1)
f = lambda v: v + 1; out[i] = f(i)
a, b = 1, i; a, b = b, a; out[i] = 10 * a + b
a = b = c = i; out[i] = a + b + c
a: int = 3; out[i] = a
t = (1, 2.0, i); out[i] = t[2] + t[-2] + len(t)
out[i] = (1, 2, 4)[i % 3]
out[i] = PAIR_OF_PAIRS[1][0] + LIMITS[1]
out[i] = ((1, 2) + (3,))[2]
out[i] = (1, i) == (1, 2)
for v in (1, 2, 4): out[i] += v * i
for a, b in PAIR_OF_PAIRS: out[i] += a * b
for v in x: out[i] += v
for v in m[i]: out[i] += v
for k, v in enumerate(x): out[i] += k * v
for a, b in zip(x, x): out[i] += a * b
for a, b in np.ndindex(2, 3): out[i] += a * b + 1
for k in range(n, 0, -2): out[i] += k
for k in range(5, 2): out[i] += k
for k in range(i): out[i] += k
for k in range(int32(0), uint8(3)): out[i] += k
for k in range(3): out[i] = k\nout[i] += k
for k in range(4):\n    if k == i: break\n    out[i] += k\nelse:\n    out[i] = 77
for k in range(4):\n    if k == i: continue\n    for j in range(k): out[i] += j
for k in range(9):\n    if k * k > i:\n        out[i] = k\n        return
while True:\n    out[i] += 2\n    if out[i] > 2 * i: break
k = i\nwhile k < 3:\n    k += 2\n    if k == 3: break\nelse:\n    out[i] = 5
k = 10\nwhile k: k //= 2; out[i] += k
match i:\n    case 0: out[i] = 5\n    case _: out[i] = 6
if i == 0: v = 1\nelif i > 1: v = 2.5\nelse: v = i\nout[i] = v
v = 0\nfor k in range(3): v += 0.5\nout[i] = v
out[i] = 7 if i == 1 else 8 if i == 2 else 9
out[i] = x[i + 5] if i + 5 < x.size else -1
out[i] = 0 < i <= 2 < 5
out[i] = i > 1 and x[i - 2] > 1 or i == 0
out[i] = (i and 3) + (i or 7)
out[i] = not i
out[i] = (i > 1) & (i < 3) | (i == 0) ^ True
out[i] = i in (1, 3)
out[i] = i not in (1, 3)
out[i] = x is not None and SWITCH
none = None; out[i] = none is None
if "add" == "add": out[i] = 1
if i == Colour.RED: out[i] = Colour.GREEN + 1
out[i] = True + (i > 1) + int(True) + bool(i) + float(i)
out[i] = -7 // 2 + -7 % 3 + 7 // -2 + (-i) // 2 + (-i) % 3
out[i] = ~i + (-i) + (+i)
out[i] = -(i > 1) + (+(i > 1))
out[i] = i ** 2 + 2 ** i + x[i] ** 0.5 + 2 ** -1
out[i] = divmod(i, 2)[0] + divmod(-x[i], 2)[1]
out[i] = pow(x[i], 2) + abs(-i) + round(x[i] / 3, 1) + round(2.5)
out[i] = min(i, 2) + max(i, 2, 1) + max((1, 2, i)) + min(x[i], 2)
out[i] = sum((1, 2, 3))
out[i] = ord("a")
out[i] = 0xFF & 0b11 | 0o7 ^ 1_000
a[i] += 3; a[i] -= 1; a[i] *= 7; a[i] //= 2; a[i] %= 11; a[i] **= 2; out[i] = a[i]
a[i] <<= 2; a[i] >>= 1; a[i] &= 13; a[i] |= 16; a[i] ^= 5; out[i] = a[i]
v = i; v += 1; v -= 3; v *= 5; v //= 2; v %= 7; v **= 2; v <<= 3; v >>= 1; v |= 1; out[i] = v
x[i] /= 4; x[i] **= 2; x[i] %= 0.7; out[i] = x[i]
out[i], out[i + 4] = x[i], x[i + 1]
x[i], m[i, 1] = m[i, 1], x[i]; out[i] = x[i] - m[i, 1]
n += 1; out[i] = n
i = i * 2; out[i] = i
x = x[1:]; out[i] = x[i]
out[i] = len(m) + m.shape[-1] + m.size + m.ndim + x.nbytes + x.itemsize
rows, cols = m.shape; out[i] = rows * 100 + cols
out[i] = x.strides[0]
out[i] = x[int32(i)] + x[np.int64(1)] + x[uint8(i)] + x[(1,)]
t = (i, 2); out[i] = m[t] + m[i][2] + m[1, i]
row = m[i]; col = m[:, i]; out[i] = row[1] + col[2] * col.shape[0] + row[len(row) - 1]
out[i] = x[1:][i] + x[:3][2] + x[::2][1] + x[::-1][i] + x[2:][1:][0]
out[i] = m[1:3, 1:][1, i] + m[i, 1:3][1] + m[0:1, 1:3][0, 1]
out[i] = x[n:][i]
out[i] = x[i:][1]
out[i] = x[i : i + 2].shape[0]
out[i] = m[i, ...][2]
out[i] = m.T[0, i]
out[i] = m.flat[i]
out[i] = m.reshape(24)[i]
out[i] = m.reshape((3, 8))[1, i] + m.reshape(2, -1)[1, 2]
m.flat[3] = 2; out[i] = m[0, 3] + len(m.flat)
for v in m.flat: out[i] += v
out[i] = m.transpose()[1, i] + x.reshape(2, 4).transpose()[i, 1]
for k, v in enumerate(range(3, 9, 2)): out[i] += k * v
for k, v in enumerate(x, 5): out[i] += k * v
for a, b in zip(range(4), x): out[i] += a * b
for k, (a, b) in enumerate(zip(x, range(9))): out[i] += k * a - b
out[2:4] = 3.0
m[i, :] = 2.0; out[i] = m[i, 1]
m[i, 1:3] = x[0]; out[i] = m[i, 2]
m[i] = 4; out[i] = m[i, 5]
x.fill(2)
out[i] = TABLE[1, 2] + TABLE[i % 2, 1] + TABLE.shape[1]
out[i] = math.pi + np.e + math.tau
z = complex(i, 2) * 1j; out[i] = z.real + z.imag
z = complex64(3 + 4j); out[i] = abs(z) + z.imag
out[i] = (x[i] + 2j).conjugate().imag
out[i] = cmath.exp(1j * i).real
out[i] = math.floor(x[i] / 3) + math.ceil(x[i] / 3) + math.trunc(-x[i] / 3)
out[i] = math.fmod(-x[i], 2) + math.copysign(3, -x[i]) + math.hypot(i, 2) + math.pow(2, i)
out[i] = math.ldexp(x[i], 2) + math.frexp(x[i])[0]
out[i] = math.modf(x[i] / 3)[1]
out[i] = np.sin(x[i]) + np.arctan2(x[i], 1.0) + np.maximum(x[i], 2)
out[i] = operator.add(i, 1) * operator.mul(x[i], 2)
assert i < 100, "too big"
if i > 100: raise ValueError("no")
print("thread", i, x[i])
"a string"
global GLOBAL; out[i] = 1
""".strip().splitlines()


ARRAYS = ("x", "m", "a", "n", "out")


def snippet_arguments():
    x, m = np.arange(1.0, 9), np.arange(24.0).reshape(4, 6)
    return x, m, np.arange(-4, 4, dtype=np.int32), 3, np.zeros(8)


def indented(body):
    return body.replace("\\n", "\n    ")


def snippet_kernel(body):
    device = {h.__name__: cuda.jit(device=True)(h) for h in HELPERS}
    text = f"def f({', '.join(ARRAYS)}):\n    i = cuda.grid(1)\n    {indented(body)}\n"
    return cuda.jit(defined(text, **device))


def run_snippet(body):
    got, want = snippet_arguments(), snippet_arguments()
    snippet_kernel(body)[1, 4](*got)
    python = defined(f"def f({', '.join(ARRAYS)}, i):\n    {indented(body)}\n")
    for i in range(4):
        python(*want, i)
    return got[-1], want[-1]


# --- expressions whose types matter -------------------------------------------------------------

INTEGER = {
    "floor_division": "a // b",
    "modulo": "a % b",
    "true_division": "a / b",
    "shift_left": "a << (b & 7)",
    "shift_right": "a >> (b & 3)",
    "sum_and_difference": "(a + b) * 3 - (a - b)",
    "widening_product": "a * b * 50000",
    "power": "a ** (b & 3)",
    "invert_and_negate": "~a - (-b) + (+a)",
    "masks": "(a & b) + (a | b) * 3 + (a ^ b) * 5",
    "extremes": "min(a, b) * 3 + max(a, b, 2) + abs(a)",
    "divmod": "divmod(a, b)[0] * 100 + divmod(a, b)[1]",
    "conditional_float": "a if a > b else 0.5",
    "comparisons": "(a < b) + 2 * (a == b) + 4 * (a >= b)",
    "int32_cast": "int32(a * 1000000007) + b",
    "uint32_cast": "uint32(a * 2654435761) >> 7",
    "narrow_casts": "uint8(a * b) + int16(a << 9) + int8(b * 77)",
    "numpy_casts": "np.uint16(a) + np.int32(b) * np.float32(0.1)",
    "uint64_cast": "uint64(a) >> uint64(3)",
    "float32_quotient": "float32(a) / float32(b) + float32(0.1)",
    "mixed_float": "float32(a) * 0.1 + b",
    "round_and_int": "round(a / b) * 10 + int(a / b) + float(a) + round(a / b, 2)",
    "bool_arithmetic": "(a > b) + (a < 0) * 2 + bool(b)",
    "math": "math.floor(a / b) + math.copysign(a, b) + math.atan2(a, b) + math.hypot(a, b)",
    "xorshift": "(a ^ (a << uint64(13))) >> uint64(7)",
}
REAL = {
    "trigonometry": "math.sin(a) + math.cos(a) + math.tan(a) + math.atan(a)",
    "inverse": "math.asin(a / 4) + math.acos(a / 4) + math.asinh(a) + math.atanh(a / 4)",
    "hyperbolic": "math.sinh(a) + math.cosh(a) + math.tanh(a) + math.acosh(a + 1)",
    "exponents": "math.exp(a) + math.expm1(a) + math.log(a) + math.log1p(a)",
    "logarithms": "math.log2(a) + math.log10(a) + math.sqrt(a) + math.fabs(-a)",
    "error_functions": "math.erf(a) + math.erfc(a)",
    "gamma": "math.gamma(a) + math.lgamma(a)",
    "rounding": "math.floor(a) + math.ceil(a) + math.trunc(a) + round(a)",
    "degrees": "math.degrees(a) - math.radians(a) + math.pi * math.e",
    "tests": "math.isnan(a) + 2 * math.isinf(a) + 4 * math.isfinite(a)",
    "powers": "a**0.5 + a**3 + a**-1",
    "floor_division": "a // 0.75 + a % 0.75",
    "literal_widens": "a * 1.1 + 1",
    "float32_stays": "float32(a) * float32(1.1) + float32(1) / 3",
    "integer_widens": "a * 3 + 16777217",
    "signs": "-a + abs(-a) * 2 + (a > 1) - (not a)",
    "numpy_functions": "np.sin(a) + np.log2(a) + np.arctan(a) + np.isnan(a) + np.maximum(a, 1)",
    "complex_numbers": "(complex(a, 2) * 1j).real + abs(complex(a, 1)) + (a + 2j).imag",
}
ROUNDED = {"literal_widens", "float32_stays", "integer_widens", "signs", "rounding", "tests"}
PAIRS = np.array([[7, 3], [-7, 3], [7, -3], [-7, -3], [6, 3], [-1, 5], [0, 4], [100, 27]])


def run_expression(expression, *arrays):
    """The expression as a device function on every element, and compiled by numba.njit."""
    names = "ab"[: len(arrays)]
    function = defined(f"def f({', '.join(names)}):\n    return {expression}\n")
    host, device = njit(function), cuda.jit(device=True)(function)
    elements = ", ".join(f"{n}[i]" for n in names)
    text = f"def f({', '.join(names)}, out):\n    i = cuda.grid(1)\n    out[i] = g({elements})\n"
    want = np.array([host(*values) for values in zip(*arrays, strict=True)])
    got = np.zeros(want.shape, want.dtype)
    cuda.jit(defined(text, g=device))[1, got.size](*arrays, got)
    return got, want


def integers(dtype):
    pairs = PAIRS if np.issubdtype(dtype, np.signedinteger) else abs(PAIRS)
    return pairs.T.astype(dtype, order="C")


EXPRESSIONS = {
    **{
        f"{name}-{dtype.__name__}": (text, *integers(dtype), None)
        for name, text in INTEGER.items()
        for dtype in (np.int8, np.uint8, np.int32, np.int64, np.uint64)
    },
    **{
        f"{name}-{dtype.__name__}": (
            text,
            np.array([0.3, 0.5, 1.0, 1.5, 2.25, 3.9]).astype(dtype),
            3e-6 if dtype is np.float32 and name not in ROUNDED else None,
        )
        for name, text in REAL.items()
        for dtype in (np.float32, np.float64)
    },
    "mixed-uint8-int32": ("a + b * a", integers(np.uint8)[0], integers(np.int32)[1], None),
    "mixed-uint64-int32": ("a + b", integers(np.uint64)[0], integers(np.int32)[1], None),
    "mixed-uint64-int64": ("(a < b) + a * b", integers(np.uint64)[0], integers(np.int64)[1], None),
    "mixed-int32-float32": ("a + b", integers(np.int32)[0], integers(np.float32)[1], None),
    "mixed-int8-uint16": ("a * b - a", integers(np.int8)[0], integers(np.uint16)[1], None),
}


# --- whole kernels ------------------------------------------------------------------------------


@runs(4, 32, lambda: (f4(100), f4(101)[:100], z4(100)), lambda x, y, out: x + y)
@cuda.jit
def vector_add(x, y, out):
    idx = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if idx < out.size:
        out[idx] = x[idx] + y[idx]


@runs((2, 3, 1), (2, 2, 2), lambda: (i4(4, 6, 2),), lambda out: np.arange(48).reshape(4, 6, 2))
@cuda.jit
def position_in_three_dimensions(out):
    i, j, k = cuda.grid(3)
    _, ny, nz = cuda.gridsize(3)
    out[i, j, k] = (i * ny + j) * nz + k


@runs(3, 64, lambda: (np.float32(2), f4(1000), z4(1000)), lambda a, x, y: a * x)
@cuda.jit(fastmath=True, max_registers=32)
def grid_stride_loop(a: float, x: np.ndarray, y: np.ndarray) -> None:
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        y[i] += a * x[i]


@runs(2, 32, lambda: (np.zeros(333, np.int16),), lambda out: np.arange(333, 0, -1))
@cuda.jit
def grid_stride_backwards(out):
    for i in range(len(out) - 1 - cuda.grid(1), -1, -cuda.gridsize(1)):
        out[i] = len(out) - i


@runs(
    (1, 1),
    (8, 8),
    lambda: (cuda.to_device(z8(8, 10))[::2, 1::2], f8(4, 5).copy("F"), cuda.to_device(f8(5, 4)).T),
    lambda a, b, c: (10.0 * np.arange(4)[:, None] + np.arange(5), a * 0 + 1, c + 2),
)
@cuda.jit
def strided_fortran_and_transposed_arrays(a, b, c):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] = 10 * i + j
        b[i, j] = 1
        c[i, j] += 2


@runs(
    1,
    8,
    lambda: (np.int8(-3), np.uint16(65535), np.float32(0.1), np.bool_(True), 1.5 + 2j, z8(8)),
    lambda a, b, c, flag, z, out: -3.0 * np.arange(8) + 65535 + float(c) + 1.5,
)
@cuda.jit
def scalar_arguments_of_many_types(a, b, c, flag, z, out):
    i = cuda.grid(1)
    if i < out.size and flag:
        out[i] = a * i + b + c + z.real


@runs(1, 1, lambda: (np.zeros(()),), lambda out: np.array(42.5))
@cuda.jit
def array_without_dimensions(out):
    out[()] = 42.5


@runs(1, 4, lambda: ((2, 0.5), z8(4)), lambda pair, out: 2 * np.arange(4) + 0.5)
@cuda.jit
def tuple_and_none_arguments(pair, out, extra=None):
    a, b = pair
    i = cuda.grid(1)
    out[i] = a * i + b if extra is None else -1


PARTICLE = np.dtype([("x", np.float32), ("id", np.int32)])


@runs(1, 4, lambda: (np.ones(4, PARTICLE), z8(4)), lambda p, out: 1 + np.arange(4.0))
@cuda.jit
def record_arrays(p, out):
    i = cuda.grid(1)
    p[i].x += i
    p[i]["id"] = i
    out[i] = p[i].x


@runs(1, 9, lambda: (f4(9).astype(np.float16), np.zeros(9, np.float16)), lambda x, out: x * x + x)
@cuda.jit
def float16_arrays(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * x[i] + x[i]


@runs(1, 5, lambda: (f8(5) + 1j, f8(6)[:5] - 2j, np.zeros(5, complex)), lambda z, w, o: z * w / 2j)
@cuda.jit
def complex_arrays(z, w, out):
    i = cuda.grid(1)
    out[i] = z[i] * w[i] / 2j if z[i] != w[i] else 0


@runs(1, 5, lambda: (f8(5), z8(5)), lambda x, out: x * x + 1 + np.cbrt(x))
@cuda.jit
def fused_multiply_and_cube_root(x, out):
    i = cuda.grid(1)
    out[i] = cuda.fma(x[i], x[i], 1.0) + cuda.cbrt(x[i])


@runs(1, 5, lambda: (f8(5), z8(5)), lambda x, out: x**-0.5 + np.exp(x))
@cuda.jit
def libdevice_functions(x, out):
    i = cuda.grid(1)
    out[i] = libdevice.rsqrt(x[i]) + libdevice.exp(x[i])


TPB, MAX_CONV, WINDOW = 8, 4, 12


@runs((2, 2), (3, 3), lambda: (5, f4(5, 1), f4(1, 5), z4(5, 5)), lambda n, a, b, out: a + b)
@cuda.jit
def puzzle_broadcast(size, a, b, out):
    i, j = cuda.grid(2)
    if 0 <= i < size > j >= 0:
        out[i, j] = a[i, 0] + b[0, j]


def sliding_products(a, b, out):
    padded = np.concatenate([a, z4(4)])
    return [padded[i : i + 4] @ b for i in range(15)]


@runs(2, TPB, lambda: (f4(15), f4(4), z4(15)), sliding_products)
@cuda.jit
def puzzle_convolution_with_halo(a, b, out):
    window = cuda.shared.array(WINDOW, float32)
    weights = cuda.shared.array(MAX_CONV, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    window[t] = a[i] if i < a.size else 0
    if t < MAX_CONV:
        weights[t] = b[t]
    else:
        far = i - MAX_CONV + TPB
        window[TPB + t - MAX_CONV] = a[far] if far < a.size else 0
    cuda.syncthreads()
    if i < a.size:
        acc = float32(0)
        for k in range(MAX_CONV):
            acc += window[t + k] * weights[k]
        out[i] = acc


@runs((3, 3), (TPB, TPB), lambda: (f4(13, 21), f4(21, 19), z4(13, 19)), lambda a, b, c: a @ b)
@cuda.jit
def matmul_in_shared_memory(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tmp = float32(0.0)
    for i in range((A.shape[1] + TPB - 1) // TPB):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


@runs((2, 3), (16, 4), lambda: (f4(40, 23), z4(23, 40)), lambda src, dst: src.T)
@cuda.jit
def transpose_tiled_and_padded(src, dst):
    tile = cuda.shared.array((16, 16 + 1), dtype=np.float32)
    x = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    y = cuda.blockIdx.y * 16 + cuda.threadIdx.y
    for r in range(0, 16, 4):
        if x < src.shape[1] and y + r < src.shape[0]:
            tile[cuda.threadIdx.y + r, cuda.threadIdx.x] = src[y + r, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    for r in range(0, 16, 4):
        if x < dst.shape[1] and y + r < dst.shape[0]:
            dst[y + r, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + r]


def relaxed(old, new, steps):
    for _ in range(steps):
        old = np.concatenate([old[:1], 0.5 * (old[:-2] + old[2:]), old[-1:]])
    return old


@runs(3, 32, lambda: (9, f8(96), z8(96)), lambda n, old, new: relaxed(old, new, n))
@cuda.jit
def laplace_with_grid_synchronisation(steps, old, new):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for step in range(steps):
        if step % 2 == 0:
            src, dst = old, new
        else:
            src, dst = new, old
        if 0 < i < len(old) - 1:
            dst[i] = 0.5 * (src[i - 1] + src[i + 1])
        elif i == 0 or i == len(old) - 1:
            dst[i] = src[i]
        grid.sync()


@runs(4, 32, lambda: (f8(1000), z8(1)), lambda x, out: [x.sum()], shared=32 * 8)
@cuda.jit
def reduction_in_dynamic_shared_memory(x, out):
    buf = cuda.shared.array(0, dtype=float64)
    t = cuda.threadIdx.x
    acc = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    buf[t] = acc
    cuda.syncthreads()
    half = cuda.blockDim.x >> 1
    while half:
        if t < half:
            buf[t] += buf[t + half]
        cuda.syncthreads()
        half >>= 1
    if not t:
        cuda.atomic.add(out, 0, buf[0])


@runs(1, 16, lambda: (f4(16), i4(16), z8(16)), lambda x, y, out: x[::-1], shared=128)
@cuda.jit
def two_arrays_in_one_dynamic_block(x, y, out):
    f = cuda.shared.array(0, dtype=float32)[:16]
    g = cuda.shared.array(0, dtype=int32)[16:32]
    t = cuda.threadIdx.x
    f[t] = x[t]
    g[t] = y[t]
    cuda.syncthreads()
    out[t] = f[15 - t] + g[15 - t]


@cuda.jit(device=True)
def warp_sum(val):
    offset = 16
    while offset > 0:
        val += cuda.shfl_down_sync(FULL, val, offset)
        offset //= 2
    return val


@runs(4, 128, lambda: (f4(500), z4(1)), lambda x, out: [x.sum()])
@cuda.jit
def reduction_with_shuffles(x, out):
    sums = cuda.shared.array(32, float32)
    lane = cuda.threadIdx.x % 32
    warp = cuda.threadIdx.x // 32
    i = cuda.grid(1)
    s = warp_sum(x[i] if i < x.size else float32(0))
    if lane == 0:
        sums[warp] = s
    cuda.syncthreads()
    if warp == 0:
        s = warp_sum(sums[lane] if lane < cuda.blockDim.x // cuda.warpsize else float32(0))
        if lane == 0:
            cuda.atomic.add(out, 0, s)


@runs(1, 128, lambda: (f4(128),), lambda x: np.sort(x))
@cuda.jit
def bitonic_sort(values):
    i = cuda.grid(1)
    k = 2
    while k <= values.size:
        j = k >> 1
        while j > 0:
            ixj = i ^ j
            if ixj > i and (values[i] > values[ixj]) == ((i & k) == 0):
                values[i], values[ixj] = values[ixj], values[i]
            cuda.syncthreads()
            j >>= 1
        k <<= 1


@runs(1, 32, lambda: (rng().integers(0, 99, 45).astype(np.int16),), lambda a: np.sort(a))
@cuda.jit
def odd_even_sort(a):
    for phase in range(a.size):
        left = 2 * cuda.threadIdx.x + (phase & 1)
        if left + 1 < a.size and a[left] > a[left + 1]:
            a[left], a[left + 1] = a[left + 1], a[left]
        cuda.syncthreads()


@runs(2, 32, lambda: (f4(40, 5), z4(40)), lambda x, out: np.median(x, axis=1))
@cuda.jit
def insertion_sort_in_a_local_array(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    v = cuda.local.array(5, x.dtype)
    v[:] = 0
    for k in range(5):
        v[k] = x[i, k]
    for k in range(1, 5):
        key = v[k]
        j = k - 1
        while j >= 0 and v[j] > key:
            v[j + 1] = v[j]
            j -= 1
        v[j + 1] = key
    out[i] = v[2]


@runs(1, 6, lambda: (f8(6, 2, 2) + np.eye(2), z8(6, 2, 2)), lambda m, out: np.linalg.inv(m))
@cuda.jit
def inverse_in_a_local_array_of_two_dimensions(m, out):
    i = cuda.grid(1)
    a = cuda.local.array((2, 2), dtype=float64)
    for r in range(2):
        for c in range(2):
            a[r, c] = m[i, r, c]
    det = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    out[i, 0, 0], out[i, 1, 1] = a[1, 1] / det, a[0, 0] / det
    out[i, 0, 1], out[i, 1, 0] = -a[0, 1] / det, -a[1, 0] / det


@runs(3, 64, lambda: (0.0, 1.0, f8(900), i4(10)), lambda a, b, x, _: np.histogram(x, 10, (0, 1))[0])
@cuda.jit
def histogram_in_shared_memory(lo, hi, x, bins):
    local = cuda.shared.array(10, int32)
    t = cuda.threadIdx.x
    if t < 10:
        local[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        b = int((x[i] - lo) / (hi - lo) * bins.shape[0])
        if b < 0:
            b = 0
        elif b >= bins.shape[0]:
            b = bins.shape[0] - 1
        cuda.atomic.add(local, b, 1)
    cuda.syncthreads()
    if t < 10:
        cuda.atomic.add(bins, t, local[t])


@cuda.jit
def four_atomics(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, x[i])
    cuda.atomic.sub(out, 1, x[i])
    cuda.atomic.max(out, 2, x[i])
    cuda.atomic.min(out, 3, x[i])


for _type in (np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64):
    PROGRAMS[f"four_atomics_{_type.__name__}"] = (
        four_atomics,
        (2, 32),
        lambda d=_type: (np.arange(1, 65).astype(d), np.array([0, 4000, 7, 7], d)),
        lambda x, out: [2080, 1920, 64, 1],
    )


@runs(1, 4, lambda: (np.array([1, np.nan, -5, 8]), z8(2)), lambda x, out: [8.0, -5.0])
@cuda.jit
def atomic_extremes_without_nan(x, out):
    i = cuda.grid(1)
    cuda.atomic.nanmax(out, 0, x[i])
    cuda.atomic.nanmin(out, 1, x[i])


@runs(
    1,
    33,
    lambda: (np.array([0, FULL, 0, 0, 3], np.uint32),),
    lambda out: [FULL, 0xFFFFFF00, 32, 33 % 7, (3 - 33) % 7],
)
@cuda.jit
def atomic_bits_and_wrapping_counters(out):
    i = cuda.grid(1)
    cuda.atomic.or_(out, 0, uint32(1) << uint32(i % 32))
    cuda.atomic.and_(out, 1, ~(uint32(1) << uint32(i % 8)))
    cuda.atomic.xor(out, 2, uint32(i))
    cuda.atomic.inc(out, 3, uint32(6))
    cuda.atomic.dec(out, 4, uint32(6))


@runs(2, 32, lambda: (i4(32), i4(1), i4(32)), lambda *_: (np.ones(32), [5], np.ones(32)))
@cuda.jit
def exchange_and_compare_and_swap(slots, last, owners):
    i = cuda.grid(1)
    cuda.atomic.exch(last, 0, 5)
    if cuda.atomic.cas(slots, i // 2, 0, 1) == 0:
        cuda.atomic.add(owners, i // 2, 1)


@runs(1, 4, lambda: (np.array([-1, 3, -1, 7], np.int32), i4(4)), lambda x, out: ([0, 3, 2, 7], x))
@cuda.jit
def compare_and_swap_on_a_slice(x, out):
    i = cuda.grid(1)
    out[i] = cuda.atomic.compare_and_swap(x[i:], -1, i)


@runs(1, (4, 8), lambda: (z8(4, 8),), lambda a: 1 + 8.0 * (np.arange(8) == 0) * np.ones((4, 1)))
@cuda.jit
def atomics_with_two_indices(a):
    tile = cuda.shared.array((4, 8), float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[tx, ty] = 0
    cuda.syncthreads()
    cuda.atomic.add(tile, (tx, uint16(ty)), 1.0)
    cuda.atomic.add(tile, (tx, 0), 1)
    cuda.syncthreads()
    cuda.atomic.add(a, (tx, ty), tile[tx, ty])


@runs(6, 4, lambda: (i4(1), i4(1)), lambda lock, total: ([0], [6]))
@cuda.jit
def spin_lock(lock, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            cuda.nanosleep(uint32(20))
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@runs(1, 4, lambda: (np.array([0, 1, 2, 3]), i4(3, 4)), lambda *_: [[3] * 4, [1] * 4, [1] * 4])
@cuda.jit
def barriers_that_count_and_vote(x, out):
    i = cuda.grid(1)
    out[0, i] = cuda.syncthreads_count(x[i])
    out[1, i] = cuda.syncthreads_and(int32(x[i] >= 0))
    out[2, i] = cuda.syncthreads_or(int32(x[i] == 3))


@runs(
    1,
    32,
    lambda: (np.arange(32), np.zeros((5, 32), np.uint32)),
    lambda x, out: [[1] * 32, [1] * 32, [0] * 32, [0xAAAAAAAA] * 32, [0x11111111, 0, 0, 0] * 8],
)
@cuda.jit
def warp_votes(x, out):
    i = cuda.threadIdx.x
    out[0, i] = cuda.all_sync(FULL, x[i] < 40)
    out[1, i] = cuda.any_sync(FULL, x[i] == 5)
    out[2, i] = cuda.eq_sync(FULL, x[i] > 3)
    out[3, i] = cuda.ballot_sync(FULL, x[i] & 1)
    if i % 4 == 0:
        out[4, i] = cuda.activemask()


@cuda.jit
def shuffles(x, out):
    i = cuda.threadIdx.x
    out[0, i] = cuda.shfl_sync(FULL, x[i], 7)
    out[1, i] = cuda.shfl_up_sync(FULL, x[i], 2)
    out[2, i] = cuda.shfl_down_sync(FULL, x[i], 5)
    out[3, i] = cuda.shfl_xor_sync(FULL, x[i], 16)


def shuffled(x, out):
    lane = np.arange(32)
    up, down = np.where(lane < 2, lane, lane - 2), np.where(lane > 26, lane, lane + 5)
    return x[np.stack([np.full(32, 7), up, down, lane ^ 16])]


for _type in (np.int32, np.int64, np.float32, np.float64):
    PROGRAMS[f"shuffles_{_type.__name__}"] = (
        shuffles,
        (1, 32),
        lambda d=_type: (np.arange(10, 42).astype(d), np.zeros((4, 32), d)),
        shuffled,
    )


@runs(1, 32, lambda: (np.arange(32) % 2, np.zeros((3, 32), np.uint32)), lambda x, out: np.stack(
    [np.where(x, 0xAAAAAAAA, 0x55555555), 0 * x, 0 * x]
))  # fmt: skip
@cuda.jit
def match_any_and_match_all(x, out):
    i = cuda.grid(1)
    out[0, i] = cuda.match_any_sync(FULL, x[i])
    out[1, i], out[2, i] = cuda.match_all_sync(FULL, x[i])


def escape_times(image):
    def steps(c):
        z = 0j
        for n in range(20):
            z = z * z + c
            if abs(z) >= 2:
                return n
        return 20

    return [[steps(complex(-2 + x / 8, -1 + y / 8)) for x in range(24)] for y in range(16)]


@cuda.jit(device=True)
def mandel(x, y, max_iters):
    c = complex(x, y)
    z = 0.0j
    for i in range(max_iters):
        z = z * z + c
        if (z.real * z.real + z.imag * z.imag) >= 4:
            return i
    return max_iters


@runs((2, 1), (8, 8), lambda: (np.zeros((16, 24), np.uint8),), escape_times)
@cuda.jit
def mandelbrot(image):
    start_x, start_y = cuda.grid(2)
    for x in range(start_x, image.shape[1], cuda.gridDim.x * cuda.blockDim.x):
        for y in range(start_y, image.shape[0], cuda.gridDim.y * cuda.blockDim.y):
            image[y, x] = mandel(-2 + x / 8, -1 + y / 8, 20)


DENSE = f8(20, 15) * (f8(15, 20).T < 0.3)
ROWS, COLUMNS = map(np.ascontiguousarray, np.nonzero(DENSE))
STARTS = np.searchsorted(ROWS, np.arange(21)).astype(np.int32)


VALUES = DENSE[ROWS, COLUMNS]


@runs(1, 32, lambda: (VALUES, COLUMNS, STARTS, f8(15), z8(20)), lambda *a: DENSE @ a[3])
@cuda.jit
def sparse_matrix_times_vector(data, indices, indptr, x, y):
    row = cuda.grid(1)
    if row < indptr.size - 1:
        acc = 0.0
        for p in range(indptr[row], indptr[row + 1]):
            acc += data[p] * x[indices[p]]
        y[row] = acc


@runs((2, 2), (8, 8), lambda: (3, f8(9, 9)), lambda k, d: np.minimum(d, d[:, k : k + 1] + d[k]))
@cuda.jit
def floyd_warshall_step(k, dist):
    i, j = cuda.grid(2)
    n = dist.shape[0]
    if i < n and j < n and i != k and j != k:
        dist[i, j] = min(dist[i, j], dist[i, k] + dist[k, j])


@runs(1, 32, lambda: (0, STARTS, COLUMNS, np.array([0] + [-1] * 19, np.int32)), lambda *_: np.where(
    DENSE[0, np.minimum(np.arange(20), 14)] * (np.arange(20) < 15) * np.arange(20) > 0, 1,
    np.where(np.arange(20) == 0, 0, -1),
))  # fmt: skip
@cuda.jit
def breadth_first_level(current, start, edges, level):
    v = cuda.grid(1)
    if v < level.size and level[v] == current:
        for e in range(start[v], start[v + 1]):
            cuda.atomic.cas(level, edges[e], -1, current + 1)


@runs(1, 32, lambda: (np.ones(400, np.bool_),), lambda flags: [
    n < 2 or all(n % d for d in range(2, math.isqrt(n) + 1)) for n in range(400)
])  # fmt: skip
@cuda.jit
def sieve_of_eratosthenes(flags):
    p = cuda.grid(1) + 2
    if p * p >= flags.size:
        return
    for q in range(p * p, flags.size, p):
        flags[q] = False


@runs(1, 32, lambda: (bytes_of(b"abracadabra abra"), bytes_of(b"abra"), i4(16)), lambda *_: [
    1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,
])  # fmt: skip
@cuda.jit
def string_matching(text, pattern, hits):
    i = cuda.grid(1)
    if i > text.size - pattern.size:
        return
    for k in range(pattern.size):
        if text[i + k] != pattern[k]:
            return
    hits[i] = 1


def edit_distances(a, b, table):
    for i, j in np.ndindex(table.shape):
        table[i, j] = i + j
        if i and j:
            swap = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, swap)
    return table


@runs(1, 32, lambda: (bytes_of(b"kitten"), bytes_of(b"sitting"), i4(7, 8)), edit_distances)
@cuda.jit
def levenshtein_by_antidiagonals(a, b, table):
    i = cuda.threadIdx.x
    n, m = len(a), len(b)
    for d in range(n + m + 1):
        j = d - i
        if i <= n and 0 <= j <= m:
            if i == 0 or j == 0:
                table[i, j] = i + j
            else:
                cost = 0 if a[i - 1] == b[j - 1] else 1
                best = min(table[i - 1, j] + 1, table[i, j - 1] + 1)
                table[i, j] = min(best, table[i - 1, j - 1] + cost)
        cuda.syncthreads()


def generator(out):
    state = np.arange(12345, 12365, dtype=np.uint32)
    for _ in range(10):
        state = state * np.uint32(1664525) + np.uint32(1013904223)
    return state


@runs(1, 20, lambda: (np.zeros(20, np.uint32),), generator)
@cuda.jit
def linear_congruential_numbers(out):
    i = cuda.grid(1)
    state = uint32(12345 + i)
    for _ in range(10):
        state = uint32(state * 1664525 + 1013904223)
    out[i] = state


def mixed(out):
    z = np.arange(20, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return z ^ (z << np.uint64(13))


@runs(1, 20, lambda: (np.zeros(20, np.uint64),), mixed)
@cuda.jit
def splitmix_in_64_bits(out):
    i = cuda.grid(1)
    z = uint64(i) + uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z ^= z << uint64(13)
    out[i] = z


def checksums(words, crc):
    return [zlib.crc32(row.tobytes()) for row in words]


@runs(1, 6, lambda: (rng().integers(0, 256, (6, 9), np.uint8), np.zeros(6, np.uint32)), checksums)
@cuda.jit
def crc32(words, crc):
    i = cuda.grid(1)
    c = uint32(0xFFFFFFFF)
    for k in range(words.shape[1]):
        c = uint32(c ^ words[i, k])
        for _ in range(8):
            c = uint32((c >> 1) ^ (0xEDB88320 & -(c & 1)))
    crc[i] = uint32(~c)


def collatz_steps(n):
    return 0 if n == 1 else 1 + collatz_steps(3 * n + 1 if n % 2 else n // 2)


@runs(1, 99, lambda: (i4(99),), lambda out: [collatz_steps(n) for n in range(1, 100)])
@cuda.jit
def collatz(out):
    i = cuda.grid(1)
    n, steps = i + 1, 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    out[i] = steps


@runs(2, 32, lambda: (f8(60), z8(53)), lambda x, out: np.convolve(x, np.full(8, 1 / 8), "valid"))
@cuda.jit
def sliding_window_mean(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        window = x[i : i + 8]
        total = 0.0
        for k in range(window.size):
            total += window[k]
        out[i] = total / 8


@runs(2, 32, lambda: (create_xoroshiro128p_states(64, seed=1), z8(64)), lambda _, out: out + 1)
@cuda.jit
def monte_carlo_with_xoroshiro(states, out):
    t = cuda.grid(1)
    inside = 0
    for _ in range(200):
        x = xoroshiro128p_uniform_float32(states, t)
        y = xoroshiro128p_uniform_float32(states, t)
        if x**2 + y**2 <= 1.0:
            inside += 1
    out[t] = 120 < inside < 190  # 157 on average, with a standard deviation of 6


@runs(2, 32, lambda: (i4(6, 64),), lambda m: np.arange(6)[:, None] * np.ones(64))
@cuda.jit
def cooperative_rows(m):
    col = cuda.grid(1)
    g = cuda.cg.this_grid()
    for row in range(1, m.shape[0]):
        m[row, col] = m[row - 1, m.shape[1] - col - 1] + 1
        g.sync()


# --- what Numba refuses too ---------------------------------------------------------------------

REFUSED = {
    r"try:\n    out[i] = 1\nexcept Exception:\n    out[i] = 2": "no `try`",
    "with open('x') as f: pass": "with in a kernel",
    "s = [1, 2]; out[i] = s[0]": r"\[1, 2\]",
    "s = {1: 2}; out[i] = s[1]": "{1: 2}",
    "s = [k for k in range(3)]; out[i] = s[0]": "for k in range",
    "s = f'{i}'": "f'{i}'",
    "s = np.zeros(4); out[i] = s[0]": "np.zeros",
    "out[i] = np.dot(x, x)": "np.dot",
    "out[i] = x @ x": "MatMult",
    "out[i] = math.factorial(3)": "math.factorial",
    "out[i] = x.item(2)": "x.item",
    "for k in reversed(range(3)): out[i] += k": "reversed",
    "import math as m2; out[i] = m2.sin(1.0)": "an import in a kernel",
    "return 3": "returns a value",
}


# --- running them -------------------------------------------------------------------------------

# Name: what happens. Numba runs each of these; none of them runs here yet.
KNOWN_GAPS = {
    "out[i] = variadic(i, 2, 3)": "*values in a device function is refused",
    "breadth_first_level": "Race: a plain load beside the atomics of other threads",
}


def working(names):
    return [name for name in names if name not in KNOWN_GAPS]


@pytest.mark.parametrize("body", working(SNIPPETS))
def test_a_construct_gives_what_python_gives(body):
    assert_same(*run_snippet(body))


@pytest.mark.parametrize("name", working(EXPRESSIONS))
def test_an_expression_has_the_types_of_numba(name):
    text, *arrays, tolerance = EXPRESSIONS[name]
    assert_same(*run_expression(text, *arrays), tolerance)


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("name", working(PROGRAMS))
def test_a_program_gives_the_right_result(name):
    kernel, launch, arguments, wanted = PROGRAMS[name]
    given = arguments()
    want = wanted(*map(on_host, given))
    want = want if isinstance(want, tuple) else (want,)
    kernel[launch](*given)
    for got, right in zip(map(on_host, given[-len(want) :]), want, strict=True):
        assert_same(got, right)


@pytest.mark.parametrize("body", REFUSED)
def test_what_numba_refuses_is_refused_by_name_and_line(body):
    with pytest.raises(Unsupported, match=f"line 3 .*{REFUSED[body]}"):
        trace(snippet_kernel(body), 1, 4, *snippet_arguments())


def test_every_known_gap_names_a_case():
    assert set(KNOWN_GAPS) <= {*SNIPPETS, *EXPRESSIONS, *PROGRAMS}
