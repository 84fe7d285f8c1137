"""The virtual GPU gives each variable the type that Numba's compiler gives it.

Each function runs once as a device function of the virtual GPU and once under ``numba.njit``,
thread by thread. The types are the same there, and so must be the bits.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, njit, types
from numba.np.numpy_support import as_dtype, from_dtype

import virtual_gpu
from virtual_gpu import Unsupported
from virtual_gpu.language.compiler import compile_function
from virtual_gpu.types import numba_types
from virtual_gpu.types.numba_passes import PLAIN_NUMBA

THREADS = 32
DTYPES = st.sampled_from(("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8"))


def branch_that_nobody_takes(x, y, k):
    v = x
    if k > 100:
        v = -1
    return v - y


def narrow_within_the_branch(x, y, k):
    v, w = 1.5, float32(0)
    if k < 100:
        v = float32(x)
        w = v * float32(0.1)
    return w + 0 * v


def both_integers_exact_within_their_branch(x, y, k):
    v, w = x, 0
    if y % 2 == 0:
        v = -y - 1
        w = v & 7
    return w + v * 0.0


def conditional_expression(x, y, k):
    return (x if k < 100 else -1) - y


def nested_conditional_expressions(x, y, k):
    return (x if k < 100 else y if k < 200 else float32(0.5)) * float32(16777217)


def and_that_ends_early(x, y, k):
    return ((k > 100 and -1) or x) - y


def loop_without_a_round(x, y, k):
    v = x
    for _ in range(k - 3):
        v = -1
    return v - y


def first_round_of_a_loop(x, y, k):
    v, total = x, 0
    for _ in range(k):
        total += v - y
        v = -1
    return total


def product_before_the_loop_widens(x, y, k):
    v, total = x, 0
    for _ in range(k):
        total = v * y - 1
        v = v - 1
    return total


def condition_before_the_first_round(x, y, k):
    v, rounds = float32(x) * float32(0.1), 0
    while v * float32(0.1) != float32(y) * 0.01 and rounds < 4:
        rounds += 1
        if rounds == 2:
            continue
        v = v * 1.1
    return rounds


def widened_by_the_else_of_a_loop(x, y, k):
    v = x
    for _ in range(2):
        if k < 100:
            break
    else:
        v = -1
    return v - y


def augmented_where_nobody_goes(x, y, k):
    v = x
    if k > 100:
        v -= 1
    return v - y


def tuple_on_two_paths(x, y, k):
    pair = (x, y)
    if k > 100:
        pair = (-1, 0.5)
    return (pair[0] - y) + pair[1]


def two_copies_of_the_end(x, y, k):
    if k > 100:  # noqa: SIM108 - Python ends both branches with a copy of the return
        v = -1
    else:
        v = x
    return v - y


def several_types_in_turn(x, y, k):
    v = x
    v = v * float32(0.1)
    if k < 100:
        v = y
        v = v * v
    v = v - 1
    return v


def narrow_or_wide(x, y, k):
    if k > 100:
        return -1
    return x


def difference_of_a_device_function(x, y, k):
    return inner(x, y, k) - y


inner = njit(narrow_or_wide)

FUNCTIONS = [
    branch_that_nobody_takes,
    narrow_within_the_branch,
    both_integers_exact_within_their_branch,
    conditional_expression,
    nested_conditional_expressions,
    and_that_ends_early,
    loop_without_a_round,
    first_round_of_a_loop,
    product_before_the_loop_widens,
    condition_before_the_first_round,
    widened_by_the_else_of_a_loop,
    augmented_where_nobody_goes,
    tuple_on_two_paths,
    two_copies_of_the_end,
    several_types_in_turn,
    narrow_or_wide,
    difference_of_a_device_function,
]


def numbers(dtype, seed):
    """Return small numbers and the limit of the type, so that a narrower type overflows."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    small = rng.integers(0, 5, THREADS).astype(dtype)
    if dtype.kind == "f":
        return small + dtype.type(0.1)
    limit = np.iinfo(dtype).max if dtype.itemsize < 8 else 2**53 + 1
    return np.where(rng.random(THREADS) < 0.5, small, dtype.type(limit)).astype(dtype)


@pytest.mark.parametrize("dtypes", [("u4", "u4"), ("i2", "u2")])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_result_has_the_type_and_the_bits_of_the_compiled_function(function, dtypes):
    x, y = (numbers(dtype, seed) for seed, dtype in enumerate(dtypes))
    if function is both_integers_exact_within_their_branch:
        x, y = x.astype("u8"), y.astype("i8")
    compiled, device = njit(error_model="numpy")(function), cuda.jit(device=True)(function)
    expected = [compiled(a, b, 3) for a, b in zip(x, y, strict=True)]
    returned = compiled.nopython_signatures[0].return_type

    @cuda.jit
    def kernel(x, y, k, out):
        i = cuda.grid(1)
        out[i] = device(x[i], y[i], k)

    out = np.zeros(THREADS, as_dtype(returned))
    assert virtual_gpu.trace(kernel, 1, THREADS, x, y, 3, out).findings == ()
    assert compile_function(function).inference.of_types(
        (from_dtype(x.dtype), from_dtype(y.dtype), types.int64)
    ).result == as_dtype(returned)
    np.testing.assert_array_equal(out, np.array(expected, out.dtype))


@settings(max_examples=25, deadline=None)
@given(DTYPES, DTYPES)
def test_a_branch_that_nobody_takes_widens(taken, other):
    @cuda.jit
    def kernel(x, y, k, seen):
        i = cuda.grid(1)
        v = x[i]
        if k > 100:
            v = y[i]
        seen[i] = v * 1

    inputs = [types.Array(from_dtype(np.dtype(d)), 1, "C") for d in (taken, other, "c16")]
    given_types = (*inputs[:2], types.int64, inputs[2])
    inferred = compile_function(kernel.py_func).inference.of_types(given_types)
    reads = [kind for node, kind in inferred.values.items() if getattr(node, "id", None) == "v"]
    assert reads == [numba_types.unified(np.dtype(taken), np.dtype(other))]


def test_a_device_function_with_a_signature_casts_its_arguments_and_its_result():
    @cuda.jit("float32(float32, float32)", device=True)
    def scale(value, factor):
        return value * factor

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = scale(x[i], 0.1)

    x, out = np.linspace(0, 1, THREADS), np.zeros(THREADS)
    virtual_gpu.trace(kernel, 1, THREADS, x, out)
    assert (out == x.astype(np.float32) * np.float32(0.1)).all()


def test_a_variable_that_is_an_array_in_some_threads_only_is_refused():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        v = 1
        if i > 1000:
            v = x
        out[i] = v

    with pytest.raises(Unsupported, match=r"`out\[i\] = v`: Cannot unify"):
        virtual_gpu.trace(kernel, 1, THREADS, np.ones(THREADS), np.ones(THREADS))


@pytest.mark.skipif(PLAIN_NUMBA, reason="plain Numba's CUDA target takes max of a bool")
def test_what_only_the_compiler_refuses_is_refused():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = max(1, x[i] > 0)

    with pytest.raises(Unsupported, match=r"max\(Literal\[int\]\(1\), bool\)"):
        virtual_gpu.trace(kernel, 1, THREADS, np.ones(THREADS), np.ones(THREADS))


def test_constants_that_python_cannot_fold_are_left_to_the_kernel():
    def kernel(out):
        out[0] = 7 // (3 - 3) if out[0] > 5 else LARGE * LARGE

    out = np.zeros(1, np.int64)
    virtual_gpu.trace(cuda.jit(kernel), 1, 1, out)
    assert out[0] == 2**33 + 1  # the square less 2**64


LARGE = 2**32 + 1


def twice(value):
    """A function that only the virtual GPU knows."""


class HelperLibrary:
    twice = staticmethod(twice)


def test_a_function_that_only_the_virtual_gpu_knows_is_called():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = twice(x[i]) + HelperLibrary.twice(x[i])

    virtual_gpu.register(twice, lambda machine, value: value + value)
    x, out = np.arange(THREADS), np.zeros(THREADS, int)
    virtual_gpu.trace(kernel, 1, THREADS, x, out)
    assert (out == 4 * x).all()
