"""Check the claims of lesson 10 against machine code, counts and records."""

from functools import cache

import numpy as np
import pytest

from gemm_kernels import LADDER
from gpu_xray import xray
from labs import EXERCISES, check
from tests.labs.versions import changed
from utils import lessons as course
from utils.lessons.edits import Edit, edited
from utils.lessons.granularity import published_shares
from utils.machine import devices
from utils.machine.occupancy import occupancy
from utils.measuring import records
from virtual_gpu import trace

TILED, GRANULARITY = LADDER.step("tiled"), LADDER.step("granularity")
BY_TWO, BY_FOUR = (GRANULARITY.variant(GRAIN=grain, TILE=32) for grain in (2, 4))
GRAINS, TILES = (1, 2, 4), (8, 16, 32)
run_of = cache(course.watch)


def recorded(step, shape="4096"):
    return course.recorded_ms(step, shape)


def at_1024(**constants):
    return recorded(GRANULARITY.variant(**constants), "1024")


def published(device, kernel="granularity"):
    frame = records.published("gemm_gpu")
    return frame[(frame["device"] == device) & (frame["kernel"] == kernel)].set_index("grain")


# ---- the exercise and the change ----


@pytest.mark.slow
def test_a_word_written_twice_is_read_once_by_the_machine_code(compiler):
    twice = changed(
        "two_tiles",
        ("            from_a = tile_a[ty, i]\n", ""),
        ("from_a *", "tile_a[ty, i] *"),
    )
    loops = [
        xray(kernel, GRANULARITY.signature, "sm_90").hot
        for kernel in (EXERCISES["two_tiles"].solution, twice)
    ]
    assert loops[0].instructions["LDS"] == loops[1].instructions["LDS"]


@pytest.mark.slow
def test_all_steps_written_out_at_once_are_too_many_for_the_compiler(compiler):
    whole = edited(GRANULARITY.file, Edit("UNROLL = 8", "UNROLL = 32")).STEP
    loop, ladder_loop = course.hot_loop(whole.variant(GRAIN=4, TILE=32)), course.hot_loop(BY_FOUR)
    assert loop.per_multiply_add > ladder_loop.per_multiply_add


@pytest.mark.slow
def test_reads_of_sa_are_joined_without_the_word_for_alignment_too(compiler):
    without = edited(GRANULARITY.file, Edit(", alignment=16", "")).STEP
    loops = [course.hot_loop(step.variant(GRAIN=4, TILE=32)) for step in (GRANULARITY, without)]
    assert loops[0].opcodes == loops[1].opcodes
    assert all("LDS.128" in loop.opcodes for loop in (*loops, course.hot_loop(TILED)))


@pytest.mark.slow
def test_two_tiles_load_a_32nd_of_a_and_a_16th_of_b():
    counted = check("two_tiles", EXERCISES["two_tiles"].solution).counts
    assert counted["loads per multiply-add"] == 1 / 32 + 1 / 16 == 0.09375


@pytest.mark.slow
def test_a_block_with_grain_2_reads_96_and_384_words_for_twice_the_elements():
    small = edited(GRANULARITY.file, Edit("UNROLL = 8", "UNROLL = 4")).build(GRAIN=2, TILE=4)
    counts = []
    for kernel, grid in ((TILED.build(TILE=4), (2, 2)), (small, (1, 2))):
        accesses = trace(kernel, grid, (4, 4), *np.ones((3, 8, 8), np.float32), blocks=1).accesses
        loads = accesses[accesses["kind"] == "load"].groupby("space")["lanes"].sum()
        is_store = (accesses["kind"] == "store") & (accesses["space"] == "global")
        stores = accesses[is_store]["lanes"].sum()
        counts.append((loads["global"], loads["shared"], stores))
    assert counts == [(64, 256, 16), (96, 384, 32)]


# ---- counts and times ----


@pytest.mark.slow
def test_reads_of_shared_memory_fall_with_the_grain_and_those_of_b_stay():
    shown = course.words_per_multiply_add(tiled=TILED, grain_2=BY_TWO, grain_4=BY_FOUR)
    assert [row[1:] for row in shown.rows] == [
        ("2", "1/32", "1/32"),
        ("1.5", "1/64", "1/32"),
        ("1.25", "1/128", "1/32"),
    ]


@pytest.mark.slow
def test_the_machine_codes_wavefronts_are_those_of_the_profiler():
    for step in (TILED, BY_FOUR):
        assert course.machine_wavefronts(step) == pytest.approx(course.profiled_wavefronts(step))


@pytest.mark.slow
def test_a_word_of_sa_costs_half_a_wavefront_and_serves_as_many_as_the_grain():
    wavefronts = [course.machine_wavefronts(step) for step in (TILED, BY_TWO, BY_FOUR)]
    assert wavefronts == [1 + 0.5 / g + (1 + g) / (32 * g) for g in GRAINS]
    assert [f"{one:.2f}" for one in wavefronts] == ["1.56", "1.30", "1.16"]


@pytest.mark.slow
def test_the_time_of_the_wavefronts_of_tiled_is_12_8_ms():
    device = course.device_shown()
    assert (device.sms, device.boost_clock_mhz) == (132, 1980)
    each = 4096**3 / 32 / 132 / 1e6
    assert (round(each, 1), round(each * 1.5625, 1)) == (16.3, 25.4)
    assert round(25.4 / 1.98, 1) == 12.8
    ms = [course.shared_memory_ms(course.machine_wavefronts(s)) for s in (TILED, BY_FOUR)]
    assert [f"{one:.3g}" for one in ms] == ["12.8", "9.56"]


@pytest.mark.slow
def test_the_estimate_explains_most_of_each_time():
    shares = [
        course.shared_memory_ms(course.machine_wavefronts(step)) / recorded(step)
        for step in (TILED, BY_TWO, BY_FOUR)
    ]
    assert [round(share, 2) for share in shares] == [0.74, 0.84, 0.84]


@pytest.mark.slow
def test_the_record_gains_more_than_the_estimate():
    ratio = course.machine_wavefronts(TILED) / course.machine_wavefronts(BY_FOUR)
    assert round(ratio, 2) == 1.34
    assert round(recorded(TILED) / recorded(BY_FOUR), 2) == 1.54


@pytest.mark.slow
def test_instructions_become_fewer_too(compiler):
    """The count covers a whole tile, whose inner loop runs four times with grain 4."""
    loops = xray(BY_FOUR.kernel, GRANULARITY.signature, "sm_90").loops
    outer, inner = sorted(loops, key=lambda loop: loop.ffma)
    whole = (len(outer.body) + 4 * len(inner.body)) / (4 * inner.ffma)
    assert whole < course.hot_loop(BY_TWO).per_multiply_add
    assert course.hot_loop(BY_TWO).per_multiply_add < course.hot_loop(TILED).per_multiply_add


# ---- what it costs, published beside recorded ----


def test_on_the_k40_registers_leave_room_for_six_blocks_with_grain_4():
    k40 = published("Tesla K40")
    assert list(k40["registers"]) == [25, 32, 37]
    result = occupancy(devices.find("Tesla K40").compute_capability, 256, 37, 5120)
    assert (result.blocks, result.fraction, result.limit) == (6, 0.75, ("registers",))
    assert 6 * 5120 == 30 * 1024
    # 37 registers are allocated as 40, so a seventh block would not fit.
    assert occupancy(devices.find("Tesla K40").compute_capability, 256, 40, 5120).blocks == 6
    assert 6 * 256 * 40 == 6 * 10_240 <= 65_536 < 7 * 10_240
    assert list(k40["time_ms"]) == [5.36, 4.36, 3.92]


def test_on_the_h200_registers_and_occupancy_stay():
    rows = course.grain_costs(GRANULARITY, "Tesla K40", TILE=16).rows
    h200_rows = [row for row in rows if "H200" in row[0]]
    assert [row[1] for row in h200_rows] == ["31", "32", "32"]
    assert {row[4] for row in h200_rows} == {"100 %"}


def test_grain_4_gains_alike_with_tiles_of_16_and_on_the_h200_more_with_larger_ones():
    shares = published_shares("granularity").values()
    assert all(one[1] < one[2] < one[4] for one in shares)
    times = {tile: [at_1024(GRAIN=grain, TILE=tile) for grain in GRAINS] for tile in TILES}
    assert all(one > two > four for one, two, four in times.values())
    gains = [one[4] / one[1] for one in shares]
    gains += [times[tile][0] / times[tile][2] for tile in TILES]
    assert [f"{gain:.2f}" for gain in gains] == ["1.37", "1.40", "1.28", "1.35", "1.47"]


@pytest.mark.slow
def test_the_larger_tile_is_the_faster_one_with_every_grain():
    for grain in GRAINS:
        times = [recorded(GRANULARITY.variant(GRAIN=grain, TILE=tile), "1024") for tile in TILES]
        assert times == sorted(times, reverse=True)
    shares = [course.share_of_peak(GRANULARITY.variant(GRAIN=4, TILE=t), "1024") for t in TILES]
    assert [f"{share:.1%}" for share in shares] == ["9.3%", "15.2%", "17.5%"]
    for tile in TILES:
        run = run_of(GRANULARITY.variant(GRAIN=4, TILE=tile))
        words = run.accesses
        b_words = words[(words["array"] == "b") & (words["kind"] == "load")]["words"].sum()
        assert b_words / course.counting.multiply_adds(run) == 1 / tile


def test_small_problems_have_too_few_blocks():
    blocks = {size: BY_FOUR.launch(LADDER.parse(size)).blocks for size in ("256", "512", "1024")}
    assert blocks == {"256": 16, "512": 64, "1024": 256}
    for size in ("256", "512"):
        assert recorded(BY_FOUR, size) > recorded(TILED, size)
    for size in ("1024", "2048", "4096", "8192"):
        assert recorded(TILED, size) > 1.4 * recorded(BY_FOUR, size)


# ---- the bound and the exercises at the end ----


@pytest.mark.slow
def test_one_read_of_b_for_each_multiply_add_allows_a_quarter_of_the_peak():
    assert course.share_of_peak(BY_FOUR) < 1 / (4 * course.machine_wavefronts(BY_FOUR)) < 1 / 4
    reads = run_of(BY_FOUR).accesses.query("array == 'sb' and kind == 'load'")["lanes"].sum()
    assert reads == course.counting.multiply_adds(run_of(BY_FOUR))


@pytest.mark.slow
def test_grain_8_reads_9_words_for_8_multiply_adds_and_16_does_not_fit():
    eight = edited(GRANULARITY.file, Edit("(4, 2, 1)", "(8,)")).STEP
    assert course.loads_per_multiply_add(run_of(eight), "shared") == 1.125
    assert 1.125 / 1.25 == 0.9
    assert 9 * 32 * 32 * 4 == 36_864 < 48 * 1024 < 17 * 32 * 32 * 4 == 69_632


@pytest.mark.slow
def test_a_wide_tile_of_16_has_stores_of_two_wavefronts():
    narrow = run_of(GRANULARITY.variant(GRAIN=2, TILE=16))
    assert course.per_request(narrow, "sb", "wavefronts", "store") == 2
    assert course.per_request(run_of(BY_FOUR), "sb", "wavefronts", "store") == 1
    assert course.per_request(narrow, "sb", "wavefronts") == 1


def test_315_blocks_leave_a_rest_of_51():
    launch = BY_FOUR.launch(LADDER.parse("2000x600x2000"))
    assert (launch.grid, launch.blocks) == ((5, 63), 315)
    device = course.device_shown()
    at_a_time = device.sms * occupancy(device.compute_capability, 1024, 31, 20480).blocks
    assert (at_a_time, 315 - at_a_time) == (264, 51)
    shares = [f"{course.share_of_peak(BY_FOUR, s):.1%}" for s in ("2000x600x2000", "1024")]
    assert shares == ["13.5%", "17.5%"]
