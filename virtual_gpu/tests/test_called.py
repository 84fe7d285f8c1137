"""The functions that a kernel may call: ufuncs on arrays, overloads, function arguments, print().
"""

import cmath
import math

import numpy as np
import pytest
from numba import cuda, float32, int32
from numba.extending import overload

import virtual_gpu

virtual_gpu.install()


def test_a_ufunc_fills_an_array_for_its_results():
    @cuda.jit
    def kernel(x, row, out):
        np.hypot(x, row, out)

    x = np.arange(6.0).reshape(3, 2)
    row = np.array([3.0, 4.0])
    out = np.zeros((3, 2))
    kernel[1, 1](x, row, out)
    assert np.array_equal(out, np.hypot(x, row))


def test_a_ufunc_of_a_number_fills_every_element():
    @cuda.jit
    def kernel(value, out):
        np.maximum(value, 2, out)

    out = np.zeros(4, np.int64)
    kernel[1, 1](7, out)
    assert out.tolist() == [7, 7, 7, 7]


def test_each_element_of_a_ufunc_is_checked():
    @cuda.jit
    def kernel(x, out):
        np.negative(x[0], x[1:2])
        np.sin(x, out[cuda.grid(1):])

    with pytest.raises(virtual_gpu.VirtualGpuError):
        kernel[1, 2](np.zeros(4), np.zeros(5))


def test_a_ufunc_of_an_array_needs_one_for_its_results():
    @cuda.jit
    def kernel(x):
        np.cos(x)

    with pytest.raises(virtual_gpu.Unsupported):
        kernel[1, 1](np.zeros(4))


def test_shapes_that_do_not_fit_are_refused():
    @cuda.jit
    def kernel(x, out):
        np.cos(x, out)

    with pytest.raises(virtual_gpu.Unsupported, match=r"\(4,\), \(3,\)"):
        kernel[1, 1](np.zeros(4), np.zeros(3))


@cuda.jit(device=True)
def counted(array, where, operation, length, kind):
    local = cuda.shared.array(length, kind)
    i = cuda.threadIdx.x
    local[i] = 0
    cuda.syncthreads()
    operation(local, where[i], 1)
    cuda.syncthreads()
    array[i] = local[i]


def test_an_atomic_is_handed_to_a_device_function():
    @cuda.jit
    def kernel(array, where):
        counted(array, where, cuda.atomic.add, 8, int32)

    where = np.array([0, 0, 3, 3, 3, 7, 0, 1])
    array = np.zeros(8, np.int32)
    kernel[1, 8](array, where)
    assert array.tolist() == np.bincount(where, minlength=8).tolist()


@pytest.mark.parametrize("name, expected", [("max", 4.0), ("min", 4.0)])
def test_atomic_extremes_pass_over_nan(name, expected):
    operation = getattr(cuda.atomic, name)

    @cuda.jit
    def kernel(x, out):
        out[1] = operation(x, 0, np.nan)
        out[0] = operation(x, 1, 3.0)

    x, out = np.array([expected, np.nan]), np.zeros(2)
    kernel[1, 1](x, out)
    assert x[0] == expected
    assert np.isnan(x[1])
    assert out[1] == expected


def scaled(x, factor=2):
    """Represents the implementations that ``_scaled`` registers."""


@overload(scaled)
def _scaled(x, factor=2):
    if isinstance(x, type(float32)) and x.bitwidth == 32:
        return lambda x, factor=2: x * float32(10)
    return lambda x, factor=2: x * factor


def test_an_overload_is_chosen_by_its_types():
    @cuda.jit
    def kernel(single, double):
        single[0] = scaled(single[0])
        double[0] = scaled(double[0])
        double[1] = scaled(double[1], factor=5)

    single, double = np.ones(1, np.float32), np.ones(2)
    kernel[1, 1](single, double)
    assert single[0] == 10
    assert double.tolist() == [2, 5]


def test_functions_that_numba_writes_in_python_are_typed():
    @cuda.jit
    def kernel(z, out):
        i = cuda.grid(1)
        z[i] = cmath.cosh(z[i])
        out[i] = cmath.phase(z[i])

    z = np.array([1 + 2j, -0.5j])
    expected = [cmath.cosh(v) for v in z]
    out = np.zeros(2)
    kernel[1, 2](z, out)
    assert np.allclose(z, expected)
    assert np.allclose(out, [cmath.phase(v) for v in expected])


def test_print_shows_each_thread_its_own_tuple(capsys):
    @cuda.jit
    def kernel(pair):
        print(cuda.threadIdx.x, (cuda.threadIdx.x,), pair)

    kernel[1, 2]((1, (2.5, True)))
    assert capsys.readouterr().out == "0 (0,) (1, (2.5, True))\n1 (1,) (1, (2.5, True))\n"


@pytest.mark.skipif(not hasattr(cuda, "ldcg"), reason="this Numba has no cache hints")
def test_cache_hints_load_and_store_what_any_access_would():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        cuda.stcg(out, (i, 0), cuda.ldcg(x, i))
        cuda.stwt(out, (i, 1), cuda.ldca(out, (i, 0)) * 2)

    x, out = np.arange(4), np.zeros((4, 2))
    kernel[1, 4](x, out)
    assert out.tolist() == [[0, 0], [1, 2], [2, 4], [3, 6]]
    with pytest.raises(virtual_gpu.OutOfBounds):
        kernel[1, 5](x, out)


@pytest.mark.skipif(not hasattr(cuda, "ldcg"), reason="this Numba has no cache hints")
def test_cache_hints_are_for_global_memory():
    @cuda.jit
    def kernel(out):
        local = cuda.local.array(2, float32)
        local[0] = 1
        out[0] = cuda.ldcg(local, 0)

    with pytest.raises(virtual_gpu.Unsupported, match="global memory"):
        kernel[1, 1](np.zeros(1))


def test_functions_of_math_that_python_has_since_3_11():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i, 0] = math.remainder(x[i], 3.0)
        out[i, 1] = math.nextafter(x[i], 100.0)

    x, out = np.array([-7.5, 4.5, 8.0, np.inf]), np.zeros((4, 2))
    kernel[1, 4](x, out)
    expected = [math.remainder(v, 3.0) for v in x[:3]]
    assert out[:3, 0].tolist() == expected
    assert np.isnan(out[3, 0])
    assert out[:, 1].tolist() == [math.nextafter(v, 100.0) for v in x]


def test_bits_are_counted_by_a_method():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i].bit_count()

    x, out = np.array([0, 255, 2**31, 2**32 - 1], np.uint32), np.zeros(4, np.int32)
    kernel[1, 4](x, out)
    assert out.tolist() == [0, 8, 1, 32]


def test_a_device_function_whose_signatures_do_not_fit_is_refused():
    @cuda.jit("int32(int32[:])", device=True)
    def first(x):
        return x[0]

    @cuda.jit
    def kernel(x):
        x[0] = first(x)

    with pytest.raises(virtual_gpu.Unsupported, match="none of its signatures"):
        kernel[1, 1](np.zeros((2, 2)))


def test_pointers_to_the_same_memory_are_equal():
    array = cuda.to_device(np.zeros(4))
    assert array.gpu_data == array.view(np.int64).gpu_data
    assert array.gpu_data != cuda.to_device(np.zeros(4)).gpu_data


def test_a_device_function_is_not_launched():
    @cuda.jit(device=True)
    def half(x):
        return x / 2

    with pytest.raises(virtual_gpu.LaunchError, match="half is a device function"):
        half[1, 1](3.0)


def test_a_kernel_with_extensions_is_refused():
    @cuda.jit(extensions=[object()])
    def kernel(x):
        x[0] = 1

    with pytest.raises(virtual_gpu.LaunchError, match="extensions"):
        kernel[1, 1](np.zeros(1))
