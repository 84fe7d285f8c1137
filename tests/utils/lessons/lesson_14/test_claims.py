"""Check the figures and comparisons in lesson 14 against counts and records."""

import math
from functools import cache

import numpy as np
import pytest

from gemm_kernels import LADDER
from gpu_xray import xray
from labs import check
from labs.exercises.double_buffer import solution
from latency_kernels.hiding import curves
from utils import lessons as course
from utils.division import cdiv
from utils.lessons.edits import Edit, edited, source_of
from utils.lessons.lesson_14.big_loop import (
    PRODUCT,
    issue_cycles,
    recorded_big_loops,
    recorded_cycles,
    resident_warps,
)
from utils.lessons.lesson_14.instruction_timeline import between_load_and_store
from utils.machine.devices import REFERENCE, find
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring import records
from virtual_gpu import trace

NAMES = "vectorized", "double_buffered", "prefetch"
STEPS = {name: LADDER.step(name) for name in NAMES}
VECTORIZED, DOUBLE, PREFETCH = (STEPS[name].variant(BM=128, BN=128, BK=8) for name in NAMES)
SIZES = ("256", "512", "1024", "2048", "4096", "8192")
LIMITS = limits_of((9, 0))


@cache
def measured():
    return records.measured(REFERENCE, "gemm")


def recorded(variant):
    """Return the H200's row at 4096, regardless of what this machine has recorded."""
    rows = measured()
    rows = rows[(rows["step"] == variant.step.name) & (rows["params"] == variant.params)]
    return rows[(rows["m"] == 4096) & (rows["n"] == 4096)].iloc[0]


def loop_of(variant):
    return recorded_big_loops()["sm_90", str(variant)]


def latency(what):
    rows = curves.recorded(find(REFERENCE))
    return rows[(rows["experiment"] == "latency") & (rows["what"] == what)]["value"].item()


def test_the_example_has_256_blocks_and_two_loops_of_256_and_8_turns():
    launch = DOUBLE.launch(LADDER.parse("2048"))
    assert (launch.blocks, launch.threads, 2048 // 8) == (256, 256, 256)


def test_the_two_kernels_take_what_the_question_says():
    for variant, taken in ((VECTORIZED, (121, 8320)), (DOUBLE, (120, 16640))):
        assert (recorded(variant)["registers"], recorded(variant)["shared_bytes"]) == taken
    assert (LIMITS.registers_per_sm, LIMITS.shared_kib_per_sm * 1024) == (65_536, 233_472)


def test_the_second_buffer_costs_no_block():
    before, after = occupancy((9, 0), 256, 121, 8320), occupancy((9, 0), 256, 120, 16640)
    assert before.blocks == after.blocks == 2
    assert before.limit == after.limit == ("registers",)
    assert 13 * (16640 + 1024) < 233_472 < 14 * (16640 + 1024)
    of_a_warp = [cdiv(32 * registers, 256) * 256 for registers in (121, 120)]
    assert [8 * each for each in of_a_warp] == [65_536 / 2, 30_720]


def test_source_line_27_of_the_solution_adds_to_the_total():
    lines = source_of(solution).splitlines()
    assert lines[27 - 1].strip().startswith("total += tile_a[side, ty, i]")


def test_the_closing_barrier_stands_in_the_change_that_is_shown():
    shown = course.show_change(STEPS["vectorized"], STEPS["double_buffered"], around=2).data
    behind = shown.split("put_rows(sb, side, QUADS_B, me, next_b)")[-1]
    assert "cuda.syncthreads()" in behind
    assert "while z &lt; BK" in shown


def test_a_turn_of_prefetch_is_as_it_is_listed():
    code = source_of(STEPS["prefetch"].file)
    behind = code.split("put_rows(sb, side, QUADS_B, me, next_b)")[-1]
    parts = ("cuda.syncthreads()", "(side, 0), y, APART_Y, a0", "(sums, a1, b1)")
    indices = [behind.index(part) for part in parts]
    assert indices == sorted(indices)


def test_on_one_side_a_thread_stores_over_what_another_one_reads():
    one_side = edited(solution, Edit("side ^= uint32(1)", "pass")).double_buffer
    findings = trace(one_side, (2, 2), (16, 16), *np.ones((3, 32, 32), np.float32)).findings
    assert findings[0].kind == "race"
    assert "writes tile_a[0, 0, 0], which thread" in findings[0].message
    assert "has read" in findings[0].message


def test_it_saves_no_work_and_changes_when_a_thread_waits():
    assert [len(loop_of(one).names) for one in (VECTORIZED, DOUBLE, PREFETCH)] == [610, 613, 627]
    assert between_load_and_store(loop_of(VECTORIZED).names) == (3, 0)
    assert between_load_and_store(loop_of(DOUBLE).names) == (576, 512)
    assert between_load_and_store(loop_of(PREFETCH).names)[1] > 400


def test_a_load_has_come_long_before_its_store():
    assert resident_warps(DOUBLE) / LIMITS.sub_partitions == 4
    assert 4 * 576 == 2304 > 3 * latency("DRAM")
    assert round(latency("DRAM")) == 700
    assert round(latency("shared")) == 29


def test_cycles_of_a_tile_are_those_of_the_table():
    launch = VECTORIZED.launch(LADDER.parse("4096"))
    assert (launch.blocks, math.ceil(1024 / 264)) == (1024, 4)
    last_round = (1024 - 3 * 264) / 264
    assert last_round == pytest.approx(0.88, abs=0.002)
    assert round(recorded(VECTORIZED)["time_ms"], 3) == 3.982
    assert find(REFERENCE).boost_clock_mhz == 1980
    assert round(3.982 * 1.98, 3) == 7.884
    assert round(7.884e6 / (4 * 4096 / 8)) == 3850
    started = [issue_cycles(one, "4096") for one in (VECTORIZED, DOUBLE, PREFETCH)]
    assert started == [2440, 2452, 2508]
    cycles = [recorded_cycles(one, "4096") for one in (VECTORIZED, DOUBLE, PREFETCH)]
    assert cycles == pytest.approx([3850, 3412, 3110], abs=0.5)
    lost = [all_of_them - start for all_of_them, start in zip(cycles, started, strict=True)]
    assert lost == pytest.approx([1410, 960, 602], abs=0.5)


def test_the_gain_is_far_below_that_of_the_picture():
    gain = recorded(VECTORIZED)["time_ms"] / recorded(DOUBLE)["time_ms"]
    assert gain == pytest.approx(1.13, abs=0.005)
    assert recorded(VECTORIZED)["time_ms"] == pytest.approx(3.98, abs=0.005)


def test_with_two_sets_of_registers_no_value_is_used_early():
    assert [loop_of(one).early_reads for one in (VECTORIZED, DOUBLE, PREFETCH)] == [14, 16, 0]
    faster = recorded(VECTORIZED)["time_ms"] / recorded(PREFETCH)["time_ms"]
    assert faster == pytest.approx(1.24, abs=0.005)
    assert recorded(PREFETCH)["time_ms"] < recorded(DOUBLE)["time_ms"]


def test_a_thread_of_the_small_tile_loads_twice_from_each_matrix():
    launch = STEPS["vectorized"].variant(BM=64, BN=64, BK=8).launch(LADDER.parse("4096"))
    assert (launch.threads, 64 * 8 / 4 / launch.threads) == (64, 2)


def test_three_registers_more_cost_a_quarter_of_the_warps():
    small = [STEPS[name].variant(BM=64, BN=64, BK=8) for name in NAMES[:2]]
    assert [recorded(one)["registers"] for one in small] == [127, 130]
    assert [resident_warps(one) for one in small] == [16, 12]
    assert [cdiv(32 * registers, 256) * 256 for registers in (127, 130)] == [4096, 4352]
    assert 16_384 // 4096 == 4 > 16_384 // 4352 == 3
    before, after = (recorded(one)["time_ms"] for one in small)
    assert after > 1.02 * before


def test_two_buffers_win_where_as_many_warps_stay_and_lose_where_fewer_do():
    won, lost = [], []
    for after in STEPS["double_buffered"].variants():
        before = STEPS["vectorized"].variant(**after.constants)
        faster = recorded(before)["time_ms"] / recorded(after)["time_ms"]
        same = resident_warps(after) == resident_warps(before)
        (won if same else lost).append(faster)
    assert (len(won), len(lost)) == (5, 3)
    assert min(won) > 1 > max(lost)


@pytest.mark.slow
def test_four_steps_in_a_turn_leave_room_for_one_block(compiler):
    step = STEPS["double_buffered"]
    by_one = edited(
        step.file,
        Edit("for u in range(2):", "for u in range(1):"),
        Edit("z = uint32(z + 2)", "z = uint32(z + 1)"),
    ).STEP.variant(BM=128, BN=128, BK=8)
    compiled = xray(by_one.kernel, step.signature, "sm_90")
    assert compiled.hot.ffma == 4 * 64
    assert occupancy((9, 0), 256, compiled.registers, compiled.shared_bytes).blocks == 1


def test_the_published_tile_is_the_slowest_here():
    published = records.published("gemm_gpu")
    row = published[published["kernel"] == "register_blocked_prefetch"].iloc[0]
    assert (row["device"], row["gflops"]) == ("Tesla V100", 14_000)
    assert "64x64x8" in row["note"]
    assert "91 % of cuBLAS" in row["note"]
    times = {one.params: recorded(one)["time_ms"] for one in STEPS["prefetch"].variants()}
    small = STEPS["prefetch"].variant(BM=64, BN=64, BK=8)
    assert max(times, key=times.get) == small.params
    assert recorded(small)["library_ratio"] == pytest.approx(0.62, abs=0.005)
    assert recorded(PREFETCH)["library_ratio"] == pytest.approx(0.83, abs=0.005)
    capability = find("Tesla V100").compute_capability
    assert limits_of(capability).registers_per_sm == LIMITS.registers_per_sm


def test_the_order_is_the_same_at_every_size():
    rows = measured()
    rows = rows[(rows["m"] == rows["n"]) & (rows["n"] == rows["k"])]
    best = rows.groupby(["step", "m"])["time_ms"].min()
    for size in map(int, SIZES):
        assert best["vectorized", size] > best["double_buffered", size] > best["prefetch", size]
    at_2048 = rows[(rows["step"] == "vectorized") & (rows["m"] == 2048)]
    assert "BK=16" in at_2048["params"].item()


def test_two_curves_lie_upon_each_other_up_to_1024():
    rows = measured()
    rows = rows[(rows["m"] == rows["n"]) & (rows["n"] == rows["k"])]
    best = rows.groupby(["step", "m"])["time_ms"].min()
    for size in (256, 512, 1024):
        assert 1 < best["vectorized", size] / best["double_buffered", size] < 1.03


def test_best_against_best_the_gains_are_smaller():
    best = {
        name: min(STEPS[name].variants(), key=lambda one: recorded(one)["time_ms"])
        for name in NAMES
    }
    assert best["vectorized"] == STEPS["vectorized"].variant(BM=64, BN=64, BK=16)
    assert (best["double_buffered"], best["prefetch"]) == (DOUBLE, PREFETCH)
    times = [recorded(best[name])["time_ms"] for name in NAMES]
    assert [times[0] / one for one in times[1:]] == pytest.approx([1.06, 1.16], abs=0.005)


@pytest.mark.slow
def test_shared_memory_is_the_limit_that_is_named():
    bound = 1 / (4 * course.profiled_wavefronts(STEPS["prefetch"]))
    assert bound == pytest.approx(0.749, abs=0.0005)
    assert recorded(PREFETCH)["efficiency"] == pytest.approx(0.639, abs=0.0005)
    tiled = LADDER.step("warp_tiled")
    assert course.profiled_wavefronts(tiled) == pytest.approx(0.207, abs=0.0005)
    assert recorded(tiled.variant())["time_ms"] == pytest.approx(3.05, abs=0.005)
    assert recorded(PREFETCH)["time_ms"] == pytest.approx(3.22, abs=0.005)
    faster = recorded(PREFETCH)["time_ms"] / recorded(tiled.variant())["time_ms"]
    assert faster == pytest.approx(1.06, abs=0.005)
    assert 1 / (4 * course.profiled_wavefronts(tiled)) > 1


# ---- the exercises ----


FLIP, START = "side ^= uint32(1)", "start, side = uint32(0), uint32(0)"
TURNS = "while start < k:\n        start = uint32(start + TILE)\n"
RANGE = (START, "side = uint32(0)"), (TURNS, "for start in range(TILE, k + TILE, TILE):\n")
PLAIN = "side = uint32(0)", "side = 0"
BY_XOR, BY_MINUS = (FLIP, "side ^= 1"), (FLIP, "side = 1 - side")
END = "        tile_b[side, ty, tx] = next_b\n        cuda.syncthreads()\n"


def behind(store: str, flip: str) -> tuple[tuple[str, str], ...]:
    """Return the edits after which an iteration stores into side `store` and then changes sides."""
    return (
        (f"{FLIP}\n        tile_a[side, ty, tx]", f"tile_a[{store}, ty, tx]"),
        (END, END.replace("[side", f"[{store}") + f"        {flip}\n"),
    )


LAST_BEHIND = (
    (START, "side = uint32(0)"),
    (TURNS, "for start in range(TILE, k, TILE):\n"),
    ("    if row < m and col < n:\n        c[", "    for i in range(TILE):\n        total += "
     "tile_a[side, ty, i] * tile_b[side, i, tx]\n    if row < m and col < n:\n        c["),
)  # fmt: skip
# Ways to write the same kernel, and the multiply-adds between its last load and first store.
TWELVE = {
    "the solution": ((), 11),
    "uint32(1 - side)": (((FLIP, "side = uint32(1 - side)"),), 2),
    "uint32(1) - side": (((FLIP, "side = uint32(1) - side"),), 3),
    "1 - side": ((BY_MINUS,), 2),
    "^= 1": ((BY_XOR,), 2),
    "plain, ^= 1": (((START, START.replace("), uint32(0)", "), 0")), BY_XOR), 2),
    "plain, ^= uint32(1)": (((START, START.replace("), uint32(0)", "), 0")),), 2),
    "stored into the other side by ^": (behind("side ^ uint32(1)", FLIP), 11),
    "stored into 1 - side": (behind("1 - side", "side = 1 - side"), 2),
    "range": (RANGE, 13),
    "range, 1 - side": ((*RANGE, BY_MINUS), 4),
    "range, plain, ^= 1": ((*RANGE, PLAIN, BY_XOR), 4),
}


def written(changes):
    return edited(solution, *(Edit(*change) for change in changes)).double_buffer


def multiply_adds_on_the_way(kernel):
    big = max(xray(kernel, PRODUCT, "sm_90").loops, key=lambda loop: loop.end - loop.start)
    return between_load_and_store(tuple(one.name for one in big.body))[1]


@pytest.mark.parametrize("what", ["the solution", "uint32(1 - side)"])
def test_exercise_1_one_word_moves_a_load(what, compiler):
    changes, between = TWELVE[what]
    assert multiply_adds_on_the_way(written(changes)) == between


@pytest.mark.slow
def test_exercise_1_twelve_ways(compiler):
    counts = {what: multiply_adds_on_the_way(written(one)) for what, (one, _) in TWELVE.items()}
    assert counts == {what: between for what, (_, between) in TWELVE.items()}
    assert (len(counts), sum(one > 4 for one in counts.values())) == (12, 3)


@pytest.mark.slow
def test_exercise_1_the_last_tile_behind_the_loop(compiler):
    minus = (*LAST_BEHIND, PLAIN, *behind("1 - side", "side = 1 - side"))
    by_xor = (*LAST_BEHIND, *behind("side ^ uint32(1)", FLIP))
    assert [multiply_adds_on_the_way(written(one)) for one in (minus, by_xor)] == [1, 6]
    assert check("double_buffer", written(by_xor)).passed


@pytest.mark.slow
@pytest.mark.parametrize("what", TWELVE)
def test_exercise_1_each_way_is_right(what):
    assert check("double_buffer", written(TWELVE[what][0])).passed


def test_exercise_2_half_a_tile():
    assert 2 * (4 * 132 + 4 * 128) * 4 == 8320 == recorded(VECTORIZED)["shared_bytes"]
    assert 2048 // 4 == 512 == 2 * 2048 // 8
    assert 4 * (4 * 64) == 1024 > latency("DRAM")
    assert 128 * 4 / 256 == 2


def test_exercise_3_one_tile_ahead_is_enough():
    under_way = 2 * 256 * 2 * 16
    assert under_way == 16_384
    assert under_way / 700 == pytest.approx(23.4, abs=0.05)
    needed = 16_384 / recorded_cycles(DOUBLE, "4096")
    assert needed == pytest.approx(4.8, abs=0.05)
    assert 4.5 < under_way / 700 / needed < 5


@pytest.mark.parametrize(
    ("tile", "printed", "right"), [((128, 8, 256), [0], [0]), ((64, 8, 64), [0, 0], [0, 4])]
)
def test_exercise_4_the_printed_index_is_right_for_one_tile_alone(tile, printed, right):
    BN, BK, threads = tile
    stride_a, stride_b = threads // (BK // 4), threads // (BN // 4)
    rows = range(0, BK, stride_b)
    assert [i // stride_a * 4 for i in rows] == printed
    assert [i // stride_b * 4 for i in rows] == right
