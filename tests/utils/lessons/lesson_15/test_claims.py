"""Check the figures and comparisons in lesson 15 against counts and records."""

from functools import cache

import pytest

from gemm_kernels import LADDER
from gemm_kernels.parts import lane_maps
from gpu_xray import xray
from utils import lessons as course
from utils.lessons.edits import Edit, edited, source_of
from utils.lessons.lesson_15.thread_bits import quad_of
from utils.lessons.lesson_15.tile_designs import (
    bandwidth_needed,
    busy_fraction,
    bytes_per_multiply_add,
)
from utils.lessons.lesson_15.tile_reads import draw_two_designs
from utils.lessons.shared_reads import SHAPE
from utils.machine import devices
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import occupancy
from utils.measuring import records

SMALL, LARGE, WARP_TILED = (LADDER.step(name) for name in ("maxwell64", "maxwell256", "warp_tiled"))
H200 = devices.find(REFERENCE)
SIZES = (256, 512, 1024, 2048, 4096, 8192)
slow = pytest.mark.slow


@cache
def run_of(name, shape="128x128x8"):
    return course.watch(LADDER.step(name), shape)


def recorded(step, n, column="time_ms"):
    """Return the H200's value with default constants, regardless of this machine's records."""
    frame = records.measured(REFERENCE, "gemm")
    same = (frame["step"] == step.name) & (frame["params"] == (step.variant().params or ""))
    size = (frame["m"] == n) & (frame["n"] == n) & (frame["k"] == n)
    return float(frame[same & size][column].iloc[0])


def blocks(step, n):
    return step.variant().launch(LADDER.parse(str(n))).blocks


def test_the_large_design_is_faster_from_2048_on_and_the_small_one_below():
    assert [n for n in SIZES if recorded(LARGE, n) < recorded(SMALL, n)] == [2048, 4096, 8192]
    gains = [recorded(LARGE, n) / recorded(SMALL, n) for n in (256, 512, 1024)]
    assert gains == pytest.approx([1.65] * 3, abs=0.06)


def test_small_tiles_lose_5_percent_at_2048_and_1_at_8192():
    assert recorded(SMALL, 2048) / recorded(LARGE, 2048) == pytest.approx(1.05, abs=0.005)
    assert recorded(SMALL, 8192) / recorded(LARGE, 8192) == pytest.approx(1.01, abs=0.005)


def test_the_picture_counts_512_words_and_256():
    assert "64×64 read 512 words" in str(draw_two_designs())
    assert "128×128 reads 256 words" in str(draw_two_designs())


@slow
@pytest.mark.parametrize("step, side", [(SMALL, 64), (LARGE, 128)])
def test_a_multiply_add_costs_as_many_bytes_as_the_formula_says(step, side):
    totals = run_of(step.name).totals
    assert totals["global_load_bytes"] / (128 * 128 * 8) == bytes_per_multiply_add(side)
    assert bytes_per_multiply_add(side) == 0.125 * 64 / side


def test_gray_calculates_285_gib_and_the_data_sheet_has_224_gb():
    gb_per_s = 64 * 128 * 16 * 1.216 / 520
    assert round(gb_per_s * 0.931) == course.claimed("maxas, 64 threads: memory bandwidth needed")
    assert course.claimed("maxas: memory bandwidth of the device") == 224
    assert course.claimed("maxas: clocks of one turn of the main loop") == 520
    assert (2 * 64 * 8) * 4 / 64 == 64  # bytes of a thread in one turn of 8 steps of k
    assert 8 * 64 == 512  # multiply-adds
    assert "BM, BN, BK, TM, TN = 64, 64, 8, 8, 8" in source_of(SMALL.file)
    assert round(1e9 / 2**30, 3) == 0.931
    assert devices.find("GM204 (Maxwell)") == devices.find("GTX 980")


@pytest.mark.parametrize(
    "name, small_fits, large_fits",
    [("GTX 980", False, True), ("GTX 750 Ti", True, True), ("GTX TITAN X", False, True),
     ("H200", True, True)],
)  # fmt: skip
def test_whom_the_designs_suit(name, small_fits, large_fits):
    device = devices.find(name)
    for side, fits in ((64, small_fits), (128, large_fits)):
        assert (bandwidth_needed(side, device.fp32_gflops) <= device.memory_gb_per_s) == fits


def test_the_gm200_got_as_many_more_lanes_as_bandwidth():
    old, new = devices.find("GTX 980"), devices.find("GTX TITAN X")
    lanes = new.sms * new.fp32_lanes_per_sm / (old.sms * old.fp32_lanes_per_sm)
    assert lanes == 1.5
    assert new.memory_gb_per_s / old.memory_gb_per_s == pytest.approx(1.5, abs=0.005)


def test_blocks_fill_the_sms_by_the_count_as_the_prose_says():
    assert H200.sms - blocks(LARGE, 1024) == 68
    for n in (2048, 4096, 8192):
        assert min(busy_fraction(blocks(step, n), H200.sms) for step in (SMALL, LARGE)) > 0.965
    for n in (256, 512):
        shares = [busy_fraction(blocks(step, n), H200.sms) for step in (SMALL, LARGE)]
        assert shares[0] / shares[1] == 4


def test_at_the_recorded_rate_the_small_design_needs_half_of_the_bandwidth():
    needed = bandwidth_needed(64, recorded(SMALL, 4096, "gflops"))
    assert 0.5 < needed / H200.memory_gb_per_s < 0.58


def test_the_bits_are_those_of_the_kernel_and_of_the_zig_zag():
    for t in range(64):
        assert quad_of(t) == (t >> 3 & 6 | t & 1, t >> 1 & 7)
    assert "across, down = t >> 1 & 7, t >> 3 & 6 | t & 1" in source_of(SMALL.file)
    zig_zag = lane_maps.zig_zag.py_func
    assert [quad_of(t) for t in range(32)] == [zig_zag(t) for t in range(32)]


def test_with_a_register_more_four_warps_of_a_scheduler_become_three_or_two():
    held = {
        (threads, registers): occupancy((5, 2), threads, registers, 128 * threads // 2).warps
        for threads in (64, 256) for registers in (128, 129)
    }  # fmt: skip
    assert held == {(64, 128): 16, (64, 129): 12, (256, 128): 16, (256, 129): 8}


@slow
def test_stores_of_c_take_the_fewest_sectors_by_two_ways():
    counts = {
        name: [run_of(name).totals[f"global_store_{what}"] for what in ("requests", "sectors")]
        for name in ("register_blocked", "warp_tiled", "maxwell256")
    }
    fewest = 128 * 128 * 4 // 32
    assert counts["warp_tiled"] == [128, fewest]
    assert counts["maxwell256"] == [512, fewest]
    assert counts["register_blocked"][1] == 8 * fewest


def test_maxwell256_is_5_percent_slower_than_warp_tiled():
    assert recorded(LARGE, 4096) / recorded(WARP_TILED, 4096) == pytest.approx(1.05, abs=0.01)


def test_the_zig_zag_made_warp_tiled_4_percent_slower():
    frame = records.measured(REFERENCE, "gemm")
    frame = frame[(frame["step"] == "warp_tiled") & (frame["m"] == 4096)]
    zig = frame[frame["params"] == WARP_TILED.variant(LANES=3).params]["time_ms"].iloc[0]
    assert zig / recorded(WARP_TILED, 4096) == pytest.approx(1.04, abs=0.008)


def test_c_is_written_in_14_us_which_is_less_than_half_a_percent():
    size = 4096**2 * 4
    assert round(size / 1e6) == 67
    microseconds = size / H200.memory_gb_per_s / 1e3
    assert round(microseconds) == 14
    assert microseconds / 1e3 / recorded(LARGE, 4096) < 0.005


@slow
def test_maxwell256_keeps_shared_memory_busy_for_half_of_the_time():
    needed = course.wavefronts_per_multiply_add(course.watch(LARGE, SHAPE))
    alone = needed * 4096**3 / 32 / H200.sms / (H200.boost_clock_mhz * 1e3)
    assert alone / recorded(LARGE, 4096) == pytest.approx(0.5, abs=0.02)


def test_up_to_1024_the_small_design_is_the_fastest_of_three_and_then_warp_tiled():
    for n in SIZES:
        best = min((SMALL, LARGE, WARP_TILED), key=lambda step: recorded(step, n))
        assert best is (SMALL if n <= 1024 else WARP_TILED)


def test_published_98_percent():
    frame = records.published("gemm_gpu")
    assert frame.loc[frame["kernel"] == "maxas", "efficiency_pct"].tolist() == [98]


def test_solution_1_tiles_of_96():
    assert bytes_per_multiply_add(96) == pytest.approx(0.083, abs=0.0005)
    assert bandwidth_needed(96, H200.fp32_gflops) == pytest.approx(2788, abs=1)


@slow
@pytest.mark.parametrize("words, wavefronts", [(64, 8), (72, 8), (80, 4)])
def test_solution_2_the_length_of_a_row(words, wavefronts):
    other = edited(LARGE.file, Edit("(WARPS, 4, 64)", f"(WARPS, 4, {words})"))
    store = course.per_request(course.watch(other.STEP, "128x128x8"), "rows", "wavefronts", "store")
    assert store == wavefronts


def test_solution_3_thread_200():
    t = 200
    assert (t >> 4 & 8 | t >> 1 & 7, t >> 3 & 14 | t & 1) == (12, 8)
    assert lane_maps.zig_zag.py_func(t) == (8, 12)


@slow
@pytest.mark.usefixtures("compiler")
def test_both_have_at_most_128_registers():
    for step in (SMALL, LARGE):
        assert xray(step.variant().kernel, step.signature, "sm_90").registers <= 128
