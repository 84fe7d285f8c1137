"""Constants that Numba must know while it compiles: shapes, dtypes, numbers of dimensions."""

import numpy as np
import pytest
from numba import cuda, float32, int32

from virtual_gpu import Unsupported, trace

SIDE = 8


@pytest.mark.parametrize("kernel", [
    pytest.param(lambda: _number, id="number"),
    pytest.param(lambda: _chain, id="chain"),
    pytest.param(lambda: _on_both_paths, id="both paths"),
    pytest.param(lambda: _pair, id="pair"),
    pytest.param(lambda: _from_rank, id="rank"),
])  # fmt: skip
def test_a_variable_that_holds_one_constant_is_a_shape(kernel):
    x = np.arange(16, dtype=np.float32)
    assert trace(kernel(), 1, 16, x, 16).findings == ()
    assert x.tolist() == list(range(15, -1, -1))


@cuda.jit
def _number(x, n):
    size = 16
    tile = cuda.shared.array(size, float32)
    _reverse(x, tile, n)


@cuda.jit
def _chain(x, n):
    half = SIDE
    size = half
    tile = cuda.shared.array((size, 2), float32)
    i = cuda.grid(1)
    tile[i // 2, i % 2] = x[i]
    cuda.syncthreads()
    i = n - 1 - i
    x[cuda.grid(1)] = tile[i // 2, i % 2]


@cuda.jit
def _on_both_paths(x, n):
    size = 16
    if n > 100:
        size = 16
    tile = cuda.shared.array(size, float32)
    _reverse(x, tile, n)


@cuda.jit
def _pair(x, n):
    pair = (16, 2)
    first, second = pair
    tile = cuda.shared.array(pair, float32)
    i = cuda.grid(1) * (second - 1)
    tile[i, 1] = x[i]
    cuda.syncthreads()
    x[i] = tile[first - 1 - i, 1]


@cuda.jit
def _from_rank(x, n):
    tile = cuda.shared.array((16, x.ndim), x.dtype)
    i = cuda.grid(x.ndim)
    tile[i, 0] = x[i]
    cuda.syncthreads()
    x[i] = tile[n - 1 - i, 0]


@cuda.jit(device=True)
def _reverse(x, tile, n):
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    x[i] = tile[n - 1 - i]


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_, np.complex128, np.uint8])
def test_the_dtype_of_an_array_is_a_dtype(dtype):
    @cuda.jit
    def turned(x):
        tile = cuda.shared.array(4, x.dtype)
        mine = cuda.local.array(1, dtype=x.dtype)
        i = cuda.threadIdx.x
        tile[i] = x[i]
        cuda.syncthreads()
        mine[0] = tile[3 - i]
        x[i] = mine[0]

    x = np.array([0, 1, 1, 0], dtype)
    x[1] = 0
    turned[1, 4](x)
    assert x.tolist() == [0, 1, 0, 0]


def test_an_array_of_a_python_type_is_refused_as_numba_does():
    @cuda.jit
    def kernel(x):
        tile = cuda.shared.array(4, float)
        tile[0] = x[0]

    with pytest.raises(Unsupported, match="a Python type as dtype"):
        kernel[1, 1](np.zeros(4))


def two_values(x, n):
    size = 16
    if n > 3:
        size = 32
    tile = cuda.shared.array(size, float32)
    tile[0] = x[0]


def computed(x, n):
    size = SIDE * 2
    tile = cuda.shared.array(size, float32)
    tile[0] = x[0]


def argument(x, n):
    tile = cuda.local.array(n, float32)
    tile[0] = x[0]


def cast(x, n):
    size = int32(4)
    tile = cuda.local.array(size, float32)
    tile[0] = x[0]


def empty(x, n):
    tile = cuda.local.array((4, 0), float32)
    tile[0, 0] = x[0]


def negative(x, n):
    tile = cuda.local.array(-4, float32)
    tile[0] = x[0]


def not_a_power(x, n):
    tile = cuda.shared.array(4, float32, alignment=24)
    tile[0] = x[0]


def too_narrow(x, n):
    tile = cuda.local.array(4, float32, alignment=4)
    tile[0] = x[0]


def dimensions(x, n):
    x[cuda.grid(n)] = 1


def truth(x, n):
    x[cuda.gridsize(True) - 1] = 1


@pytest.mark.parametrize(
    "function, what",
    [
        (two_values, "a shape that is neither a number"),
        (computed, "a shape that is neither a number"),
        (argument, "a shape that is neither a number"),
        (cast, "a shape that is neither a number"),
        (empty, r"an array of shape \(4, 0\)"),
        (negative, r"the negative shape \(-4,\)"),
        (not_a_power, "the alignment 24 .*a power of 2 of at least 8"),
        (too_narrow, "the alignment 4 .*a power of 2 of at least 8"),
        (dimensions, "the constant 1, 2 or 3"),
        (truth, "the constant 1, 2 or 3"),
    ],
)
def test_what_numba_does_not_know_while_it_compiles_is_refused(function, what):
    with pytest.raises(Unsupported, match=what):
        cuda.jit(function)[1, 1](np.zeros(4, np.float32), 1)


@cuda.jit(device=True)
def smoothed(x, at, width, scale=2):
    window = cuda.local.array(width, float32)
    for k in range(width):
        window[k] = x[at + k]
    total = float32(0)
    for k in range(width):
        total += window[k] * float32(scale)
    return total


@cuda.jit(device=True)
def shared_sum(x, width):
    tile = cuda.shared.array(width, float32)
    i = cuda.threadIdx.x
    if i < width:
        tile[i] = x[i]
    cuda.syncthreads()
    total = float32(0)
    for k in range(width):
        total += tile[k]
    return total


def test_a_constant_argument_of_a_device_function_is_a_shape():
    @cuda.jit
    def kernel(x, out):
        width = 3
        i = cuda.grid(1)
        out[0, i] = smoothed(x, i, SIDE)
        out[1, i] = smoothed(x, i, width, scale=1)
        out[2, i] = shared_sum(x, 4) + shared_sum(x, 2)

    x, out = np.arange(16, dtype=np.float32), np.zeros((3, 8), np.float32)
    assert trace(kernel, 1, 8, x, out).findings == ()
    i = np.arange(8)
    assert out[0].tolist() == (2 * (8 * i + 28)).tolist()
    assert out[1].tolist() == (3 * i + 3).tolist()
    assert (out[2] == 0 + 1 + 2 + 3 + 0 + 1).all()


def test_a_variable_argument_of_a_device_function_is_no_shape():
    @cuda.jit
    def kernel(x, n):
        x[0] = smoothed(x, 0, n)

    with pytest.raises(Unsupported, match="a shape that is neither a number"):
        kernel[1, 1](np.zeros(4, np.float32), 4)
