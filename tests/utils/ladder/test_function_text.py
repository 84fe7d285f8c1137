import math

import numpy as np
import pytest
from numba import cuda, float32

from utils.errors import CourseError
from utils.ladder.function_text import module_of, name_of, text_of
from virtual_gpu import trace

WIDTH = 16
FACTOR = np.float32(2)
SIZES = (2, 3)
x = np.zeros(3)  # a parameter and an attribute of the kernels have this name, too


@cuda.jit(device=True)
def doubled(value):
    return value * FACTOR


@cuda.jit
def kernel(x, out):
    shared = cuda.shared.array(WIDTH, float32)
    i = cuda.threadIdx.x
    shared[i] = doubled(x[i]) + float32(math.sqrt(WIDTH)) + SIZES[1]
    cuda.syncthreads()
    out[i] = shared[WIDTH - 1 - i]


def built(width):
    @cuda.jit
    def reverse(x, out):
        i = cuda.threadIdx.x
        out[i] = x[width - 1 - i]

    return reverse


def undecorated(x, out):
    out[cuda.threadIdx.x] = x[cuda.threadIdx.x]


table = np.arange(4)


@cuda.jit
def of_an_array(x, out):
    out[0] = table[1]


def results(one):
    values, out = np.arange(WIDTH, dtype=np.float32), np.full(WIDTH, np.nan, np.float32)
    assert not trace(one, 1, WIDTH, values, out).findings
    return out


@pytest.mark.parametrize("one", [kernel, built(WIDTH), cuda.jit(undecorated)])
def test_a_kernel_made_again_from_its_text_computes_the_same(one):
    name = one.py_func.__name__
    again = getattr(module_of("again", text_of(one)), name)
    np.testing.assert_array_equal(results(again), results(one))


def test_the_text_has_what_the_kernel_uses_and_nothing_else():
    text = text_of(kernel)
    assert text.startswith("from numba import cuda, float32\nimport math\nimport numpy as np\n\n")
    assert "WIDTH = 16\n" in text
    assert "x = " not in text.partition("def doubled")[0]


def test_the_text_of_a_module_made_of_a_text_is_the_same():
    text = text_of(kernel)
    assert text_of(module_of("again", text).kernel) == text


def test_what_a_text_cannot_hold_is_named():
    with pytest.raises(CourseError, match="`of_an_array` uses `table`, a ndarray"):
        text_of(of_an_array)


def with_own_names(values, factor=WIDTH):
    table = lambda x: x + WIDTH  # noqa: E731
    kernel, other = (x * factor for x in values)
    return sum(table(x) for x in [kernel, *(x for x in (other,) if x)])


def test_the_own_variables_of_comprehensions_and_nested_functions_are_not_kept():
    text = text_of(with_own_names)  # `x` and `table` are arrays of this module, too
    assert text.startswith("WIDTH = 16\n\n\ndef with_own_names")
    assert module_of("again", text).with_own_names((1, 2)) == with_own_names((1, 2))


def a_comprehension_and_an_array(values):
    return [table for table in values], [table[0] for _ in values]


def test_a_name_that_is_own_in_one_scope_only_is_still_named():
    with pytest.raises(CourseError, match="uses `table`, a ndarray"):
        text_of(a_comprehension_and_an_array)


half = lambda value: value / 2  # noqa: E731, a student may write it so
other_name = half


def countdown(value):
    return 0 if value <= 0 else countdown(value - other_name(4))


@pytest.mark.parametrize("one, arguments", [(half, (6,)), (countdown, (5,))])
def test_lambdas_second_names_and_functions_that_call_themselves_are_kept(one, arguments):
    again = getattr(module_of("again", text_of(one)), name_of(one))
    assert again(*arguments) == one(*arguments)


def test_a_lambda_without_a_name_is_refused_in_one_sentence():
    functions = [lambda value: value]
    with pytest.raises(CourseError, match="without a name cannot be kept: write line"):
        name_of(functions[0])
