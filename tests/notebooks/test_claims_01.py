"""What lesson 01 says in prose, held against the records and against what the sources print."""

import pytest

from gemm_kernels import LADDER
from labs import check
from labs.bank import find
from labs.benchmark.faults import FEWEST
from latency_kernels import LADDER as LATENCY
from utils import lessons as course
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


def test_without_waiting_a_large_product_passes_the_peak_and_a_small_one_does_not():
    def rate(n):
        return GemmShape(n, n, n).flops / ms("naive", n, "launch") / 1e6

    assert rate(4096) > 10 * H200.peak_gflops
    assert rate(256) < H200.peak_gflops / 10
    assert ms("naive", 256, "wall") / ms("naive", 256, "launch") == pytest.approx(1.7, abs=0.05)
    assert 600 < ms("naive", 4096, "wall") / ms("naive", 256, "wall") < 650
    assert 5 < ms("naive", 4096, "launch") / ms("naive", 256, "launch") < 6


def test_the_first_call_takes_far_longer_than_a_later_one():
    assert ms("naive", 256, "first") > 1000 * ms("naive", 256, "wall")


def test_the_cache_of_the_h200_holds_three_small_matrices_and_not_three_large_ones():
    assert H200.l2_kib == 60 * 1024
    assert 3 * 4 * 256**2 < 2**20
    assert 3 * 4 * 4096**2 == 192 * 2**20


def test_cold_caches_cost_most_at_256_and_nothing_at_4096():
    factors = {n: ms("naive", n, "cold") / ms("naive", n, "hot") for n in SIZES}
    assert max(factors, key=factors.get) == 256
    assert factors[4096] < 1.002
    assert factors[1024] > factors[512]
    hot, cold = (course.recorded_series("naive", 256, timer) for timer in ("hot", "cold"))
    assert hot.time_ms_max < cold.time_ms_min  # the strips do not touch


def test_after_a_pause_the_launch_takes_almost_four_times_as_long_at_the_same_clock():
    events, pause = (course.recorded_series("naive", 256, timer) for timer in ("events", "pause"))
    assert 3.5 < pause.time_ms / events.time_ms < 4
    assert 3.5 < pause.time_ms / ms("naive", 256, "wall") < 4
    assert pause.sm_clock_mhz == course.recorded_series("naive", 256, "wall").sm_clock_mhz == 1980


def test_the_host_s_clock_is_wrong_by_as_much_as_the_lesson_says():
    over = {n: ms("autotuned", n, "wall") / ms("autotuned", n, "hot") for n in SIZES}
    assert ms("autotuned", 4096, "hot") == pytest.approx(2.5, abs=0.05)
    assert over[4096] - 1 == pytest.approx(0.024, abs=0.0005)
    assert 1.7 < over[1024] < 2
    assert over[512] == pytest.approx(5, abs=0.2)
    assert ms("autotuned", 1024, "hot") < 0.1 < ms("autotuned", 2048, "hot")
    assert ms("naive", 4096, "wall") / ms("naive", 4096, "hot") < 1.005


def test_queued_repetitions_lie_closer_together_than_others():
    def spread(timer):
        one = course.recorded_series("autotuned", 256, timer)
        return one.time_ms_max - one.time_ms_min

    assert max(spread("hot"), spread("cold")) < min(
        spread("launch"), spread("wall"), spread("events")
    )


def test_every_strip_has_the_repetitions_that_the_lesson_names():
    for timer in pitfalls.TIMERS:
        assert len(course.recorded_series("naive", 256, timer).times_us) == 20
    assert pitfalls.PAUSE_S == 0.2


def test_the_source_divides_by_2_to_the_30():
    tiled = tiles_of_16()
    per_second = 2 * 1024**3 / (tiled.time_ms / 1000)
    assert round(per_second / 2**30) == tiled.gflops == 165
    assert tiled.gflops_base == "2^30"
    assert tiled.efficiency_pct == 16
    assert per_second / 10**9 / 1030 == pytest.approx(0.172, abs=0.0005)
    assert pytest.approx(0.074, abs=0.0005) == 2**30 / 10**9 - 1
    frame = records.published("gemm_gpu")
    row = frame[(frame["device"] == "C2070") & (frame["block"] == "8x8")].iloc[0]
    assert (row.time_ms, row.gflops) == (20.0, 100)
    assert pytest.approx(107.4, abs=0.05) == 2 * 1024**3 / 0.0200 / 10**9
    assert "peak 1030" in row.note


def test_the_gib_of_a_source_are_gb():
    claims = records.published("claims").set_index("claim")
    row = claims.loc["maxas: memory bandwidth of the device"]
    assert row.value == 224
    assert "prints GiB/s" in row.note
    assert pytest.approx(208.6, abs=0.05) == 224e9 / 2**30


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
