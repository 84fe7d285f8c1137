"""A reader's micro-kernel in a product: right for any shape, and no speed for a wrong one."""

import numpy as np
import pytest
from numba import float32, njit

from gemm_kernels.cpu.tuning import reader_kernel
from labs import micro_kernel_at_work as at_work
from labs.exercises import find
from utils.errors import CourseError
from utils.intrinsics.simd import broadcast, fmadd, loadu, set1, storeu
from utils.ladder.problems import draw
from utils.measuring.timing import Timing

SOLUTION = find("micro_kernel").solution


@njit
def twice_the_first_row(a, b, c):
    for lane in range(8):
        c[lane] = c[lane + 8] = a[0] * b[lane]


@njit
def loads_b_twice(a, b, c):
    c0 = c1 = set1(float32(0), 8)
    for p in range(a.size // 2):
        c0 = fmadd(broadcast(a, 2 * p, 8), loadu(b, 8 * p, 8), c0)
        c1 = fmadd(broadcast(a, 2 * p + 1, 8), loadu(b, 8 * p, 8), c1)
    storeu(c, 0, c0)
    storeu(c, 8, c1)


@pytest.fixture
def one_millisecond_each(monkeypatch):
    def timed(rivals, repetitions, repetition_ms):
        return [Timing(1.0, 1.0, 1.0, repetitions, 1) for _ in rivals]

    monkeypatch.setattr(reader_kernel, "time_cpu", timed)


def test_a_product_with_the_solution_is_right_at_any_shape():
    product = reader_kernel.product_with(SOLUTION)
    for m, n, k in ((1, 1, 1), (17, 19, 23), (66, 9, 300), (130, 33, 257)):
        a, b = draw("integers", (m, k), 1), draw("integers", (k, n), 2)
        c = np.full((m, n), np.nan, np.float32)
        product(a, b, c)
        np.testing.assert_array_equal(c, a @ b)


def test_rates_are_work_over_time(one_millisecond_each):
    measured = reader_kernel.rates(SOLUTION, size=16)
    assert measured.products == (measured.numpy,)
    assert measured.alone == pytest.approx((100 * 2 * 2 * 8 * 256 / 1e6,))
    assert measured.numpy == pytest.approx(2 * 16**3 / 1e6)
    assert measured.fma_loop == pytest.approx(reader_kernel.fma_loop_flops(8) / 1e6)


def test_a_wrong_micro_kernel_has_no_speed():
    with pytest.raises(CourseError, match=r"the product at 16×16×16 is wrong"):
        reader_kernel.rates(twice_the_first_row, size=16)


def test_several_micro_kernels_have_a_rate_each(one_millisecond_each):
    measured = reader_kernel.rates(SOLUTION, loads_b_twice, size=16)
    assert measured.products == (measured.numpy, measured.numpy)
    assert measured.alone[0] == measured.alone[1]


@pytest.mark.parametrize(
    "submission, heading",
    [
        (SOLUTION, "your micro_kernel"),
        (loads_b_twice, "your micro_kernel"),
        (twice_the_first_row, "yours is not finished yet"),
        (None, "yours is not finished yet"),
    ],
)
def test_a_lesson_goes_on_with_the_solution_where_the_readers_is_wrong(
    submission, heading, one_millisecond_each, monkeypatch
):
    monkeypatch.setattr(at_work, "SIZE", 32)
    solution = find("four_sums").solution
    drawn = at_work.at_work(micro_kernel=submission, four_sums=solution).body
    words = (heading, "your four_sums", "nothing but multiply-adds with vectors of 8", "by NumPy")
    assert [one for one in words if one not in drawn] == []
    assert ", 100%" in drawn
