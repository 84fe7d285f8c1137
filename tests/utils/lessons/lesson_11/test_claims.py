"""Check the claims of lesson 11 against machine code, counts and records."""

from functools import cache

import pytest

from gemm_kernels import LADDER
from gpu_xray import xray
from labs import EXERCISES
from tests.labs.versions import right
from utils import lessons as course
from utils.lessons.edits import Edit, edited
from utils.lessons.inner_loops import recorded_loops
from utils.machine import devices
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring import records

TILED, ILP = LADDER.step("tiled"), LADDER.step("ilp")
WIDE = LADDER.step("granularity").variant(GRAIN=4, TILE=32)
BY = {grain: ILP.variant(GRAIN=grain) for grain in (1, 2, 4, 8, 16)}
recorded, wavefronts = course.recorded_ms, cache(course.machine_wavefronts)


def loop(step):
    """Return the recorded loop; `test_inner_loops` compares the record with the compiler."""
    return recorded_loops()["sm_90", str(step)]


def estimate(step, shape="4096"):
    return course.shared_memory_ms(wavefronts(step), shape)


def published(device):
    frame = records.published("gemm_gpu")
    return frame[(frame["device"] == device) & (frame["kernel"] == "ilp")].set_index("grain")


# ---- the exercise, and grain 4 twice ----


@pytest.mark.slow
def test_names_and_a_local_array_need_as_many_reads(compiler):
    names = right("independent_sums", "four names")
    loops = [
        xray(kernel, ILP.signature, "sm_90").hot
        for kernel in (EXERCISES["independent_sums"].solution, names)
    ]
    reads = [one.instructions["LDS"] / one.ffma for one in loops]
    assert reads[0] == reads[1]


@pytest.mark.slow
def test_by_the_source_four_tiles_of_b_are_as_good_and_load_less_of_a():
    shown = course.words_per_multiply_add(tiled=TILED, tiles=WIDE, rows=BY[4])
    assert [row[1:] for row in shown.rows] == [
        ("2", "1/32", "1/32"),
        ("1.25", "1/128", "1/32"),
        ("1.25", "1/32", "1/32"),
    ]


def test_four_rows_are_faster_by_more_than_2_percent():
    assert recorded(BY[4]) < 0.98 * recorded(WIDE)


def test_a_word_of_sa_costs_half_a_wavefront_and_one_of_sb_a_whole_one():
    for grain in (1, 2, 4, 8):
        codes = loop(BY[grain]).opcodes
        joined, single = codes.count("LDS.128"), codes.count("LDS")
        assert 4 * joined == loop(BY[grain]).multiply_adds
        assert single * grain == loop(BY[grain]).multiply_adds
        assert 2 * joined / loop(BY[grain]).multiply_adds == 0.5


@pytest.mark.slow
def test_the_profiler_counted_the_same_wavefronts_for_grain_8():
    assert wavefronts(BY[8]) == pytest.approx(course.profiled_wavefronts(BY[8]))


# ---- all grains ----


def test_grain_1_is_the_tiled_product_again():
    assert recorded(BY[1]) == pytest.approx(recorded(TILED), rel=0.02)
    assert ILP.launch(LADDER.parse("1024"), GRAIN=1).block == (32, 32)
    assert ILP.launch(LADDER.parse("1024"), GRAIN=8).block == (32, 4)


@pytest.mark.slow
def test_the_wavefronts_explain_nearly_all_of_the_gain():
    assert round(estimate(BY[1]) / estimate(BY[8]), 2) == 2.27
    assert round(recorded(BY[1]) / recorded(BY[8]), 2) == 2.36
    shares = [round(estimate(BY[grain]) / recorded(BY[grain]), 2) for grain in (1, 2, 4, 8)]
    assert (min(shares), max(shares)) == (0.74, 0.84)


def test_with_grain_8_an_sm_holds_28_of_64_warps_and_is_the_fastest():
    device = course.device_shown()
    held = occupancy(device.compute_capability, 128, 72, 8192)
    assert (held.blocks, held.warps, held.limit) == (7, 28, ("registers",))
    assert f"{held.fraction:.0%}" == "44%"
    assert 8 * 32 * held.warps > 2048
    assert recorded(BY[8]) == min(recorded(step) for step in BY.values())


def test_registers_grow_with_the_sums():
    frame = records.measured(course.device_shown().name, "gemm")
    variants = frame[frame["step"] == "ilp"].drop_duplicates("params").set_index("params")
    grown = [variants.loc[f"GRAIN={grain}", "registers"] for grain in (1, 2, 4, 8)]
    assert grown == [32, 32, 43, 72]


def test_512_multiply_adds_under_way_were_enough_before():
    device = course.device_shown()
    assert 4 * device.fp32_lanes_per_sm == 512 < 2048


def test_on_the_k40_the_fastest_had_an_occupancy_of_37_5_percent():
    k40 = published("Tesla K40")
    assert k40["time_ms"].idxmin() == 8
    held = occupancy(devices.find("Tesla K40").compute_capability, 128, 49, 8192)
    assert (held.fraction, held.limit) == (0.375, ("shared memory",))


# ---- the cliff ----


def test_the_innermost_loops_have_48_reads_for_128_and_17_for_16():
    eight, sixteen = loop(BY[8]), loop(BY[16])
    reads = [sum(code.startswith("LDS") for code in one.opcodes) for one in (eight, sixteen)]
    assert reads == [48, 17]
    assert [one.multiply_adds for one in (eight, sixteen)] == [128, 16]
    assert [one.opcodes.count("LDS.128") for one in (eight, sixteen)] == [32, 0]
    assert eight.multiply_adds / 8 == 16  # steps in a row


@pytest.mark.slow
def test_the_wavefronts_explain_most_of_the_cliff():
    assert round(estimate(BY[16]) / estimate(BY[8]), 2) == 1.64
    assert round(recorded(BY[16]) / recorded(BY[8]), 2) == 1.73


def test_the_lecture_has_the_cliff_too_and_a_deeper_one_on_the_k40():
    k40, titan = published("Tesla K40"), published("GTX Titan X (Maxwell)")
    assert (k40.loc[16, "time_ms"], k40.loc[8, "time_ms"]) == (22.89, 2.53)
    assert f"{22.89 / 2.53:.1f}" == "9.0"
    assert f"{titan.loc[16, 'time_ms'] / titan.loc[8, 'time_ms']:.1f}" == "1.5"
    assert f"{recorded(BY[16], '1024') / recorded(BY[8], '1024'):.1f}" == "1.8"
    assert list(k40.loc[[8, 16], "registers"]) == [49, 40]
    frame = records.measured(course.device_shown().name, "gemm")
    variants = frame[frame["step"] == "ilp"].drop_duplicates("params").set_index("params")
    assert [variants.loc[f"GRAIN={grain}", "registers"] for grain in (8, 16)] == [72, 48]


def test_the_lecture_divides_counts_in_2_to_the_30_by_a_peak_in_10_to_the_9():
    shares = [
        f"{100 * published(device).loc[grain, 'gflops'] / devices.find(device).peak_gflops:.1f}"
        for device, grain in (
            ("Tesla K40", 4),
            ("Tesla K40", 8),
            ("GTX Titan X (Maxwell)", 8),
        )
    ]
    assert shares == ["17.1", "18.4", "27.8"]
    assert set(published("Tesla K40")["gflops_base"]) == {"2^30"}
    assert round(100 * (2**30 / 1e9 - 1)) == 7


# ---- sizes, bounds and the exercises at the end ----


def test_from_512_on_ilp_is_the_fastest_of_the_four_and_at_256_tiled_is():
    steps = [LADDER.step(name) for name in ("naive", "tiled", "granularity", "ilp")]
    for size in ("256", "512", "1024", "2048", "4096", "8192"):
        fastest = min(steps, key=lambda step: recorded(step, size))
        assert fastest.name == ("tiled" if size == "256" else "ilp")
    assert BY[8].launch(LADDER.parse("256")).blocks == 64 < course.device_shown().sms
    assert BY[8].launch(LADDER.parse("256")).threads == 128


@pytest.mark.slow
def test_a_word_of_sa_for_each_multiply_add_bounds_the_idea():
    stores = 2 / 32
    assert f"{1 / (4 * (0.5 + stores)):.1%}" == "44.4%"
    assert 0.5 + stores == 0.5625
    assert course.share_of_peak(BY[8]) < 1 / (4 * wavefronts(BY[8])) < 0.37


@pytest.mark.slow
def test_exercise_1_the_cliff_is_cured_in_the_machine_code_with_two_steps_in_a_turn(compiler):
    by_steps = {}
    for steps in (1, 2):
        step = edited(ILP.file, Edit("UNROLL = 4", f"UNROLL = {steps}")).STEP.variant(GRAIN=16)
        by_steps[steps] = course.machine_wavefronts(step)
        codes = course.hot_loop(step).opcodes
        assert ("LDS.64" in codes) == (steps == 2)
        if steps == 2:
            assert sum(code.startswith("LDS") for code in codes) == 18
            assert course.hot_loop(step).multiply_adds == 32
        else:
            assert course.hot_loop(step).multiply_adds > 16
    assert (wavefronts(BY[16]), by_steps[2], by_steps[1]) == (1.125, 0.625, 1.125)


def test_exercise_2_registers_leave_room_for_seven_warps_in_each_part():
    limits = limits_of(course.device_shown().compute_capability)
    part = limits.registers_per_sm // limits.sub_partitions
    assert (limits.registers_per_sm, part, part // (32 * 72)) == (65_536, 16_384, 7)


def test_exercise_3_two_large_blocks_or_seven_small_ones():
    capability = course.device_shown().compute_capability
    assert occupancy(capability, 1024, 32, 8192).blocks == 2
    assert occupancy(capability, 128, 72, 8192).blocks == 7
    assert (1024 // 32, 128 // 32) == (32, 4)
