"""Check the claims of lesson 12 against counts, machine code and records."""

from functools import cache

import numpy as np
import pytest

from gemm_kernels import LADDER
from gpu_xray import xray
from utils import lessons as course
from utils.errors import CourseError
from utils.lessons.lesson_12.tile_sweep import thread_tiles
from utils.machine.occupancy import limits_of
from virtual_gpu import trace

TILED, RECTANGULAR, COLUMN, BLOCKED = (
    LADDER.step(name)
    for name in ("tiled", "tiled_rectangular", "register_blocked_1d", "register_blocked")
)
SIZES = ("256", "512", "1024", "2048", "4096", "8192")
watched = cache(course.watch)


def of(block: tuple[int, int], thread: tuple[int, int]):
    """Return the variant of `register_blocked` with this block tile and this thread tile."""
    return BLOCKED.variant(BM=block[0], BN=block[1], TM=thread[0], TN=thread[1])


def ms(block: tuple[int, int], thread: tuple[int, int]) -> float:
    return course.recorded_ms(of(block, thread))


def seen_of(step):
    return watched(step, "64x128x64")


# ---- counts ----


def test_the_kernel_that_the_lesson_shows_has_8x8_in_64x128():
    assert BLOCKED.variant() == of((64, 128), (8, 8))
    assert BLOCKED.launch(LADDER.parse("256"), **BLOCKED.variant().constants).blocks == 4 * 2
    assert course.device_shown().sms == 132


def test_words_from_shared_memory_are_as_the_formula_says():
    assert course.loads_per_multiply_add(watched(TILED), "shared") == 2
    assert course.loads_per_multiply_add(watched(RECTANGULAR), "shared") == 2
    assert course.loads_per_multiply_add(seen_of(COLUMN), "shared") == 1 + 1 / 8
    assert course.loads_per_multiply_add(seen_of(BLOCKED), "shared") == 1 / 8 + 1 / 8


@pytest.mark.slow
@pytest.mark.parametrize("block", [(64, 64), (64, 128), (128, 128)])
def test_words_from_global_memory_are_as_the_formula_says(block):
    run = watched(of(block, (8, 8)), "128x128x32")
    assert course.loads_per_multiply_add(run) == 1 / block[0] + 1 / block[1]


def test_a_column_of_the_tile_of_a_meets_in_one_bank():
    assert course.per_request(seen_of(BLOCKED), "sa", "wavefronts") == 2
    words = [at // 4 for at in seen_of(BLOCKED).warp_access("sa").addresses]
    assert words == 16 * [0] + 16 * [64]


# ---- times ----


def test_words_promise_8_wavefronts_2_99_and_the_record_says_3_07():
    by_wavefronts = course.profiled_wavefronts(TILED) / course.profiled_wavefronts(BLOCKED)
    assert by_wavefronts == pytest.approx(2.99, abs=0.005)
    time = course.recorded_ms(BLOCKED.variant())
    assert course.recorded_ms(TILED) / time == pytest.approx(3.07, abs=0.005)


@pytest.mark.parametrize("step", [TILED, COLUMN, BLOCKED], ids=lambda step: step.name)
def test_wavefronts_alone_explain_about_three_quarters(step):
    estimate = course.shared_memory_ms(course.profiled_wavefronts(step))
    assert 0.73 < estimate / course.recorded_ms(step.variant()) < 0.77


def test_a_step_has_ten_loads_eight_of_a_and_two_of_b(compiler):
    hot = xray(BLOCKED.variant().kernel, BLOCKED.signature, "sm_90").hot
    names = [one.opcode for one in hot.body if one.name == "LDS"]
    steps = hot.ffma // 64
    assert names.count("LDS.128") == 2 * steps
    assert names.count("LDS") == 8 * steps
    assert len(names) / hot.ffma == pytest.approx(0.156, abs=0.0005)


def test_tiled_needs_fewer_wavefronts_than_words_and_register_blocked_more():
    assert course.profiled_wavefronts(TILED) == pytest.approx(1.56, abs=0.005)
    assert course.profiled_wavefronts(BLOCKED) == pytest.approx(0.523, abs=0.0005)


@pytest.mark.slow
def test_a_wide_load_of_a_in_tiled_takes_two_wavefronts_and_not_four():
    stores = 2 / 32  # a word of either tile for 32 multiply-adds
    assert course.wavefronts_per_multiply_add(watched(TILED)) == 1 + 4 / 4 + stores
    assert course.profiled_wavefronts(TILED) == pytest.approx(1 + 2 / 4 + stores)


def test_reads_of_b_begin_8_words_apart_and_four_meet_in_a_bank():
    first = seen_of(BLOCKED).warp_access("sb").addresses[:16]
    assert [(at - first[0]) // 4 for at in first] == list(range(0, 128, 8))
    assert course.per_request(seen_of(BLOCKED), "sb", "wavefronts") == 4
    stores = course.wavefronts_per_multiply_add(seen_of(BLOCKED)) - (0.125 * 2 + 0.125 * 4)
    totals = seen_of(BLOCKED).totals
    assert stores == 32 * totals["shared_store_wavefronts"] / (totals["float32_ops"] / 2)


# ---- the sweep ----


def test_in_a_block_tile_of_64x64_8x4_is_the_fastest_and_8x8_the_slowest():
    times = {thread: ms((64, 64), thread) for thread in ((4, 4), (4, 8), (8, 4), (8, 8))}
    assert min(times, key=times.get) == (8, 4)
    assert max(times, key=times.get) == (8, 8)
    every = [course.recorded_ms(variant) for variant in BLOCKED.variants()]
    assert len(every) == 16
    assert times[8, 4] == min(every)
    assert sorted(every).index(ms((64, 128), (8, 8))) == 2


@pytest.mark.slow
def test_conflicts_separate_the_rows_of_the_table_and_resident_warps_do_not():
    shown = [((64, 64), thread) for thread in ((4, 4), (4, 8), (8, 4), (8, 8))]
    shown += [((64, 128), (8, 8)), ((128, 64), (8, 8))]
    table = thread_tiles(*(of(*tiles) for tiles in shown))
    conflicts = [row[2] for row in table.rows]
    assert [ms(*tiles) < 6 for tiles in shown] == [one == "2" for one in conflicts]
    assert set(conflicts) == {"2", "4"}
    warps = {tiles: int(row[3]) for tiles, row in zip(shown, table.rows, strict=True)}
    assert {warps[tiles] for tiles in shown if tiles[1] == (8, 8)} == {16}
    assert warps[(64, 64), (8, 4)] == 16
    assert warps[(64, 64), (4, 4)] == 2 * 16
    slots = limits_of(course.device_shown().compute_capability).warps_per_sm
    assert 16 / slots == 0.25
    assert ms((64, 64), (4, 4)) > ms((64, 64), (8, 4))


@pytest.mark.slow
def test_4x4_in_128x128_has_no_conflict_and_is_slow():
    run = watched(of((128, 128), (4, 4)), "128x128x32")
    assert course.per_request(run, "sa", "wavefronts") == 1
    assert ms((128, 128), (4, 4)) == pytest.approx(7.51, abs=0.005)


@pytest.mark.slow
def test_of_the_sixteen_the_profiler_has_counted_one():
    counted = []
    for variant in BLOCKED.variants():
        try:
            course.profiled_wavefronts(variant)
            counted.append(variant)
        except CourseError:
            pass
    assert counted == [of((64, 128), (8, 8))]


# ---- the curve, the limit ----


@pytest.mark.slow
def test_register_blocking_is_behind_at_256_and_512_and_far_ahead_from_2048_on():
    gain = {at: course.recorded_ms(TILED, at) / course.recorded_ms(BLOCKED, at) for at in SIZES}
    assert gain["256"] < 1
    assert gain["512"] < 1
    assert all(gain[size] > 2.5 for size in ("2048", "4096", "8192"))
    ahead = [at for at in SIZES if course.recorded_ms(COLUMN, at) < course.recorded_ms(BLOCKED, at)]
    assert ahead == ["256", "512", "1024"]
    column, blocked = COLUMN.variant().constants, BLOCKED.variant().constants
    assert 2 * column["BM"] * column["BN"] == blocked["BM"] * blocked["BN"]
    assert (column["BM"], column["BN"], column["BK"]) == (64, 64, 16)


def test_the_wavefronts_bound_the_speed_from_above():
    bound = 1 / (4 * course.profiled_wavefronts(BLOCKED))
    assert course.share_of_peak(BLOCKED.variant()) < bound < 0.48


# ---- the exercises at the end ----


@pytest.mark.slow
@pytest.mark.parametrize(("across", "rows"), [(256, 1), (128, 2), (64, 4), (32, 8)])
def test_rows_of_threads_in_a_warp_meet_in_one_bank(across, rows):
    arrays = [np.ones(shape, np.float32) for shape in ((64, 8), (8, across), (64, across))]
    kernel = BLOCKED.build(BM=64, BN=across, TM=8, TN=8)
    result = trace(kernel, (1, 1), across, *arrays)
    assert 32 // (across // 8) == rows
    assert course.per_request(result, "sa", "wavefronts") == rows


def test_16x16_does_not_fit_into_255_registers():
    assert [tm * tn + tm + tn for tm, tn in ((8, 8), (16, 8), (16, 16))] == [80, 152, 288]
