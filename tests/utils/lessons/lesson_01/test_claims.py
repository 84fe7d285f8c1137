"""Check the claims of lesson 01 against the records and the published sources."""

import statistics

import pytest

from gemm_kernels import LADDER
from gemm_kernels.dispatch.constants import choose
from gemm_kernels.parts.slices import cut
from labs import check
from labs.exercises import find
from labs.host.benchmark.faults import FEWEST
from latency_kernels import LADDER as LATENCY
from utils import lessons as course
from utils.division import cdiv
from utils.ladder.shapes import GemmShape
from utils.machine import devices
from utils.measuring import measure, pitfalls, records, timing

H200 = devices.find("NVIDIA H200")
SIZES = (256, 512, 1024, 2048, 4096)


def ms(kernel: str, size: int, timer: str) -> float:
    return course.recorded_series(kernel, size, timer).time_ms


def tiles_of_16():
    frame = records.published("gemm_gpu")
    return frame[(frame["device"] == "C2070") & (frame["block"] == "16x16")].iloc[0]


def test_a_product_has_two_operations_for_each_multiply_add():
    assert GemmShape(7, 5, 3).flops == 2 * 7 * 5 * 3


def test_the_kernel_of_the_first_prediction_takes_27_5_ms():
    assert course.recorded_ms(LADDER.step("naive")) == pytest.approx(27.5, abs=0.05)
    assert ms("naive", 4096, "wall") == pytest.approx(27.5, rel=0.01)


def test_a_launch_is_some_hundred_to_some_thousand_empty_calls():
    for empty_us in (0.03, 0.1):  # seen on computers of today
        assert 200 < 1000 * ms("naive", 256, "launch") / empty_us < 1000
        assert 1000 < 1000 * ms("naive", 4096, "launch") / empty_us < 5000


def test_without_waiting_a_large_product_looks_too_fast_and_a_small_one_too_slow():
    def rate(n, timer):
        return GemmShape(n, n, n).flops / ms("naive", n, timer) / 1e6

    assert rate(4096, "launch") > 10 * H200.peak_gflops
    assert ms("naive", 256, "launch") > ms("naive", 256, "hot")
    assert rate(256, "hot") / rate(256, "launch") == pytest.approx(1.6, abs=0.05)
    assert 1650 < ms("naive", 4096, "hot") / ms("naive", 256, "hot") < 1700
    assert 5 < ms("naive", 4096, "launch") / ms("naive", 256, "launch") < 6


def test_the_first_call_takes_far_longer_than_a_later_one():
    assert ms("naive", 256, "first") == pytest.approx(99, abs=0.5)
    assert ms("naive", 256, "wall") == pytest.approx(0.044, abs=0.0005)


def test_the_cache_of_the_h200_holds_three_small_matrices_and_not_three_large_ones():
    assert H200.l2_kib == 60 * 1024
    assert 3 * 4 * 256**2 < 2**20
    assert 3 * 4 * 4096**2 == 192 * 2**20


def test_cold_caches_cost_less_in_larger_products_but_for_1024():
    factors = {n: ms("naive", n, "cold") / ms("naive", n, "hot") for n in SIZES}
    others = [factors[n] for n in SIZES if n != 1024]
    assert others == sorted(others, reverse=True)
    assert factors[1024] > factors[512]


def test_one_long_time_moves_the_mean_and_not_the_median():
    times = [1.0] * 19 + [100.0]
    assert statistics.mean(times) == pytest.approx(5.95)
    assert statistics.median(times) == 1


def test_the_launch_lies_between_two_events_around_a_short_kernel():
    launch, own = (1000 * ms("naive", 256, timer) for timer in ("launch", "hot"))
    assert (launch, own) == (pytest.approx(25.7, abs=0.05), pytest.approx(16.5, abs=0.05))
    assert launch + own == pytest.approx(42.2, abs=0.05)
    assert launch + own == pytest.approx(1000 * ms("naive", 256, "events"), rel=0.05)
    assert launch > ms("naive", 256, "wall") * 1000 / 2  # most of a short kernel's time


def test_the_error_of_the_host_s_clock_depends_on_the_kernel_s_time():
    def over(kernel, n):
        return ms(kernel, n, "wall") / ms(kernel, n, "hot")

    own = {(kernel, n): ms(kernel, n, "hot") for kernel in ("naive", "autotuned") for n in SIZES}
    for case in (("naive", 2048), ("autotuned", 4096)):
        assert own[case] == pytest.approx(2.5, abs=0.05)
        assert over(*case) == pytest.approx(1.02, abs=0.005)
    assert all(over(*case) < 1.03 for case, time in own.items() if time > 2.45)
    short = [over(*case) for case, time in own.items() if time < 0.1]
    assert (min(short), max(short)) == (pytest.approx(1.5, abs=0.05), pytest.approx(13, abs=0.1))
    assert ms("naive", 4096, "wall") / ms("naive", 4096, "hot") < 1.005


def test_autotuned_is_two_kernels_at_256_and_512():
    for n in SIZES[:3]:
        shape = GemmShape(n, n, n)
        chosen = choose(shape)
        tiles = cdiv(n, chosen["BM"]) * cdiv(n, chosen["BN"])
        slots, steps = H200.sms * chosen["BLOCKS"], cdiv(n, chosen["BK"])
        assert (cut(tiles, slots, steps, chosen["SLICES"]).slices > 1) == (n < 1024)


def test_strips_of_the_kernel_alone_are_the_narrowest():
    def spread(timer):
        one = course.recorded_series("naive", 256, timer)
        return one.time_ms_max / one.time_ms_min

    assert max(spread("hot"), spread("cold")) < min(map(spread, ("launch", "wall", "events")))


def test_every_strip_has_the_repetitions_that_the_lesson_names():
    for timer in pitfalls.TIMERS:
        assert len(course.recorded_series("naive", 256, timer).times_us) == 20


def test_the_source_divides_by_2_to_the_30():
    tiled = tiles_of_16()
    per_second = 2 * 1024**3 / (tiled.time_ms / 1000)
    assert round(per_second / 2**30) == tiled.gflops == 165
    assert tiled.gflops_base == "2^30"
    assert pytest.approx(0.074, abs=0.0005) == 2**30 / 10**9 - 1
    frame = records.published("gemm_gpu")
    row = frame[(frame["device"] == "C2070") & (frame["block"] == "8x8")].iloc[0]
    assert (row.time_ms, row.gflops) == (20.0, 100)
    assert pytest.approx(107.4, abs=0.05) == 2 * 1024**3 / 0.0200 / 10**9


def test_the_course_measures_as_the_lesson_says():
    assert timing.REPETITIONS == FEWEST == 7
    assert timing.REPETITION_MS == 10
    assert measure.L2_TIMES >= 1
    assert LATENCY.step("copy").task.work(LATENCY.parse("2^28")).bytes


def test_the_solution_has_none_of_the_four_faults_and_the_starter_all():
    assert check("benchmark", find("benchmark").solution).passed
    starter = find("benchmark").starter_text
    assert "2**30" in starter
    assert "synchronize" not in starter
    assert "flush" not in starter
