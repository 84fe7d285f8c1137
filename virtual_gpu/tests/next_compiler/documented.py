"""Kernels written after the documentation of numba-cuda-mlir 0.6, page by page.

Each is launched once on the virtual GPU. Its last argument then holds what the page promises, or
the case says what happens instead, and why.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numba_cuda_mlir import cuda, types
from numba_cuda_mlir.cuda import atomic, libdevice
from numba_cuda_mlir.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
)
from numba_cuda_mlir.types import (
    complex64,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
    uint32,
    uint64,
)

PASSES, REFUSED, FINDING = "passes", "refused", "finding"
FULL = 0xFFFFFFFF
THREADS = 64


@dataclass(frozen=True)
class Documented:
    """One kernel, the page that describes what it uses, its launch, and what comes of it.

    ``arguments()`` returns those of the launch, and ``expected(*arguments)`` what the last one
    holds afterwards; the arguments are fresh ones. If ``outcome`` is not "passes", ``message`` is a
    part of the sentence that is said, and ``reason`` says why that is so.
    """

    name: str
    page: str
    kernel: object
    grid: int | tuple
    block: int | tuple
    arguments: Callable[[], tuple]
    expected: Callable | None
    outcome: str
    message: str
    reason: str
    shared_bytes: int = 0


CASES: list[Documented] = []


def case(
    page: str, *inputs, out=np.float64, size=THREADS, grid=1, block=THREADS, expected=None,
    outcome=PASSES, message="", reason="", shared_bytes=0,
) -> Callable:  # fmt: skip
    """Return a decorator that adds a kernel to CASES.

    The kernel gets copies of ``inputs`` and an array of ``size`` zeros of the dtype ``out``.
    ``expected(*inputs)`` returns what that array holds afterwards.
    """

    def arguments() -> tuple:
        copies = (x.copy() if isinstance(x, np.ndarray) else x for x in inputs)
        return (*copies, np.zeros(size, out))

    def add(kernel):
        CASES.append(
            Documented(
                kernel.py_func.__name__, page, kernel, grid, block, arguments, expected, outcome,
                message, reason, shared_bytes,
            )
        )  # fmt: skip
        return kernel

    return add


I = np.arange(THREADS)  # noqa: E741
X = np.linspace(-2, 2, THREADS)
P = np.linspace(0.1, 0.9, THREADS)
X4 = X.astype(np.float32)

# --- writing kernels ------------------------------------------------------------------------


@case("kernels", I * 1.0, expected=lambda x: x + 1)
@cuda.jit
def increment_by_one(x, out):
    tx, ty, bw = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockDim.x
    pos = tx + ty * bw
    if pos < x.size:
        out[pos] = x[pos] + 1


@case("kernels", np.ones((16, 16)), out=np.float64, size=(16, 16), grid=(2, 2), block=(8, 8),
      expected=lambda x: x + 1)  # fmt: skip
@cuda.jit
def increment_a_2d_array(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, j] + 1


@case("kernels", size=(4, 4, 4), block=(4, 4, 4),
      expected=lambda: np.arange(64).reshape(4, 4, 4))  # fmt: skip
@cuda.jit
def three_dimensions(out):
    i, j, k = cuda.grid(3)
    out[i, j, k] = (i * 4 + j) * 4 + k


@case("kernels", size=100, grid=2, block=8, expected=lambda: np.full(100, 16))
@cuda.jit
def grid_stride_loop(out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = cuda.gridsize(1)


@cuda.jit(device=True)
def a_device_function(a, b):
    return a + b


@case("kernels", X, expected=lambda x: x + x)
@cuda.jit
def calls_a_device_function(x, out):
    i = cuda.grid(1)
    out[i] = a_device_function(x[i], x[i])


@cuda.jit("float64(float64, float64)", device=True)
def declared_device_function(a, b):
    return a * b


@case("kernels", X, expected=lambda x: x * 3)
@cuda.jit
def calls_a_declared_device_function(x, out):
    i = cuda.grid(1)
    out[i] = declared_device_function(x[i], 3)


@case("kernels", 7, expected=lambda n: np.full(THREADS, 7.0))
@cuda.jit("void(int64, float64[::1])")
def declared_with_a_signature(n, out):
    out[cuda.grid(1)] = n


@case("kernels", 7, expected=lambda n: np.full(THREADS, 7.0))
@cuda.jit([types.void(types.int64, types.float64[::1]), types.void(int64, types.float32[::1])])
def declared_with_two_signatures(n, out):
    out[cuda.grid(1)] = n


@case("kernels", 5, expected=lambda n: np.full(THREADS, 5.0))
@cuda.jit
def declared_by_annotations(n: int64, out: types.float64[::1]):
    out[cuda.grid(1)] = n


@cuda.jit(device=True, inline="always")
def an_inlined_function(x):
    return x * x


@case("kernels", X, expected=lambda x: x * x)
@cuda.jit(fastmath=True, opt_level=3, lineinfo=True, launch_bounds=(128, 2))
def options_of_the_compiler(x, out):
    i = cuda.grid(1)
    out[i] = an_inlined_function(x[i])


def scaled_by(factor):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i] * factor

    return kernel


case("kernels", X, expected=lambda x: x * 3)(scaled_by(3.0))


def applies(function):
    @cuda.jit
    def kernel_of_a_closure(x, out):
        i = cuda.grid(1)
        out[i] = function(x[i])

    return kernel_of_a_closure


case("kernels", X, expected=lambda x: x * x)(applies(an_inlined_function))


@case("kernels", 3, X, expected=lambda n, x: x + 3 * (x > 0))
@cuda.jit
def branches_by_thread(n, x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        out[i] = x[i] + n
    else:
        out[i] = x[i]


# --- global variables and captured values ---------------------------------------------------

TABLE = np.arange(8) * 1.5
LENGTH = 8
PAIR = (2, 3.5)


class Colour(IntEnum):
    RED = 1
    BLUE = 5


@case("globals", expected=lambda: np.arange(THREADS) % 8 * 1.5)
@cuda.jit
def a_global_array(out):
    i = cuda.grid(1)
    out[i] = TABLE[i % LENGTH]


@case("globals", expected=lambda: np.full(THREADS, 5.5))
@cuda.jit
def a_global_tuple(out):
    out[cuda.grid(1)] = PAIR[0] + PAIR[1]


@case("globals", expected=lambda: np.full(THREADS, 6.0))
@cuda.jit
def an_enumeration(out):
    out[cuda.grid(1)] = Colour.RED + Colour.BLUE


@case("globals", expected=lambda: np.arange(THREADS) % 8 * 1.5)
@cuda.jit
def constant_memory(out):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    out[i] = table[i % 8]


# --- memory ---------------------------------------------------------------------------------


@case("memory", X, expected=lambda x: x[::-1])
@cuda.jit
def shared_memory(x, out):
    tile = cuda.shared.array(shape=(64,), dtype=float64)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[63 - i]


@case("memory", X4, out=np.float32, expected=lambda x: x[::-1])
@cuda.jit
def aligned_shared_memory(x, out):
    tile = cuda.shared.array(64, float32, alignment=16)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[63 - i]


@case("memory", X4, out=np.float32, shared_bytes=256, expected=lambda x: x[::-1])
@cuda.jit
def dynamic_shared_memory(x, out):
    tile = cuda.shared.array(0, dtype=float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[63 - i]


@case("memory", shared_bytes=512, expected=lambda: np.arange(64) * 2)
@cuda.jit
def views_of_dynamic_shared_memory(out):
    first = cuda.shared.array(0, dtype=int32)[:64]
    second = cuda.shared.array(0, dtype=int32)[64:]
    i = cuda.threadIdx.x
    first[i] = i
    second[i] = i
    cuda.syncthreads()
    out[i] = first[i] + second[i]


@case("memory", expected=lambda: np.full(64, 6.0))
@cuda.jit
def local_memory(out):
    mine = cuda.local.array(4, int64)
    for k in range(4):
        mine[k] = k
    total = 0
    for k in range(4):
        total += mine[k]
    out[cuda.grid(1)] = total


@case("memory", expected=lambda: np.full(64, 9.0))
@cuda.jit
def local_memory_of_two_dimensions(out):
    mine = cuda.local.array((3, 3), float64)
    for i in range(3):
        for j in range(3):
            mine[i, j] = 1
    total = 0.0
    for i in range(3):
        for j in range(3):
            total += mine[i, j]
    out[cuda.grid(1)] = total


@case("memory", expected=lambda: np.zeros(64), outcome=FINDING, message="race",
      reason="the kernel lacks a barrier, which the page asks for")  # fmt: skip
@cuda.jit
def shared_memory_without_a_barrier(out):
    tile = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    tile[i] = i
    out[i] = tile[63 - i]


@case("memory", expected=lambda: np.full(64, 4.0))
@cuda.jit
def short_names_of_arrays(out):
    tile = cuda.shared_array(64, float64)
    mine = cuda.local_array(1, float64)
    i = cuda.threadIdx.x
    mine[0] = 2
    tile[i] = 2
    cuda.syncthreads()
    out[i] = mine[0] + tile[63 - i]


# --- supported Python features --------------------------------------------------------------


@case("cudapysupported", expected=lambda: np.array([0, 1, 3, 6, 10] * 12 + [0, 1, 3, 6]))
@cuda.jit
def loops(out):
    i = cuda.grid(1)
    n = 0
    while True:
        n += 1
        if n > i % 5:
            break
        out[i] += n


@case("cudapysupported", expected=lambda: np.full(64, 25.0))
@cuda.jit
def continue_and_steps(out):
    total = 0
    for k in range(9, -1, -1):
        if k % 2 == 0:
            continue
        total += k
    out[cuda.grid(1)] = total


@case("cudapysupported", X, expected=lambda x: np.where(x > 0, x, -x))
@cuda.jit
def conditional_expressions(x, out):
    i = cuda.grid(1)
    out[i] = x[i] if x[i] > 0 else -x[i]


@case("cudapysupported", expected=lambda: np.full(64, 15.0))
@cuda.jit
def tuples(out):
    items = (1, 2, 3)
    a, b, c = items
    total = a + b + c + items[1] + len(items)
    for item in items:
        total += item - 1
    out[cuda.grid(1)] = total + 1


Point = namedtuple("Point", "x y")


@case("cudapysupported", Point(1.5, 2.5), expected=lambda p: np.full(64, 4.0))
@cuda.jit
def named_tuples(p, out):
    q = Point(p.y, p.x)
    out[cuda.grid(1)] = q.x + q.y


@case("cudapysupported", (X, (X, 2.0)), expected=lambda t: t[0] + t[1][0] * 2)
@cuda.jit
def tuples_of_arrays(t, out):
    i = cuda.grid(1)
    out[i] = t[0][i] + t[1][0][i] * t[1][1]


@case("cudapysupported", expected=lambda: np.arange(64) % 8 * 1.0)
@cuda.jit
def enumerate_and_zip(out):
    i = cuda.grid(1)
    for n, (a, b) in enumerate(zip((0, 1, 2, 3), (4, 5, 6, 7))):
        if i % 4 == n:
            out[i] = a if i % 8 < 4 else b


@case("cudapysupported", expected=lambda: np.arange(64) * 3.0)
@cuda.jit
def inner_functions(out):
    def triple(n):
        return n * 3

    i = cuda.grid(1)
    out[i] = triple(i)


@cuda.jit(device=True)
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@case("cudapysupported", expected=lambda: np.array([math.factorial(n % 8) for n in range(64)]))
@cuda.jit
def recursion(out):
    i = cuda.grid(1)
    out[i] = factorial(i % 8)


@case("cudapysupported", I, out=np.int64, expected=lambda n: (n << 2 | 1) ^ (n >> 1) & ~n)
@cuda.jit
def bit_operators(n, out):
    i = cuda.grid(1)
    out[i] = (n[i] << 2 | 1) ^ (n[i] >> 1) & ~n[i]


@case("cudapysupported", I - 32, out=np.int64, expected=lambda n: n // 5 * 10 + n % 5)
@cuda.jit
def floor_division(n, out):
    i = cuda.grid(1)
    out[i] = n[i] // 5 * 10 + n[i] % 5


@case("cudapysupported", X, expected=lambda x: np.maximum(np.minimum(x, 1), -1) + np.abs(x))
@cuda.jit
def builtin_functions(x, out):
    i = cuda.grid(1)
    out[i] = max(min(x[i], 1.0), -1.0) + abs(x[i])


@case("cudapysupported", P, expected=lambda x: np.sin(x) + np.cos(x) + np.tan(x) + np.exp(x)
      + np.log(x) + np.sqrt(x) + np.arctan(x) + np.tanh(x) + np.expm1(x))  # fmt: skip
@cuda.jit
def functions_of_math(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[i] = (
        math.sin(v) + math.cos(v) + math.tan(v) + math.exp(v) + math.log(v) + math.sqrt(v)
        + math.atan(v) + math.tanh(v) + math.expm1(v)
    )  # fmt: skip


@case("cudapysupported", P, expected=lambda x: np.vectorize(math.erf)(x) + np.vectorize(
    math.lgamma)(x) + np.hypot(x, 1) + np.arctan2(x, 2) + np.copysign(x, -1) + np.floor(x * 9)
    + np.ceil(x * 9) + np.degrees(x) + np.log1p(x) + np.power(x, 3))  # fmt: skip
@cuda.jit
def more_functions_of_math(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[i] = (
        math.erf(v) + math.lgamma(v) + math.hypot(v, 1.0) + math.atan2(v, 2.0)
        + math.copysign(v, -1.0) + math.floor(v * 9) + math.ceil(v * 9) + math.degrees(v)
        + math.log1p(v) + math.pow(v, 3.0)
    )  # fmt: skip


@case("cudapysupported", X + 1j * P, expected=lambda z: np.abs(np.exp(z) * z) + np.angle(z))
@cuda.jit
def functions_of_cmath(z, out):
    i = cuda.grid(1)
    out[i] = abs(cmath.exp(z[i]) * z[i]) + cmath.phase(z[i])


@case("cudapysupported", X + 1j * P, out=np.complex128, expected=lambda z: z.conj() * 2 + z.real)
@cuda.jit
def complex_numbers(z, out):
    i = cuda.grid(1)
    out[i] = z[i].conjugate() * 2 + z[i].real


@case("cudapysupported", X, expected=lambda x: np.sin(x) + np.float64(2))
@cuda.jit
def scalar_functions_of_numpy(x, out):
    i = cuda.grid(1)
    out[i] = np.sin(x[i]) + np.float64(2)


@case("cudapysupported", X, expected=lambda x: operator.add(x, 2) * 3)
@cuda.jit
def functions_of_operator(x, out):
    i = cuda.grid(1)
    out[i] = operator.mul(operator.add(x[i], 2), 3)


@case("cudapysupported", X.reshape(8, 8), expected=lambda x: x.T.reshape(-1) + 64 + 2)
@cuda.jit
def attributes_of_arrays(x, out):
    i = cuda.grid(1)
    out[i] = x.T[i // 8, i % 8] + x.size + x.ndim


@case("cudapysupported", X, expected=lambda x: np.concatenate([x[32:], x[:32]]))
@cuda.jit
def slices(x, out):
    i = cuda.grid(1)
    upper, lower = x[32:], x[:32]
    out[i] = upper[i] if i < 32 else lower[i - 32]


@case("cudapysupported", expected=lambda: np.full(64, 3.0))
@cuda.jit
def assertions(out):
    i = cuda.grid(1)
    assert i < 64
    out[i] = 3


@case("cudapysupported", expected=lambda: np.zeros(64), outcome=REFUSED, message="i is too large",
      reason="the kernel raises an exception, which ends the launch")  # fmt: skip
@cuda.jit
def exceptions(out):
    i = cuda.grid(1)
    if i > 60:
        raise ValueError("i is too large")
    out[i] = 1


@case("cudapysupported", expected=lambda: np.ones(64))
@cuda.jit
def printing(out):
    i = cuda.grid(1)
    if i == 99:
        print("thread", i)
    out[i] = 1


@case("cudapysupported", expected=lambda: np.zeros(64), outcome=REFUSED,
      message="a kernel has no `try`",
      reason="a kernel catches no exceptions, as the page says")  # fmt: skip
@cuda.jit
def catching(out):
    i = cuda.grid(1)
    try:
        out[i] = 1
    except ValueError:
        out[i] = 2


@case("cudapysupported", expected=lambda: np.zeros(64), outcome=REFUSED, message="with in a kernel",
      reason="a kernel has no context managers, as the page says")  # fmt: skip
@cuda.jit
def context_managers(out):
    with open("file"):
        out[0] = 1


@case("cudapysupported", expected=lambda: np.zeros(64), outcome=REFUSED,
      message="no lists and no NumPy arrays", reason="a kernel makes no lists")  # fmt: skip
@cuda.jit
def list_comprehensions(out):
    items = [n for n in range(3)]
    out[cuda.grid(1)] = items[0]


RECORD = np.dtype([("x", np.float64), ("n", np.int64)])


@case("cudapysupported", np.array([(1.5, 2)] * 64, RECORD), expected=lambda r: r["x"] * r["n"])
@cuda.jit
def records(r, out):
    i = cuda.grid(1)
    r[i].n += 0
    out[i] = r[i].x * r[i]["n"]


@case("cudapysupported", X, None, expected=lambda x, nothing: x, outcome=REFUSED, message="None",
      reason="a launch takes None only as the default of a last parameter")  # fmt: skip
@cuda.jit
def an_optional_argument(x, nothing, out):
    i = cuda.grid(1)
    if nothing is None:
        out[i] = x[i]


@case("cudapysupported", expected=lambda: np.arange(64) % 3 * 10.0)
@cuda.jit
def unrolled_loop_over_a_tuple(out):
    i = cuda.grid(1)
    for item in cuda.literal_unroll((0, 10, 20)):
        if item == i % 3 * 10:
            out[i] = item


# --- types ----------------------------------------------------------------------------------


@case("types", X, out=np.float32, expected=lambda x: x.astype(np.float32) * np.float32(2))
@cuda.jit
def casts(x, out):
    i = cuda.grid(1)
    out[i] = float32(x[i]) * float32(2)


@case("types", I, out=np.int64, expected=lambda n: (n * 5).astype(np.int8) + n.astype(np.uint8))
@cuda.jit
def casts_to_small_integers(n, out):
    i = cuda.grid(1)
    out[i] = int8(n[i] * 5) + uint8(n[i])


@case("types", I, out=np.uint64, expected=lambda n: n.astype(np.uint64) << np.uint64(33))
@cuda.jit
def casts_to_unsigned_integers(n, out):
    i = cuda.grid(1)
    out[i] = uint64(uint32(n[i])) << uint64(33)


@case("types", X4, out=np.float32, expected=lambda x: x.astype(np.float16) * np.float16(2))
@cuda.jit
def half_precision(x, out):
    i = cuda.grid(1)
    out[i] = float32(float16(x[i]) * float16(2))


@case("types", X4, out=np.complex64, expected=lambda x: x + 1j * x)
@cuda.jit
def casts_to_complex_numbers(x, out):
    i = cuda.grid(1)
    out[i] = complex64(complex(x[i], x[i]))


@case("types", X, out=np.float32, expected=lambda x: x.astype(np.float32))
@cuda.jit
def short_names_of_types(x, out):
    mine = cuda.local.array(1, types.f32)
    i = cuda.grid(1)
    mine[0] = types.f32(x[i])
    out[i] = mine[0]


@case("types", X4, out=np.float32, expected=lambda x: x * 6)
@cuda.jit
def vector_types(x, out):
    i = cuda.grid(1)
    v = cuda.float32x3(x[i], x[i] * float32(2), x[i] * float32(3))
    out[i] = v.x + v.y + v.z


@case("types", I.astype(np.int32), out=np.int32, expected=lambda n: n * 10)
@cuda.jit
def vector_types_by_their_names_in_c(n, out):
    i = cuda.grid(1)
    v = cuda.int4(n[i], int32(2 * n[i]), int32(3 * n[i]), int32(4 * n[i]))
    out[i] = v.x + v.y + v.z + v.w


@case("types", X4, out=np.float32, expected=lambda x: x * 3)
@cuda.jit
def vector_of_vectors(x, out):
    i = cuda.grid(1)
    pair = cuda.float32x2(x[i], x[i])
    three = cuda.float32x3(pair, x[i])
    out[i] = three.x + three.y + three.z


@case("types", X4, expected=lambda x: x, outcome=REFUSED, message="sums.x",
      reason="arithmetic of whole vectors, which Numba has no types for")  # fmt: skip
@cuda.jit
def arithmetic_of_vectors(x, out):
    i = cuda.grid(1)
    sums = cuda.float32x2(x[i], x[i]) + cuda.float32x2(x[i], x[i])
    out[i] = sums.x


@case("types", X, expected=lambda x: x, outcome=REFUSED, message="types.bf16",
      reason="numbers of 16 bits with 8 bits of exponent, which Numba has no type for")  # fmt: skip
@cuda.jit
def bfloat16(x, out):
    mine = cuda.local.array(1, types.bf16)
    mine[0] = x[0]
    out[0] = mine[0]


@case("types", X4, out=np.float32, expected=lambda x: x)
@cuda.jit
def vector_load_and_store(x, out):
    i = cuda.grid(1)
    if i < 16:
        v = cuda.vector.load(x, i * 4, 4, alignment=16)
        cuda.vector.store(out, i * 4, v, alignment=16)


@case("types", X4.reshape(8, 8), out=np.float32, size=(8, 8), expected=lambda x: x)
@cuda.jit
def vector_load_of_a_row(x, out):
    i = cuda.grid(1)
    if i < 32:
        v = cuda.vector.load(x, (i // 4, i % 4 * 2), 2, alignment=8)
        cuda.vector.store(out, (i // 4, i % 4 * 2), v, alignment=8)


@case("types", X4, out=np.float32, size=32, expected=lambda x: x[::2] + x[1::2])
@cuda.jit
def vector_load_without_alignment(x, out):
    i = cuda.grid(1)
    if i < 32:
        v = cuda.vector.load(x, 2 * i, 2)
        out[i] = v.x + v.y


@case("types", X4, out=np.float32, expected=lambda x: x, outcome=FINDING, message="out_of_bounds",
      reason="the first element is no multiple of the vector, an error on a device")  # fmt: skip
@cuda.jit
def vector_load_that_is_not_aligned(x, out):
    i = cuda.grid(1)
    if i < 8:
        v = cuda.vector.load(x, i * 4 + 1, 4, alignment=16)
        out[i] = v.x


@case("types", X4, out=np.float32, expected=lambda x: x[::-1])
@cuda.jit
def vector_store_to_shared_memory(x, out):
    tile = cuda.shared.array(64, float32, alignment=16)
    i = cuda.threadIdx.x
    if i < 16:
        cuda.vector.store(tile, i * 4, cuda.vector.load(x, i * 4, 4, alignment=16), alignment=16)
    cuda.syncthreads()
    out[i] = tile[63 - i]


# --- atomic operations ----------------------------------------------------------------------


@case("intrinsics", size=2, out=np.int32, expected=lambda: [64, 2016])
@cuda.jit
def atomic_add(out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, 1)
    cuda.atomic.add(out, 1, i)


@case("intrinsics", size=(2, 2), expected=lambda: [[0, -64], [0, 0]])
@cuda.jit
def atomic_sub_of_two_indices(out):
    cuda.atomic.sub(out, (0, 1), 1.0)


@case("intrinsics", X, size=2, expected=lambda x: [x.max(), x.min()])
@cuda.jit
def atomic_max_and_min(x, out):
    i = cuda.grid(1)
    atomic.max(out, 0, x[i])
    atomic.min(out, 1, x[i])


@case("intrinsics", X, size=2, expected=lambda x: [x.max(), x.min()])
@cuda.jit
def atomic_nanmax_and_nanmin(x, out):
    i = cuda.grid(1)
    cuda.atomic.nanmax(out, 0, x[i])
    cuda.atomic.nanmin(out, 1, x[i])


@case("intrinsics", size=3, out=np.uint32, expected=lambda: [0, 0xFFFFFFFF, 0])
@cuda.jit
def atomic_bits(out):
    i = cuda.grid(1)
    cuda.atomic.and_(out, 0, uint32(0))
    cuda.atomic.or_(out, 1, uint32(1) << uint32(i % 32))
    cuda.atomic.xor(out, 2, uint32(1))


@case("intrinsics", size=2, out=np.uint32, expected=lambda: [64 % 11, (-64) % 12])
@cuda.jit
def atomic_inc_and_dec(out):
    cuda.atomic.inc(out, 0, uint32(10))
    cuda.atomic.dec(out, 1, uint32(11))


@case("intrinsics", size=1, out=np.int32, block=1, expected=lambda: [7])
@cuda.jit
def atomic_exchange(out):
    cuda.atomic.exch(out, 0, 7)


@case("intrinsics", size=2, out=np.int32, expected=lambda: [1, 1])
@cuda.jit
def atomic_compare_and_swap(out):
    if cuda.atomic.cas(out, 0, 0, 1) == 0:
        cuda.atomic.add(out, 1, 1)


@case("intrinsics", size=1, out=np.int32, block=1, expected=lambda: [1])
@cuda.jit
def atomic_compare_and_swap_of_the_first_element(out):
    cuda.atomic.compare_and_swap(out, 0, 1)


@case("intrinsics", size=1, out=np.int64, expected=lambda: [64])
@cuda.jit
def atomic_in_shared_memory(out):
    total = cuda.shared.array(1, int64)
    if cuda.threadIdx.x == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[0] = total[0]


@case("intrinsics", size=1, out=np.int32, expected=lambda: [2016])
@cuda.jit
def old_values_of_an_atomic(out):
    counter = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        counter[0] = 0
    cuda.syncthreads()
    mine = cuda.atomic.add(counter, 0, 1)
    cuda.atomic.add(out, 0, mine)


# --- the kernel API: barriers, fences, warps, bits ------------------------------------------


@case("kernel", expected=lambda: np.full(64, 32.0))
@cuda.jit
def barrier_that_counts(out):
    i = cuda.threadIdx.x
    out[i] = cuda.syncthreads_count(i % 2)


@case("kernel", expected=lambda: np.full(64, 1.0))
@cuda.jit
def barriers_that_combine(out):
    i = cuda.threadIdx.x
    every = cuda.syncthreads_and(int(i < 64))
    some = cuda.syncthreads_or(int(i == 70))
    out[i] = (every != 0) + (some != 0)


@case("kernel", size=2, out=np.int32, block=64, expected=lambda: [1, 1])
@cuda.jit
def fences(out):
    i = cuda.threadIdx.x
    cuda.threadfence_block()
    cuda.threadfence()
    cuda.threadfence_system()
    if i < 2:
        out[i] = 1


@case("kernel", out=np.int32, expected=lambda: np.arange(64) // 32 * 32)
@cuda.jit
def shuffle(out):
    i = cuda.threadIdx.x
    out[i] = cuda.shfl_sync(FULL, i, 0)


@case("kernel", out=np.int32, expected=lambda: np.arange(64) ^ 1)
@cuda.jit
def shuffle_xor(out):
    i = cuda.threadIdx.x
    out[i] = cuda.shfl_xor_sync(FULL, i, 1)


@case("kernel", expected=lambda: np.where(np.arange(64) % 32, np.arange(64) - 1, np.arange(64)))
@cuda.jit
def shuffle_up(out):
    i = cuda.threadIdx.x
    out[i] = cuda.shfl_up_sync(FULL, float64(i), 1)


@case("kernel", size=2, expected=lambda: [496, 1520])
@cuda.jit
def shuffle_down(out):
    i = cuda.threadIdx.x
    total = float32(i)
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(FULL, total, step)
    if cuda.laneid == 0:
        out[i // cuda.warpsize] = total


@cuda.jit(device=True)
def sum_of_a_warp(value):
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(FULL, value, step)
    return value


@case("kernel", np.ones(64), size=2, expected=lambda x: [32, 32])
@cuda.jit
def shuffle_in_a_device_function(x, out):
    i = cuda.threadIdx.x
    total = sum_of_a_warp(x[i])
    if i % 32 == 0:
        out[i // 32] = total


@case("kernel", out=np.int64, expected=lambda: np.full(64, 0xFF + 1 + 2))
@cuda.jit
def votes(out):
    i = cuda.threadIdx.x
    mask = cuda.ballot_sync(FULL, cuda.laneid < 8)
    some = cuda.any_sync(FULL, cuda.laneid == 3)
    every = cuda.all_sync(FULL, i < 64)
    same = cuda.eq_sync(FULL, cuda.laneid < 32)
    out[i] = mask + (some != 0) + (every != 0) + (same != 0)


@case("kernel", out=np.int64, expected=lambda: np.where(np.arange(64) % 2, 0xAAAAAAAA, 0x55555555))
@cuda.jit
def match_any(out):
    i = cuda.threadIdx.x
    out[i] = uint32(cuda.match_any_sync(FULL, i % 2))


@case("kernel", out=np.int64, expected=lambda: np.full(64, 0xFFFFFFFF + 1))
@cuda.jit
def match_all(out):
    mask, same = cuda.match_all_sync(FULL, 7)
    out[cuda.threadIdx.x] = uint32(mask) + (1 if same else 0)


@case("kernel", out=np.int64, expected=lambda: np.full(64, 0xFFFFFFFF))
@cuda.jit
def active_lanes(out):
    out[cuda.threadIdx.x] = uint32(cuda.activemask())


@case("kernel", out=np.int64, expected=lambda: (1 << np.arange(64) % 32) - 1)
@cuda.jit
def lanes_below(out):
    out[cuda.threadIdx.x] = uint32(cuda.lanemask_lt())


@case("kernel", X, expected=lambda x: x[::-1])
@cuda.jit
def barrier_of_a_warp(x, out):
    tile = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    first = i // 32 * 32
    tile[i] = x[63 - i]
    cuda.syncwarp()
    out[i] = tile[first + cuda.laneid]


@case("kernel", I.astype(np.uint32), out=np.int64, expected=lambda n: np.array(
    [int(v).bit_count() + 32 - int(v).bit_length() + (int(v) & -int(v)).bit_length()
     for v in n]))  # fmt: skip
@cuda.jit
def functions_of_bits(n, out):
    i = cuda.grid(1)
    out[i] = cuda.popc(n[i]) + cuda.clz(n[i]) + cuda.ffs(n[i])


@case("kernel", I.astype(np.uint32), out=np.uint32, expected=lambda n: np.array(
    [int(f"{v:032b}"[::-1], 2) for v in n]))  # fmt: skip
@cuda.jit
def reversed_bits(n, out):
    i = cuda.grid(1)
    out[i] = cuda.brev(n[i])


@case("kernel", X, expected=lambda x: np.where(x > 0, x, 7))
@cuda.jit
def selection(x, out):
    i = cuda.grid(1)
    out[i] = cuda.selp(x[i] > 0, x[i], 7.0)


@case("kernel", X, expected=lambda x: x * x + x)
@cuda.jit
def fused_multiply_add(x, out):
    i = cuda.grid(1)
    out[i] = cuda.fma(x[i], x[i], x[i])


@case("kernel", X, expected=lambda x: np.cbrt(x))
@cuda.jit
def cube_root(x, out):
    i = cuda.grid(1)
    out[i] = cuda.cbrt(x[i])


@case("kernel", size=1, block=1, expected=lambda: [1])
@cuda.jit
def waiting(out):
    cuda.nanosleep(uint32(10))
    out[0] = 1


@case("kernel", expected=lambda: np.zeros(64), outcome=FINDING, message="barrier",
      reason="half of the threads miss the barrier, of which the page warns")  # fmt: skip
@cuda.jit
def barrier_of_some_threads(out):
    i = cuda.threadIdx.x
    if i < 32:
        cuda.syncthreads()
    out[i] = i


@case("kernel", X, expected=lambda x: x, outcome=REFUSED, message="cuda.inline_ptx()",
      reason="inline PTX, which the virtual GPU does not run")  # fmt: skip
@cuda.jit
def inline_ptx(x, out):
    cuda.inline_ptx("bar.sync 0;")
    out[cuda.grid(1)] = x[cuda.grid(1)]


@case("kernel", X, expected=lambda x: x, outcome=REFUSED, message="cuda.missing",
      reason="neither compiler has a function of this name")  # fmt: skip
@cuda.jit
def a_function_that_is_not_there(x, out):
    out[cuda.grid(1)] = cuda.missing(x[0])


# --- cache hints and libdevice --------------------------------------------------------------


@case("cache_hints", X, expected=lambda x: x * 5)
@cuda.jit
def loads_with_hints(x, out):
    i = cuda.grid(1)
    out[i] = (
        cuda.ldca(x, i) + cuda.ldcg(x, i) + cuda.ldcs(x, i) + cuda.ldlu(x, i) + cuda.ldcv(x, i)
    )


@case("cache_hints", X, expected=lambda x: x)
@cuda.jit
def stores_with_hints(x, out):
    i = cuda.grid(1)
    if i < 16:
        cuda.stcg(out, i, x[i])
    elif i < 32:
        cuda.stcs(out, i, x[i])
    elif i < 48:
        cuda.stwb(out, i, x[i])
    else:
        cuda.stwt(out, i, x[i])


@case("libdevice", P, expected=lambda x: np.sin(x) + 1 / np.sqrt(x) + np.exp2(x))
@cuda.jit
def functions_of_libdevice(x, out):
    i = cuda.grid(1)
    out[i] = libdevice.sin(x[i]) + libdevice.rsqrt(x[i]) + libdevice.exp2(x[i])


@case("libdevice", P, expected=lambda x: np.sin(x) - np.cos(x))
@cuda.jit
def libdevice_with_two_results(x, out):
    i = cuda.grid(1)
    sine, cosine = cuda.libdevice.sincos(x[i])
    out[i] = sine - cosine


@case("fastmath", P.astype(np.float32), out=np.float32, expected=lambda x: np.cos(x) / x)
@cuda.jit(fastmath=True)
def fast_functions(x, out):
    i = cuda.grid(1)
    out[i] = libdevice.fast_cosf(x[i]) / x[i]


@case("kernel", X4, out=np.float32, expected=lambda x: np.abs(x.astype(np.float16)) * 2)
@cuda.jit
def functions_of_half_precision(x, out):
    i = cuda.grid(1)
    h = cuda.fp16.habs(float16(x[i]))
    out[i] = float32(cuda.fp16.hadd(h, h))


# --- cooperative groups, random numbers, reductions, examples -------------------------------


@case("cooperative_groups", X, size=64, grid=2, block=32, expected=lambda x: x[::-1] + 1)
@cuda.jit
def barrier_of_the_grid(x, out):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    x[i] += 1
    grid.sync()
    out[i] = x[63 - i]


@case("random", create_xoroshiro128p_states(64, seed=1).copy_to_host(), size=1, out=np.int32,
      expected=lambda states: [64])  # fmt: skip
@cuda.jit
def uniform_random_numbers(states, out):
    i = cuda.grid(1)
    value = xoroshiro128p_uniform_float32(states, i)
    if 0 <= value < 1:
        cuda.atomic.add(out, 0, 1)


@case("random", create_xoroshiro128p_states(64, seed=1).copy_to_host(), size=1, out=np.int32,
      expected=lambda states: [64])  # fmt: skip
@cuda.jit
def normal_random_numbers(states, out):
    i = cuda.grid(1)
    value = xoroshiro128p_normal_float64(states, i)
    if -9 < value < 9:
        cuda.atomic.add(out, 0, 1)


@case("examples", X, X, expected=lambda a, b: a + b)
@cuda.jit
def vector_addition(a, b, out):
    tid, size = cuda.grid(1), len(out)
    if tid < size:
        out[tid] = a[tid] + b[tid]


@case("examples", np.arange(64.0), size=1, expected=lambda x: [x.sum()])
@cuda.jit
def reduction_in_shared_memory(x, out):
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(64, float64)
    tile[tid] = x[tid]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        if tid % (2 * step) == 0:
            tile[tid] += tile[tid + step]
        step *= 2
        cuda.syncthreads()
    if tid == 0:
        out[0] = tile[0]


TILE = 8


@case("examples", np.arange(256.0).reshape(16, 16), np.eye(16), size=(16, 16), grid=(2, 2),
      block=(8, 8), expected=lambda a, b: a @ b)  # fmt: skip
@cuda.jit
def matrix_multiplication(a, b, out):
    sa = cuda.shared.array((TILE, TILE), float64)
    sb = cuda.shared.array((TILE, TILE), float64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for i in range(a.shape[1] // TILE):
        sa[tx, ty] = a[x, ty + i * TILE]
        sb[tx, ty] = b[tx + i * TILE, y]
        cuda.syncthreads()
        for j in range(TILE):
            total += sa[tx, j] * sb[j, ty]
        cuda.syncthreads()
    out[x, y] = total


@case("examples", np.linspace(0, 1, 64), expected=lambda u: np.concatenate(
    [[u[0]], u[1:-1] + 0.25 * (u[:-2] - 2 * u[1:-1] + u[2:]), [u[-1]]]))  # fmt: skip
@cuda.jit
def heat_equation(u, out):
    i = cuda.grid(1)
    if 0 < i < u.size - 1:
        out[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1])
    else:
        out[i] = u[i]


@case("examples", I % 7, np.arange(64), out=np.int64, expected=lambda user, time: np.cumsum(
    np.concatenate([[1], np.diff(user) != 0])))  # fmt: skip
@cuda.jit
def sessions(user, time, out):
    i = cuda.grid(1)
    starts = cuda.shared.array(64, int64)
    starts[i] = 1 if i == 0 or user[i] != user[i - 1] else 0
    cuda.syncthreads()
    total = 0
    for k in range(i + 1):
        total += starts[k]
    out[i] = total


@case("examples", np.arange(64.0), 0.0, 3.0, expected=lambda x, low, high: np.clip(x, low, high))
@cuda.jit
def clamped(x, low, high, out):
    i = cuda.grid(1)
    out[i] = min(max(x[i], low), high)


@case("examples", I, size=8, out=np.int64, expected=lambda n: np.full(8, 8))
@cuda.jit
def histogram(n, out):
    cuda.atomic.add(out, n[cuda.grid(1)] % 8, 1)


@case("examples", np.array([3, 1, 2, 0] * 16), out=np.int64,
      expected=lambda n: n[n])  # fmt: skip
@cuda.jit
def gather(n, out):
    i = cuda.grid(1)
    out[i] = n[n[i]]


@case("ufunc", X, X, expected=lambda x, y: np.hypot(x, y))
@cuda.jit
def ufunc_on_whole_arrays(x, y, out):
    if cuda.grid(1) == 0:
        np.hypot(x, y, out)


@case("ufunc", X, expected=lambda x: x, outcome=REFUSED, message="np.floor()",
      reason="the virtual GPU takes this ufunc only with an array for its results")  # fmt: skip
@cuda.jit
def ufuncs_of_numbers(x, out):
    i = cuda.grid(1)
    out[i] = np.floor(x[i])


plus_in_c = cuda.declare_device("plus_in_c", "int32(int32, int32)")


@case("ffi", expected=lambda: np.zeros(64), outcome=REFUSED, message="plus_in_c()",
      reason="a function of another language, of which the virtual GPU has no text")  # fmt: skip
@cuda.jit
def foreign_function(out):
    out[cuda.grid(1)] = plus_in_c(1, 2)
