"""Check the claims of lesson 19 against counts, machine code and records."""

from functools import cache

import numpy as np
import pytest
from numba import cuda

from gpu_xray import xray
from latency_kernels.hiding import curves
from reduce_kernels import LADDER
from utils import lessons as course
from utils.lessons.block_sums import block_of
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_19.last_warp import draw_last_warp, lanes_that_add, strides
from utils.lessons.lesson_19.shuffles import NUMBERS, draw_shuffles, needed_lanes, sums
from utils.machine import devices
from virtual_gpu import trace

STEPS = [LADDER.step(f"reduce{number}") for number in range(3, 8)]
REDUCE3, REDUCE4, REDUCE5, REDUCE6, REDUCE7 = STEPS
IN_256 = [step.variant(BLOCK=256) for step in STEPS]
H200 = devices.find("H200")
LOADS = 8
OF_BLOCK = 256 * LOADS * 4
block = cache(block_of)


@cache
def machine_code(step):
    return xray(step.variant().kernel, step.signature, "sm_90")


@cache
def needed() -> float:
    return curves.littles_law(curves.recorded(H200), H200).loc["memory", "under_way"]


@cache
def shares(shape: str) -> dict[int, float]:
    return {grid.blocks: grid.share for grid in course.grids(REDUCE6, shape)}


# ---- the pictures ----


def test_in_52_of_64_boxes_nobody_adds_and_in_the_last_six_rows_warp_0_alone():
    rows = [lanes_that_add(stride, 8) for stride in strides(256)]
    assert len(rows) == 8
    assert sum(row.count(0) for row in rows) == 52
    assert [sum(lanes > 0 for lanes in row) for row in rows] == [4, 2, 1, 1, 1, 1, 1, 1]
    assert all(row[7] == 0 for row in rows)
    assert "52 of 64 times" in draw_last_warp().alt


def test_the_drawn_shuffles_are_those_of_the_virtual_gpu():
    rows = sums(NUMBERS)
    assert rows[-1][0] == sum(NUMBERS) == 31
    assert needed_lanes(8) == [8, 4, 2, 1]
    assert "31" in draw_shuffles().alt
    # The needed values of the drawn lanes do not depend on the 24 lanes above them.
    held = np.zeros(32, np.float32)
    held[:8] = NUMBERS
    for row, lanes, distance in zip(rows[1:], needed_lanes(8)[1:], (4, 2, 1), strict=True):
        out = np.zeros(32, np.float32)
        handed_on[1, 32](held, np.int32(distance), out)
        held += out
        assert list(held[:lanes]) == row[:lanes]


@cuda.jit
def handed_on(x, distance, out):
    lane = cuda.threadIdx.x
    out[lane] = cuda.shfl_down_sync(0xFFFFFFFF, x[lane], distance)


# ---- the last warp ----


def test_nine_barriers_become_three_and_one_and_the_requests_stay_until_there_are_shuffles():
    assert [block(step).barriers for step in IN_256] == [9, 3, 3, 3, 1]
    assert [block(step).requests for step in IN_256] == [45, 45, 45, 45, 9]
    assert [block(step).wavefronts for step in IN_256] == [45, 45, 45, 45, 9]
    assert [block(step).elements for step in IN_256] == [512, 512, 512, 2048, 2048]


def test_in_reduce4_the_tree_is_over_after_two_steps_but_for_warp_0():
    run = course.watch(IN_256[1], "512")
    assert sorted(run.turns.values()) == [6 * 32, 2 * 256]


def test_in_the_movie_four_warps_come_to_the_only_turn_of_the_first_loop():
    run = course.watch(REDUCE4.variant(BLOCK=128), "256")
    assert sorted(run.turns.values()) == [128, 6 * 32]
    assert [lanes_that_add(64, 4).count(lanes) for lanes in (32, 0)] == [2, 2]


@pytest.mark.slow
def test_reduce3_and_reduce4_are_the_same_up_to_the_tree():
    codes = [course.code.kernel_code(step).partition("stride = ")[0] for step in (REDUCE3, REDUCE4)]
    assert codes[0].replace("reduce3", "reduce4") == codes[1]


def test_the_last_warp_alone_takes_a_quarter_of_the_time_away():
    assert 1 / course.gains(*IN_256[:2], shape="2^30")[0] == pytest.approx(0.75, abs=0.01)


def test_without_syncwarp_the_sums_are_right_and_there_is_a_race():
    classic = edited(REDUCE4.file, Edit("cuda.syncwarp()", "pass")).STEP
    x, out = np.ones(8 * 512, np.float32), np.zeros(8, np.float32)
    result = trace(classic.variant().kernel, 8, 256, x, out)
    assert (out == 512).all()
    assert {finding.kind for finding in result.findings} == {"race"}
    first = result.findings[0]
    assert [thread.thread[0] for thread in first.threads[:2]] == [0, 16]
    assert first.index == (16,)
    assert first.count == 128 == 8 * 16


# ---- unrolling ----


@pytest.mark.slow
def test_the_tree_of_reduce4_is_two_loops_and_that_of_reduce5_none(compiler):
    assert [len(machine_code(step).loops) for step in (REDUCE4, REDUCE5)] == [2, 0]


def test_one_statement_is_the_whole_change_of_reduce5():
    codes = [course.code.kernel_code(step) for step in (REDUCE4, REDUCE5)]
    in_4 = (
        codes[0]
        .replace("reduce4", "reduce5")
        .replace("uint32(cuda.blockDim.x) >> uint32(1)", "uint32(BLOCK >> 1)")
    )
    assert codes[0] != in_4 == codes[1]


@pytest.mark.slow
def test_the_last_six_steps_of_warp_0_are_78_instructions_and_unrolled_33(compiler):
    assert len(machine_code(REDUCE4).loops[1].body) == 13
    names = [one.name for one in machine_code(REDUCE5).code]
    alone = names.index("BRA", len(names) - names[::-1].index("BAR"))
    assert names.index("BSYNC", alone) - alone - 1 == 33


def test_the_gain_by_unrolling_is_smaller_than_on_the_g80():
    published = course.claimed("reduction: speed-up by unrolling the loop completely")
    assert published == 1.41
    assert 1 < course.gains(*IN_256[1:3], shape="2^30")[0] < published


# ---- how many blocks ----


@pytest.mark.slow
def test_a_thread_of_reduce6_has_8_loads_under_way_and_of_reduce5_2(compiler):
    assert machine_code(REDUCE6).loads_before_use == LOADS
    assert machine_code(REDUCE5).loads_before_use == 2


def test_two_blocks_on_each_sm_are_enough_by_the_law_207_in_all():
    assert f"{H200.sms * needed() / OF_BLOCK:.0f}" == "207"
    assert OF_BLOCK < needed() < 2 * OF_BLOCK
    assert course.blocks_at_once(REDUCE6) == 8 * H200.sms == 1056
    assert H200.sms > 64
    assert 64 * 256 == 16_384
    assert 2**30 / 16_384 == 65_536


def test_the_law_lets_64_blocks_have_31_percent_and_they_have_less():
    assert f"{64 * OF_BLOCK / needed() / H200.sms:.0%}" == "31%"
    for shape in ("2^30", "2^25"):
        assert shares(shape)[64] < 64 * OF_BLOCK / needed() / H200.sms
    assert f"{shares('2^30')[256]:.0%} {shares('2^30')[512]:.0%}" == "68% 89%"


def test_more_blocks_than_run_at_once_bring_a_little_more_and_too_many_far_less():
    of = shares("2^30")
    assert f"{of[1024]:.0%} {of[65_536]:.0%} {of[2_097_152]:.0%}" == "93% 97% 36%"
    assert of[1024] < of[2048] < of[8192] < of[65_536] == max(of.values())


def test_eight_elements_per_thread_make_524_288_blocks():
    assert REDUCE6.variant().launch(LADDER.parse("2^30")).blocks == 524_288


def width_of_good_numbers(shape: str) -> float:
    """Return the largest over the smallest number of blocks among grids within 10 % of the best."""
    of = shares(shape)
    good = [blocks for blocks, share in of.items() if share > 0.9 * max(of.values())]
    return max(good) / min(good)


@pytest.mark.slow
def test_with_fewer_elements_the_range_is_narrower_and_64_per_thread_are_best_at_both():
    for shape in ("2^30", "2^25"):
        best = max(course.grids(REDUCE6, shape), key=lambda grid: grid.share)
        assert best.per_thread == 64
    assert width_of_good_numbers("2^30") > 10 * width_of_good_numbers("2^25")


def test_eight_elements_per_thread_bring_the_most_and_nearly_double_the_speed():
    gains = course.gains(*IN_256, shape="2^30")
    assert max(gains) == gains[2]
    assert gains[2] == pytest.approx(2, rel=0.03)


@pytest.mark.slow
def test_with_two_elements_per_thread_reduce6_is_slower_than_reduce5():
    few = REDUCE6.variant(PER_THREAD=2)
    assert f"{course.share_of_peak(IN_256[2], '2^30'):.0%}" == "49%"
    assert f"{course.share_of_peak(few, '2^30'):.0%}" == "36%"


# ---- shuffles ----


@pytest.mark.slow
def test_the_last_four_lanes_get_their_own_number_back():
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    handed_on[1, 32](x, np.int32(4), out)
    assert list(out[:2]) == [4, 5]
    assert list(out[28:]) == [28, 29, 30, 31]


@pytest.mark.slow
def test_shuffles_need_8_words_of_shared_memory_and_not_256(compiler):
    assert [machine_code(step).shared_bytes for step in (REDUCE6, REDUCE7)] == [4 * 256, 4 * 8]


def test_the_9_requests_with_shuffles_are_8_stores_of_a_lane_and_a_load_of_8_lanes():
    assert block(IN_256[4]).lanes * 9 == pytest.approx(8 + 8)


def test_shuffles_change_nothing_where_memory_is_the_limit_and_little_where_trees_weigh():
    assert course.gains(*IN_256[3:], shape="2^30")[0] == pytest.approx(1, abs=0.02)
    assert f"{course.share_of_peak(IN_256[3], '2^30'):.0%}" == "96%"
    few = [step.variant(PER_THREAD=2) for step in (REDUCE6, REDUCE7)]
    assert 1.03 < course.gains(*few, shape="2^30")[0] < 1.1


# ---- the curve, and what is left ----


@pytest.mark.slow
def test_reduce7_stays_below_half_of_the_peak_at_2_22():
    assert course.share_of_peak(REDUCE7, "2^22") < 0.5


@pytest.mark.slow
def test_reduce6_lies_under_reduce7():
    for shape in LADDER.sizes:
        six, seven = (course.recorded_ms(step, shape) for step in (REDUCE6, REDUCE7))
        assert six == pytest.approx(seven, rel=0.06)


@pytest.mark.slow
def test_at_2_30_reading_is_nearly_all_and_at_2_22_a_third():
    assert f"{course.share_of_peak(REDUCE7, '2^30'):.0%}" == "97%"
    assert course.share_of_peak(REDUCE7, "2^22") == pytest.approx(1 / 3, abs=0.03)
    assert REDUCE7.variant().launch(LADDER.parse("2^22")).blocks == 2048


# ---- the exercises ----


@pytest.mark.slow
def test_three_shuffles_are_enough_for_8_warps():
    fewer = edited(REDUCE7.file, Edit("for step in range(5)", "for step in range(2, 5)", 2)).STEP
    out = np.zeros(2, np.float32)
    result = trace(fewer.variant().kernel, 2, 256, np.ones(4096, np.float32), out)
    assert list(out) == [2048, 2048]
    assert result.findings == ()


@pytest.mark.slow
def test_with_1024_threads_11_barriers_become_5():
    large = [step.variant(BLOCK=1024) for step in (REDUCE3, REDUCE4)]
    assert [block(step).barriers for step in large] == [11, 5]


@pytest.mark.slow
def test_across_every_lane_gets_the_sum():
    @cuda.jit
    def across(x, out):
        total = x[cuda.threadIdx.x]
        for step in range(5):
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 16 >> step)
        out[cuda.threadIdx.x] = total

    out = np.zeros(32, np.float32)
    across[1, 32](np.arange(32, dtype=np.float32), out)
    assert (out == 496).all()
