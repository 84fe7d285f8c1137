"""Check the claims of lesson 21 against counts, machine code and records."""

import numpy as np
import pytest

from gemm_kernels import LADDER as GEMM
from labs.exercises.attainable.solution import attainable
from latency_kernels import LADDER as LATENCY
from reduce_kernels import LADDER as REDUCE
from tools.records import counted_steps as counting
from utils import lessons as course
from utils.ladder.explain import trace_step
from utils.ladder.shapes import GemmShape
from utils.ladder.tasks import ERROR_PER_ROOT_K
from utils.lessons import profiler
from utils.lessons.compiled_loops import recorded_loop
from utils.lessons.lesson_21 import roofline_analysis
from utils.lessons.lesson_21.counted_steps import (
    ceilings,
    counts_of,
    recorded_counts,
    recorded_of,
)
from utils.machine import devices
from utils.measuring import records, roofline

NAIVE, TILED, STRIDED = (GEMM.step(name) for name in ("naive", "tiled", "naive_strided"))
PROFILED = [GEMM.step(name) for name in ("naive", "tiled", "vectorized", "autotuned")]
AUTOTUNED = PROFILED[-1]
SHOWN = ("naive", "tiled", "register_blocked", "vectorized", "warp_tiled", "autotuned")
H200 = devices.find("NVIDIA H200")


# ---- the counts that are kept ----


def test_every_recorded_product_is_counted():
    assert set(recorded_of(GEMM, "4096")) == {str(variant) for variant, _ in counting.steps()}


@pytest.mark.slow
@pytest.mark.parametrize("one", list(counting.steps()), ids=lambda one: str(one[0]))
def test_kept_counts_are_those_of_the_virtual_gpu(one):
    now, kept = counting.count(*one), recorded_counts()[str(one[0])]
    assert vars(kept) == pytest.approx(vars(now), rel=1e-6)


def test_naive_counted_now_has_two_wavefronts_for_a_multiply_add():
    now = roofline.counted(NAIVE.variant(), GEMM.parse("4096"), recorded_loop("naive").hot_loop)
    assert now.wavefronts == pytest.approx(counts_of(NAIVE).wavefronts, rel=1e-6)
    multiply_adds = now.flops / 2 / 32
    assert now.wavefronts / multiply_adds == pytest.approx(2, rel=1e-3)


# ---- the ridge and DRAM ----


def test_the_ceilings_and_the_ridge_are_those_of_the_text():
    rates = ceilings()
    assert f"{rates.gflops:,.0f}" == "65,108"
    assert f"{rates.gb_per_s['DRAM']:,.0f}" == "4,294"
    assert f"{rates.gb_per_s['L2']:,.0f}" == "10,231"
    assert f"{rates.gflops / rates.gb_per_s['DRAM']:.1f}" == "15.2"
    n = course.smallest_right_of_ridge()
    assert [each / 6 > rates.gflops / rates.gb_per_s["DRAM"] for each in (n - 1, n)] == [
        False,
        True,
    ]


def test_the_best_sums_lie_a_little_above_the_slope_and_the_products_far_right_of_the_ridge():
    slope = ceilings().gb_per_s["DRAM"]
    sums = roofline.points(REDUCE, "2^30", H200.name)
    rates = sums["gflops"] / sums["intensity"]
    assert 1 < rates.max() / slope < 1.15
    (copy,) = roofline.points(LATENCY, "2^30", H200.name).itertuples()
    assert (copy.label, copy.intensity) == ("copy", 1 / 8)
    assert counts_of(NAIVE).flops / counts_of(NAIVE).dram_bytes > 40 * 15.2


def test_three_matrices_have_201_mb_and_none_fits_into_l2():
    assert f"{3 * 4 * 4096**2 / 1e6:.0f}" == "201"
    assert f"{4 * 4096**2 / 1e6:.0f}" == "67"
    assert f"{H200.l2_kib * 1024 / 1e6:.0f}" == "63"


def test_tiled_moves_more_through_dram_than_naive_and_dram_is_no_limit():
    assert course.dram_over_least(TILED) > course.dram_over_least(NAIVE)
    assert counts_of(TILED).l2_bytes < counts_of(NAIVE).l2_bytes / 2
    moved = course.dram_over_least(TILED) * counts_of(TILED).dram_bytes
    assert f"{moved / 1e9:.1f}" == "8.5"
    assert f"{moved / 4_294 / 1e6:.1f}" == "2.0"
    assert f"{course.recorded_ms(TILED):.1f}" == "17.4"


# ---- the pipe to shared memory and L1 ----


def test_wavefronts_agree_within_6_percent_and_l2_within_a_third():
    for row in course.counted_and_profiled(*PROFILED).rows:
        l2, l2_profiled, wavefronts, profiled = map(float, row[1:])
        assert wavefronts == pytest.approx(profiled, rel=0.06)
        assert -0.09 < l2 / l2_profiled - 1 < 0.33, row
    (*_, (_, l2, profiled, *_)) = course.counted_and_profiled(*PROFILED).rows
    assert round(100 * (1 - float(l2) / float(profiled))) == 8


def test_the_first_half_of_the_ladder_is_limited_by_the_pipe_and_the_last_steps_are_not():
    steps = (GEMM.step(name) for name in ("tiled", "granularity", "ilp"))
    assert {roofline_analysis.busiest(step)[0] for step in steps} == {"shared memory and L1"}
    for name in ("warp_tiled", "async_copy", "register_banks", "autotuned"):
        assert roofline_analysis.busiest(GEMM.step(name))[0] == "issue slots"


def test_from_tiled_to_vectorized_all_but_one_reach_three_quarters_of_what_the_pipe_allows():
    recorded = recorded_of(GEMM, "4096")
    names = [kernel.partition(" ")[0] for kernel in recorded]
    shares = [
        roofline.times(recorded_counts()[kernel], ceilings())["shared memory and L1"] / ms
        for kernel, ms in recorded.items()
    ][names.index("tiled") : names.index("vectorized") + 1]
    assert sum(share < 0.745 for share in shares) == 1
    assert max(shares) < 1


def test_naive_strided_is_explained_if_each_cache_line_takes_a_wavefront():
    trace = trace_step(STRIDED.variant(), GemmShape(256, 256, 256), blocks=1)
    addresses = [np.array(trace.warp_access(name).addresses) for name in "ab"]
    sectors = sum(len(set(each // 32)) for each in addresses)
    lines = sum(len(set(each // 128)) for each in addresses)
    assert len(set(addresses[0] // 128)) == 32
    assumed = sectors / roofline.SECTORS_PER_WAVEFRONT
    assert lines / assumed == 4
    name, estimate = roofline_analysis.busiest(STRIDED)
    assert name == "shared memory and L1"
    assert 0.24 < estimate / course.recorded_ms(STRIDED) < 0.26
    assert 4 * estimate == pytest.approx(course.recorded_ms(STRIDED), rel=0.01)


def test_at_other_sizes_naive_strided_is_faster():
    frame = records.measured(H200.name, "gemm").query("step == 'naive_strided'")
    at_4096 = frame[(frame["m"] == 4096) & (frame["k"] == 4096)]["gflops"].max()
    assert frame["gflops"].max() > 1.5 * at_4096


# ---- the exercise ----


def test_from_32_l2_and_from_64_even_dram_is_no_limit():
    def allowed(side, rate):
        return attainable(side, side, 65_108, rate)

    assert [allowed(side, 10_231) == 65_108 for side in (16, 32)] == [False, True]
    assert [allowed(side, 4_294) == 65_108 for side in (32, 64)] == [False, True]


# ---- counts, times, and the profiler ----


def test_naive_needs_two_resources_equally_long_and_waits_for_loads():
    needed = roofline.times(counts_of(NAIVE), ceilings())
    assert needed["issue slots"] == pytest.approx(needed["shared memory and L1"], rel=0.01)
    for name in ("Issue Slots Busy", "L1/TEX Cache Throughput"):
        assert 57 < profiler.figure(NAIVE, name) < 61
    reason, share = profiler.most_frequent_wait(NAIVE)
    assert (reason, f"{share:.0%}") == ("long_sb", "80%")


def test_busy_by_count_and_by_the_profiler_agree_within_6_points():
    for step in PROFILED:
        _, ms = roofline_analysis.busiest(step)
        assert 100 * ms / course.recorded_ms(step) == pytest.approx(
            roofline_analysis.profiled_busy(step), abs=6
        )
    assert profiler.most_frequent_wait(TILED)[0] == "mio"
    assert roofline_analysis.busiest(AUTOTUNED)[0] == "issue slots"


def test_two_of_three_samples_of_naive_stand_at_its_first_multiply_add():
    rows = profiler.sampled(NAIVE)
    first = next(row for row in rows if row.opcode == "FFMA")
    assert first.reason == "long_sb"
    total = sum(row.samples for row in rows)
    assert 0.62 < first.samples / total < 0.68
    loads = sum(row.samples for row in rows if row.opcode.startswith("LDG"))
    assert loads / total < 0.1


def test_no_estimate_is_above_its_record_and_the_shown_ones_are_between_61_and_92_percent():
    times = recorded_of(GEMM, "4096")
    for kernel, ms in times.items():
        assert roofline_analysis.busiest(GEMM.step(kernel.partition(" ")[0]))[1] <= ms
    shares = [
        roofline_analysis.busiest(GEMM.step(name))[1] / course.recorded_ms(GEMM.step(name))
        for name in SHOWN
    ]
    assert (f"{min(shares):.0%}", f"{max(shares):.0%}") == ("61%", "92%")


# ---- a CPU or a GPU ----


def test_the_best_versions_and_the_libraries_are_almost_level_and_the_first_versions_are_not():
    core, gpu = roofline_analysis.shares_of_peaks(NAIVE).values()
    assert abs(core["best version"] - gpu["best version"]) < 0.05
    assert abs(core["library"] - gpu["library"]) < 0.06
    assert gpu["first version"] > 20 * core["first version"]
    assert course.nearer_to_its_peak(NAIVE) == "one core of the CPU"
    assert f"{roofline_analysis.CORE_PEAK:.0f}" == "253"
    # SMs, lanes, operations per multiply-add, GHz.
    assert H200.fp32_gflops == 66_900 == round(132 * 128 * 2 * 1.98, -2)


# ---- what still limits it, and the exercises ----


def test_of_what_is_above_the_arithmetic_about_half_can_be_counted():
    resource_times = roofline.times(counts_of(AUTOTUNED), ceilings())
    arithmetic, slots, record = (
        resource_times["arithmetic"], resource_times["issue slots"], course.recorded_ms(AUTOTUNED),
    )  # fmt: skip
    assert f"{arithmetic:.2f}" == "2.11"
    assert f"{slots - arithmetic:.2f}" == "0.24"
    assert f"{record - slots:.2f}" == "0.20"
    assert 0.45 < (slots - arithmetic) / (record - arithmetic) < 0.6


def test_a_sum_of_matrices_reaches_half_a_percent_of_the_peak():
    assert f"{4_294 / 12:.0f}" == "358"
    assert 0.005 < 4_294 / 12 / 66_900 < 0.0055


def test_a_fused_and_an_unfused_sum_differ_in_their_last_digits():
    a, b = np.random.default_rng(21).random((2, 512), dtype=np.float32)
    fused = separate = np.float32(0)
    for x, y in zip(a, b, strict=True):
        fused = np.float32(float(fused) + float(x) * float(y))
        separate = np.float32(separate + np.float32(x * y))
    exact = float(a.astype(np.float64) @ b)
    off = [f"{abs(one - exact) / exact:.1e}" for one in (fused, separate)]
    assert off == ["4.9e-07", "5.5e-07"]
    assert f"{ERROR_PER_ROOT_K * 1024**0.5:.1e}" == "3.2e-05"


def test_the_smaller_gpu_needs_a_tile_of_512():
    assert 4 * 20_000 / 300 > 256
    assert attainable(512, 512, 20_000, 300) == 20_000 > attainable(256, 256, 20_000, 300)
