"""Functions that are defined within a kernel, and lambdas with a name."""

import numpy as np
import pytest
from numba import cuda, float32

from virtual_gpu import Unsupported, trace

SCALE = 3


@cuda.jit
def inner_functions(x, out):
    i = cuda.grid(1)
    offset = i * 10

    def shifted(value, by):
        total = value + by * SCALE + offset
        if total > 100:
            return 100
        return total

    def write(at, value):
        out[1, at] = value

    square = lambda v: v * v  # noqa: E731 - a kernel may hold one
    out[0, i] = shifted(x[i], 2) + square(i)
    offset = 1000
    write(i, (lambda v: v + offset)(x[i]))


def test_inner_functions_see_the_variables_around_them():
    x, out = np.arange(8.0), np.zeros((2, 8))
    assert trace(inner_functions, 1, 8, x, out).findings == ()
    i = np.arange(8)
    assert out[0].tolist() == (np.minimum(x + 6 + 10 * i, 100) + i * i).tolist()
    assert out[1].tolist() == (x + 1000).tolist()


@cuda.jit
def with_a_loop(out):
    i = cuda.threadIdx.x
    tile = cuda.shared.array(8, float32)
    tile[i] = i

    def total(first):
        result = float32(0)
        while first < 8:
            result += tile[first]
            first += 1
        return result

    cuda.syncthreads()
    out[i] = total(i)


def test_an_inner_function_reads_an_array_around_it():
    out = np.zeros(8, np.float32)
    assert trace(with_a_loop, 1, 8, out).findings == ()
    assert out.tolist() == [sum(range(i, 8)) for i in range(8)]


@cuda.jit
def calling_each_other(x, value, out):
    i = cuda.grid(1)
    scale = 3

    def scaled(value):
        return value * scale

    less = lambda a, b: scaled(a) - b  # noqa: E731 - a kernel may hold one

    def total(c):
        found = float32(0)
        for value in range(3):
            found += less(c, value) + (lambda q: scaled(q) + i)(value)
        return found

    scale = 5
    out[i] = total(x[i]) + value


def test_inner_functions_call_those_before_them():
    x, out = np.arange(8, dtype=np.float32), np.zeros(8)
    assert trace(calling_each_other, 1, 8, x, 7, out).findings == ()
    want = sum(5 * x - value + 5 * value + np.arange(8) for value in range(3)) + 7
    assert out.tolist() == want.tolist()


@cuda.jit
def beyond(x, out):
    def at(j):
        return x[j]

    def after(j):
        return at(j + 1)

    out[cuda.grid(1)] = after(cuda.grid(1))


def test_a_flaw_in_what_an_inner_function_calls_is_found_at_its_line():
    (finding,) = trace(beyond, 1, 8, np.zeros(8), np.zeros(8)).findings
    assert (finding.kind, finding.index) == ("out_of_bounds", (8,))
    assert finding.line == beyond.py_func.__code__.co_firstlineno + 3


def test_an_inner_function_calls_neither_itself_nor_one_behind_it():
    @cuda.jit
    def itself(out):
        def factorial(n):
            return 1 if n < 2 else n * factorial(n - 1)

        out[0] = factorial(4)

    @cuda.jit
    def behind(out):
        def first(n):
            return second(n)

        def second(n):
            return n

        out[0] = first(1)

    with pytest.raises(Unsupported, match="the name factorial is not defined"):
        itself[1, 1](np.zeros(1))
    with pytest.raises(Unsupported, match="the name second is not defined"):
        behind[1, 1](np.zeros(1))


@cuda.jit
def racing(out):
    def write(value):
        out[0] = value

    write(cuda.threadIdx.x)


def test_a_race_in_an_inner_function_is_found_at_its_line():
    (finding,) = trace(racing, 1, 4, out := np.zeros(1)).findings
    assert (finding.kind, finding.array) == ("race", "out")
    assert finding.site.source == "out[0] = value"
    assert out[0] in range(4)


def test_inner_functions_that_are_not_known_are_refused():
    @cuda.jit
    def default(out):
        def g(a, b=2):
            return a * b

        out[0] = g(3)

    @cuda.jit
    def too_many(out):
        def g(a):
            return a

        out[0] = g(3, 4)

    @cuda.jit
    def outwards(out):
        last = 0

        def g(a):
            nonlocal last
            last = a

        g(3)
        out[0] = last

    with pytest.raises(Unsupported, match="an inner function with a nonlocal variable"):
        outwards[1, 1](np.zeros(1))
    with pytest.raises(Unsupported, match="an inner function with defaults"):
        default[1, 1](np.zeros(1))
    with pytest.raises(Unsupported, match=r"does not fit g\(a"):
        too_many[1, 1](np.zeros(1))
