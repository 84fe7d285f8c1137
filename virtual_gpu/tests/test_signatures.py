"""A launch takes the one of several signatures that Numba takes."""

import numpy as np
import pytest
from numba import cuda, float32, float64, int32

from virtual_gpu import LaunchError, trace


@cuda.jit(["(float64[::1], float32, float32)", "(float64[::1], float64, float64)"])
def product(out, a, b):
    out[0] = a * b


@cuda.jit("(float32[:], int32)")
def scale(x, factor):
    x[0] = x[0] * factor


def launched(kernel, *arguments):
    kernel[1, 1](*arguments)
    return arguments[0]


def test_the_signature_of_exactly_these_types_is_taken_wherever_it_stands():
    a = 1 + 2.0**-20
    assert launched(product, np.zeros(1), a, a)[0] == a * a
    narrow = np.float32(a)
    assert launched(product, np.zeros(1), narrow, narrow)[0] == np.float64(narrow * narrow)


def test_a_trace_takes_the_same_signature():
    out, narrow = np.zeros(1), np.float32(1 + 2.0**-20)
    trace(product, 1, 1, out, narrow, narrow)
    assert out[0] == np.float64(narrow * narrow)


def test_types_that_no_signature_has_are_converted_to_the_nearest():
    a = np.int32(2**25 + 1)
    assert launched(product, np.zeros(1), a, a)[0] == float(a) * float(a)


def test_arguments_that_fit_no_signature_are_refused_with_the_signatures():
    with pytest.raises(LaunchError, match=r"fit none of its signatures .*float32, float32\) or .*"):
        product[1, 1](np.zeros(1, np.float32), 1.0, 1.0)


def test_arguments_that_fit_several_signatures_equally_well_are_refused():
    @cuda.jit(["(float64[:], int32, float64)", "(float64[:], float64, int32)"])
    def mixed(out, a, b):
        out[0] = a + b

    with pytest.raises(LaunchError, match="fit several equally well"):
        mixed[1, 1](np.zeros(1), np.int32(1), np.int32(2))


def test_one_signature_casts_numbers_and_refuses_other_arrays():
    x = np.ones(1, np.float32)
    assert launched(scale, x, 2**32 + 3)[0] == 3
    with pytest.raises(LaunchError, match=r"argument x of scale is .*float64.*; its signature"):
        scale[1, 1](np.ones(1), 3)
    with pytest.raises(LaunchError, match="argument factor is a float"):
        scale[1, 1](x, 2.5)
    with pytest.raises(LaunchError, match="argument factor is a ndarray"):
        scale[1, 1](x, x)


def test_a_signature_for_one_order_takes_no_other():
    @cuda.jit("(float32[::1, :],)")
    def first_column(x):
        x[cuda.threadIdx.x, 0] = 1

    columns = np.zeros((4, 4), np.float32, order="F")
    first_column[1, 4](columns)
    assert columns[:, 0].tolist() == [1, 1, 1, 1]
    with pytest.raises(LaunchError, match="order"):
        first_column[1, 4](np.zeros((4, 4), np.float32))


def test_the_overloads_of_a_kernel_are_its_signatures():
    types = {signature[1] for signature in product.overloads}
    assert types == {float32, float64}
    assert scale.overloads[(float32[:], int32)].max_cooperative_grid_blocks(1024) == 264


def test_a_launch_adds_its_types_to_the_overloads():
    @cuda.jit
    def store(x, a):
        x[0] = a

    store[1, 1](cuda.device_array(1), np.int32(5))
    assert list(store.overloads) == [(float64[::1], int32)]


def test_a_specialised_kernel_takes_its_own_types():
    @cuda.jit
    def halve(x, a):
        x[0] = a / 2

    special = halve.specialize(np.zeros(1), 3)
    assert special.specialized
    assert halve.specialize(np.zeros(1), 4) is special
    assert launched(special, np.zeros(1), 3)[0] == 1.5
    with pytest.raises(LaunchError, match="argument a is a float"):
        special[1, 1](np.zeros(1), 3.5)


def test_what_needs_machine_code_is_refused_and_ptx_is_given():
    with pytest.raises(LaunchError, match=r"get_regs_per_thread of scale needs machine code"):
        scale.get_regs_per_thread()
    with pytest.raises(LaunchError, match=r"regs_per_thread of scale needs machine code"):
        _ = scale.overloads[(float32[:], int32)].regs_per_thread
    (ptx,) = scale.inspect_asm().values()
    assert ".visible .entry" in ptx
