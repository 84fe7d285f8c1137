"""`sgemm` and `reduce` with the kernels of two compilers: what is run before a device is needed."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.tools.test_compiler_times import other  # noqa: F401
from tools.records.compiler_calls import (
    LENGTHS,
    PRODUCTS,
    CompilerCase,
    all_cases,
    measured,
    product_case,
    reduction_cases,
    require_right,
)
from utils.compilers.choice import NUMBA_CUDA
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.lessons.lesson_16.compiler_times import CALLS
from utils.measuring.as_called import Called

A, B, X = draw("integers", (5, 6), 1), draw("integers", (6, 7), 2), draw("integers", 999, 3)
CASES = (
    CompilerCase("sgemm", (5, 7, 6, None), "rows, rows", lambda each: partial(each.sgemm, A, B)),
    CompilerCase("reduce", (None, None, None, 999), "rows", lambda each: partial(each.reduce, X)),
)


def called_once(results: list):
    """Return a function like `compared` that calls each rival once and keeps what it returns."""

    def compare(rivals, generator):
        results.extend(call() for call in rivals.values())
        return {name: Called(1.0, number) for number, name in enumerate(rivals, start=2)}

    return compare


def test_each_function_is_called_with_the_kernels_of_both_compilers(other):  # noqa: F811
    results = []
    rows = list(measured("a GPU", [NUMBA_CUDA, other], CASES, called_once(results)))
    for product in results[:2]:
        np.testing.assert_array_equal(product, A @ B)
    assert results[2:] == [X.sum()] * 2
    assert [(row.function, row.size, row.compiler, row.time_us) for row in rows] == [
        ("sgemm", "5×7×6", "numba-cuda", 2), ("sgemm", "5×7×6", "numba", 3),
        ("reduce", "999", "numba-cuda", 2), ("reduce", "999", "numba", 3),
    ]  # fmt: skip


def test_a_function_with_a_wrong_result_is_not_timed():
    def wrong(x):
        return x.sum() + 1

    products = SimpleNamespace(sgemm=np.matmul)
    require_right("a compiler", products, SimpleNamespace(reduce=np.sum))
    with pytest.raises(CourseError, match="kernels of a compiler gives a wrong result"):
        require_right("a compiler", products, SimpleNamespace(reduce=wrong))


def test_a_case_binds_the_matrices_and_numbers_of_its_module():
    module = SimpleNamespace(
        matrix=lambda *given: given, sgemm=lambda *given: given,
        memory=lambda: X, reduce=lambda x, out=None: (x.size, out is None),
    )  # fmt: skip
    call = product_case(GemmShape(2, 3, 4), "columns", "gaps").bind(module)
    assert call() == ((0, (2, 4), "columns"), (1, (4, 3), "gaps"), (2, (2, 3), "rows"))
    waiting, into_out = (case.bind(module) for case in reduction_cases(10))
    assert (waiting(), into_out()) == ((10, True), (10, False))


def test_cases_are_products_and_both_ways_to_reduce():
    functions = [case.function for case in all_cases()]
    assert functions.count("sgemm") == len(PRODUCTS)
    assert functions.count("reduce") == functions.count("reduce into out") == len(LENGTHS)


def test_the_record_is_described():
    text = (Path(__file__).parents[2] / "data" / "README.md").read_text(encoding="utf-8")
    assert CALLS in text
