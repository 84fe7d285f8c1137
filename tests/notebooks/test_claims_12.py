"""What lesson 12 says in prose, held against counts, machine code and records."""

from functools import cache

import pytest

from gemm_kernels import LADDER
from utils import lessons as course
from utils.lessons.thread_tiles import published_tile, thread_tiles
from utils.machine.occupancy import limits_of
from utils.measuring import records
from utils.xray import xray

TILED, RECTANGULAR, COLUMN, BLOCKED = (
    LADDER.step(name)
    for name in ("tiled", "tiled_rectangular", "register_blocked_1d", "register_blocked")
)
SIZES = ("256", "512", "1024", "2048", "4096", "8192")
watched = cache(course.watch)


def of(block: tuple[int, int], thread: tuple[int, int]):
    """`register_blocked` with this block tile and this thread tile."""
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
    found = watched(of(block, (8, 8)), "128x128x32")
    assert course.loads_per_multiply_add(found) == 1 / block[0] + 1 / block[1]


def test_a_column_of_the_tile_of_a_meets_in_one_bank():
    assert course.per_request(seen_of(BLOCKED), "sa", "wavefronts") == 2
    words = {at // 4 for at in seen_of(BLOCKED).warp_access("sa").addresses}
    assert {word - min(words) for word in words} == {0, 64}


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


@pytest.mark.slow
def test_a_wide_load_of_b_takes_eight_wavefronts_where_four_would_do():
    stores = seen_of(BLOCKED).totals["shared_store_wavefronts"] * 64 * 32 * 2
    stores /= seen_of(BLOCKED).totals["float32_ops"]
    assert (64 * course.profiled_wavefronts(BLOCKED) - 8 * 2 - stores) / 2 == pytest.approx(8)
    first = seen_of(BLOCKED).warp_access("sb").addresses
    assert [(at - first[0]) // 4 for at in first[:5]] == [0, 8, 16, 24, 32]
    assert 32 * 16 // 128 == 4


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
    found = watched(of((128, 128), (4, 4)), "128x128x32")
    assert course.per_request(found, "sa", "wavefronts") == 1
    assert ms((128, 128), (4, 4)) == pytest.approx(7.51, abs=0.005)


@pytest.mark.slow
def test_of_the_sixteen_the_profiler_has_counted_one():
    counted = []
    for variant in BLOCKED.variants():
        try:
            course.profiled_wavefronts(variant)
            counted.append(variant)
        except course.lesson.CourseError:
            pass
    assert counted == [of((64, 128), (8, 8))]


# ---- published, the curve, the limit ----


def test_the_same_tile_reaches_27_48_and_90_percent():
    prefetch = LADDER.step("prefetch").variant(BM=64, BN=64, BK=8, TM=8, TN=8)
    rows = published_tile(of((64, 64), (8, 8)), prefetch).rows
    assert [row[2] for row in rows] == ["90%", "27%", "48%"]
    assert rows[0][1:] == ("14.0 TFLOP/s", "90%", "91%")


@pytest.mark.slow
def test_register_blocking_is_behind_at_256_and_512_and_far_ahead_from_2048_on():
    gain = {at: course.recorded_ms(TILED, at) / course.recorded_ms(BLOCKED, at) for at in SIZES}
    assert gain["256"] < 1
    assert gain["512"] < 1
    assert all(gain[size] > 2.5 for size in ("2048", "4096", "8192"))


@pytest.mark.slow
def test_half_of_the_wavefronts_are_conflicts():
    step = 64 * course.profiled_wavefronts(BLOCKED)
    without = 8 * 1 + 2 * 4
    assert without / step == pytest.approx(0.5, abs=0.03)
    bound = 1 / (4 * course.profiled_wavefronts(BLOCKED))
    assert course.share_of_peak(BLOCKED.variant()) < bound < 0.48


# ---- the exercises at the end ----


def test_the_printed_index_harms_the_published_tile_alone():
    found = {}
    for tile, threads in (((128, 128, 8), 256), ((64, 64, 8), 64)):
        of_a, of_b = threads // (tile[2] // 4), threads // (tile[1] // 4)
        starts = range(0, tile[2], of_b)
        found[tile] = [i // of_a * 4 for i in starts], [i // of_b * 4 for i in starts]
    assert found[128, 128, 8] == ([0], [0])
    assert found[64, 64, 8] == ([0, 0], [0, 4])


@pytest.mark.slow
@pytest.mark.parametrize(("thread", "words"), [((4, 8), 4), ((8, 4), 2)])
def test_rows_of_threads_in_a_warp_meet_in_one_bank(thread, words):
    found = watched(of((64, 64), thread), "64x64x32")
    assert course.per_request(found, "sa", "wavefronts") == words


def test_16x16_does_not_fit_into_255_registers_and_the_fastest_has_12x8():
    assert [tm * tn + tm + tn for tm, tn in ((8, 8), (16, 8), (16, 16))] == [80, 152, 288]
    frame = records.measured(course.device_shown().name, "gemm")
    best = frame[frame["m"].eq(4096) & frame["n"].eq(4096)].nsmallest(1, "time_ms").iloc[0]
    assert "TM=12 TN=8" in best["params"]
