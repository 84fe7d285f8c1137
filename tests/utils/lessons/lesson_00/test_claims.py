"""Check the claims of lesson 00 against counts of the virtual GPU, records and data sheets."""

import numpy as np
import pandas as pd
import pytest
from numba import cuda, float32

from gemm_kernels import LADDER as GEMM
from latency_kernels import LADDER as LATENCY
from reduce_kernels import LADDER as REDUCE
from utils.lessons import per_request
from utils.lessons.lesson_00.published_and_recorded import STEP_NAMES
from utils.machine import devices
from utils.measuring import records
from virtual_gpu import trace

H200, C2070 = devices.find("H200"), devices.find("C2070")


@cuda.jit
def add_one(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + float32(1)


@cuda.jit
def add_one_guarded(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + float32(1)


@cuda.jit
def apart(x, words, out):
    i = cuda.grid(1)
    out[i] = x[words * i]


@cuda.jit
def shifted(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i + 1]


@cuda.jit
def who_am_i(out):
    out[cuda.blockIdx.x, cuda.threadIdx.x] = cuda.grid(1)


@cuda.jit
def add_plain_one(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + 1


def floats(length, dtype=np.float32):
    return np.zeros(length, dtype)


def loads(traced, array="x"):
    return traced.accesses.query("array == @array and kind == 'load'").iloc[0]


def test_thread_5_of_block_2_has_element_517():
    out = np.zeros((4, 256), np.int64)
    trace(who_am_i, 4, 256, out)
    assert out[2, 5] == 517


def test_a_plain_1_makes_the_sum_float64():
    assert trace(add_plain_one, 1, 32, floats(32), floats(32)).totals["float64_ops"] == 32
    assert trace(add_one, 1, 32, floats(32), floats(32)).totals["float64_ops"] == 0


def test_a_full_warp_reads_neighbours_with_4_sectors_and_uses_every_byte():
    count = loads(trace(add_one, 4, 256, floats(1024), floats(1024)))
    assert (count["requests"], count["sectors"], count["bytes"]) == (32, 128, 128 * 32)


@pytest.mark.parametrize("words, sectors", [(1, 4), (4, 16), (7, 28), (8, 32), (9, 32), (32, 32)])
def test_sectors_grow_with_the_distance_of_lanes_up_to_one_per_lane(words, sectors):
    traced = trace(apart, 4, 256, floats(1024 * words), words, floats(1024))
    assert per_request(traced, "x") == sectors


def test_without_a_guard_24_of_1024_threads_leave_an_array_of_1000():
    findings = trace(add_one, 4, 256, floats(1000), floats(1000)).findings
    assert [(one.kind, one.array, one.threads_in_all) for one in findings] == [
        ("out_of_bounds", "x", 24),
        ("out_of_bounds", "out", 24),
    ]
    assert findings[0].index == (1000,)


def test_with_a_guard_32_requests_bring_125_sectors_and_8_lanes_are_left_for_the_last():
    traced = trace(add_one_guarded, 4, 256, floats(1000), floats(1000))
    assert not traced.findings
    assert (loads(traced)["requests"], loads(traced)["sectors"]) == (32, 125)
    assert (traced.requests("x", first=64)[-1] >= 0).sum() == 8


def test_exercise_1_a_shift_by_one_costs_a_fifth_sector():
    assert per_request(trace(shifted, 4, 256, floats(1025), floats(1024)), "x") == 5


def test_exercise_2_float64_costs_8_sectors():
    wide = floats(1024, np.float64)
    assert per_request(trace(add_one_guarded, 4, 256, wide, wide.copy()), "x") == 8


def test_exercise_3_blocks_of_100_need_40_requests():
    assert loads(trace(add_one_guarded, 10, 100, floats(1000), floats(1000)))["requests"] == 40


def test_exercise_4_on_a_t4_arithmetic_is_the_limit():
    t4, operations, moved = devices.find("T4"), 2 * 4096**3, 3 * 4 * 4096**2
    assert (t4.sms, t4.fp32_lanes_per_sm, t4.boost_clock_mhz, t4.peak_gflops) == (
        40, 64, 1590, 8100,
    )  # fmt: skip
    assert t4.computed_gflops() == pytest.approx(8141, abs=1)
    assert operations / t4.peak_gflops / 1e6 == pytest.approx(17.0, abs=0.05)
    assert moved / t4.peak_gb_per_s / 1e6 == pytest.approx(0.63, abs=0.005)


def test_the_h200_of_the_third_prediction():
    assert (H200.sms, H200.fp32_lanes_per_sm, H200.boost_clock_mhz) == (132, 128, 1980)


def test_a_sum_comes_nearer_to_the_data_sheet_than_a_copy():
    def most(ladder, step):
        frame = records.measured(H200.name, ladder.name)
        return frame.loc[frame["step"] == step, "gb_per_s"].max()

    assert most(LATENCY, "copy") < most(REDUCE, "reduce_atomic") < H200.memory_gb_per_s


def test_a_number_that_counts_with_2_to_the_30_times_1_074_is_one_that_counts_with_10_to_the_9():
    assert round(2**30 / 10**9, 3) == 1.074


def test_a_product_at_4096_has_137_giga_operations():
    operations = 2 * 4096**3
    assert operations / 1e9 == pytest.approx(137, abs=0.5)


def published(step: str) -> pd.DataFrame:
    frame = records.published("gemm_gpu").replace({"kernel": STEP_NAMES})
    return frame[(frame["kernel"] == step) & frame["gflops"].notna()]


def published_gflops(step: str) -> float:
    """Return the best published speed of a step on the C2070, in GFLOP/s (10^9 per second)."""
    rows = published(step).query("device == 'C2070'")
    assert set(rows["gflops_base"]) == {"2^30"}
    return rows["gflops"].max() * 2**30 / 1e9


def recorded_gflops(step: str) -> pd.Series:
    """Return GFLOP/s by size of square products, with the fastest constants."""
    frame = records.measured(H200.name, GEMM.name)
    frame = frame[(frame["step"] == step) & (frame["m"] == frame["n"]) & (frame["n"] == frame["k"])]
    return frame.groupby("n")["gflops"].max()


def test_a_source_measured_naive_on_one_gpu_and_tiled_on_three():
    assert set(published("naive")["device"]) == {"C2070"}
    assert "C2070" in set(published("tiled")["device"])
    assert published("tiled")["device"].nunique() == 3
    assert published("tiled")["source"].nunique() == 1


def test_tiling_brought_2_8_times_then_and_1_2_times_now():
    naive, tiled = recorded_gflops("naive"), recorded_gflops("tiled")
    then = published_gflops("tiled") / published_gflops("naive")
    assert then == pytest.approx(2.8, abs=0.05)
    assert tiled.max() / naive.max() == pytest.approx(1.2, abs=0.05)
    assert naive.idxmax() == tiled.idxmax() == 2048
    assert tiled[4096] / naive[4096] == pytest.approx(1.6, abs=0.05)


def test_at_2048_three_matrices_fit_the_large_cache_and_at_4096_not_even_one():
    mib = 2**20
    cache = H200.l2_kib * 1024
    assert cache == 60 * mib
    assert 3 * 4 * 2048**2 == 48 * mib < cache
    assert 4 * 4096**2 == 64 * mib > cache
    assert C2070.l2_kib * 1024 < mib
    assert C2070.year == 2010


def test_the_simplest_kernel_is_a_hundred_times_as_fast_as_then():
    ratio = recorded_gflops("naive").max() / published_gflops("naive")
    assert ratio == pytest.approx(100, rel=0.1)


def test_the_dashed_curve_is_above_the_first_steps_and_the_last_one_is_near_it():
    frame = records.measured(H200.name, GEMM.name)
    fastest = records.fastest(frame[frame["n"] == 4096], ("step",)).set_index("step")
    ratios = fastest["library_ratio"]
    assert max(ratios["naive"], ratios["tiled"]) < 0.2
    assert ratios["autotuned"] > 0.95
