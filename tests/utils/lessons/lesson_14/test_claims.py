"""Check the figures and comparisons in lesson 14 against counts and records."""

import math
from functools import cache, partial

import numpy as np
import pytest

from gemm_kernels import LADDER, buffers_alone, double_buffered
from gpu_xray import xray
from gpu_xray.kernel import SHARED_LATENCY
from labs import EXERCISES, check
from labs.exercises.double_buffer import solution
from labs.exercises.tiles_ahead.solution import tiles_ahead
from latency_kernels.hiding import curves
from tests import profiled, quotes
from utils import lessons as course
from utils.division import cdiv
from utils.lessons.edits import Edit, edited, source_of
from utils.lessons.lesson_14 import double_buffering, small_tiles, time_bounds
from utils.lessons.lesson_14.big_loop import (
    PRODUCT,
    compiled_big_loop,
    recorded_big_loops,
    resident_warps,
)
from utils.lessons.lesson_14.gains_by_size import recorded_gains
from utils.lessons.lesson_14.instruction_timeline import (
    between_load_and_store,
    from_load_to_store,
)
from utils.machine.devices import REFERENCE, find
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import records
from utils.measuring.profiled_launches import states_of
from virtual_gpu import trace

NAMES = "vectorized", "double_buffered", "prefetch"
STEPS = {name: LADDER.step(name) for name in NAMES}
TILES = {"BM": 128, "BN": 128, "BK": 8}
VECTORIZED, DOUBLE, PREFETCH = (STEPS[name].variant(**TILES) for name in NAMES)
WARP_TILED = LADDER.step("warp_tiled").variant(LANES=0, BK=8)
NEITHER, EARLY, SECOND, BOTH = ALONE = buffers_alone.variants()[1:5]
SIZES = ("256", "512", "1024", "2048", "4096", "8192")
LIMITS = limits_of((9, 0))
TWO, THREE, FOUR = 2, 3, 4  # numbers that the prose writes as words
says, explains = partial(quotes.says, "14"), quotes.explains
ms_of = time_bounds.recorded_ms


@cache
def measured():
    return records.measured(REFERENCE, "gemm")


def recorded(variant):
    """Return the H200's row at 4096, regardless of what this machine has recorded."""
    rows = measured()
    rows = rows[(rows["step"] == variant.step.name) & (rows["params"] == variant.params)]
    return rows[(rows["m"] == 4096) & (rows["n"] == 4096)].iloc[0]


def counted(variant, size=4096, caches="cold"):
    """Return what the profiler counted, and the states of a warp in cycles per instruction."""
    counters = profiled.counted(variant, size, caches)
    return counters, states_of(counters)


def active_share(variant):
    """Return the share of a launch's cycles in which an SM has a block, on average."""
    counters, _ = counted(variant)
    schedulers = LIMITS.sub_partitions * find(REFERENCE).sms
    starting = counters["instructions"] / schedulers
    return starting / (counters["issue_percent"] / 100) / counters["cycles"]


def loop_of(variant):
    return recorded_big_loops()["sm_90", str(variant)]


def latency(what):
    rows = curves.recorded(find(REFERENCE))
    return rows[(rows["experiment"] == "latency") & (rows["what"] == what)]["value"].item()


def of_a_warp(registers):
    """Return the registers that a warp takes from its part of the SM."""
    return cdiv(WARP * registers, 256) * 256


# ---- first sitting ----


def test_the_title_has_the_time_and_the_longest_estimate_of_neither():
    times = time_bounds.times_of(NEITHER)
    longest = max(times.wavefronts, times.instructions)
    says(
        "no unit of the GPU is busy for more than {:.1f} of the {:.1f} ms that a product of {}×{} "
        "matrices takes here",
        longest,
        times.recorded,
        *[time_bounds.SIZE] * TWO,
    )
    product = buffers_alone.GemmShape(4096, 4096, 4096)
    moved = 4 * (product.m * product.k * 32 + product.k * product.n * 32 + product.m * product.n)
    assert moved / find(REFERENCE).memory_gb_per_s / 1e6 < longest  # even without an L2 cache


def test_the_picture_has_as_many_steps_as_a_tile():
    assert double_buffering.SMALL == buffers_alone.DEPTH
    says("a green bar is an inner loop of {} steps", double_buffering.SMALL)


def test_the_buffers_have_the_numbers_0_and_1():
    says("So give shared memory two **buffers**, {} and {}", *range(TWO))


def test_in_one_buffer_a_thread_stores_over_what_another_one_reads():
    kept = edited(solution, Edit("side ^= uint32(1)", "pass")).double_buffer
    findings = trace(kept, (2, 2), (16, 16), *np.ones((3, 32, 32), np.float32)).findings
    assert findings[0].kind == "race"
    assert "writes tile_a[0, 0, 0], which thread" in findings[0].message
    line = next(
        number
        for number, text in enumerate(source_of(solution).splitlines(), 1)
        if text.strip().startswith("total += tile_a[side, ty, i]")
    )
    assert f"has read at line {line}" in findings[0].message
    says("Source line {} is the one that adds to `total`", line)


@pytest.mark.slow
def test_the_course_order_has_few_multiply_adds_on_the_way(compiler):
    kernels = (EXERCISES["double_buffer"].starter, EXERCISES["order_loads"].solution)
    late, early = (
        between_load_and_store(from_load_to_store(_iteration_of(kernel))) for kernel in kernels
    )
    assert (late, early) == ((1, 0), (11, 4))
    says("all {} multiply-adds of a tile", solution.TILE)
    says("In machine code only {} are", early[1])


def _iteration_of(kernel):
    loops = xray(kernel, PRODUCT, "sm_90").loops
    big = max(loops, key=lambda loop: loop.end - loop.start)
    return tuple("FFMA" if one.name in ("FFMA", "FFMA2") else one.name for one in big.body)


def test_the_four_kernels_differ_in_little_but_the_two_changes():
    side, depth, each = buffers_alone.SIDE, buffers_alone.DEPTH, buffers_alone.EACH
    says(
        "with tiles of {}×{} elements of c and {} steps of k, and {}×{} elements of c per thread",
        side, side, depth, each, each,
    )  # fmt: skip
    counts = [len(loop_of(one).names) for one in ALONE]
    says("All four have {} to {} instructions per iteration", min(counts), max(counts))
    assert [loop_of(one).names.count("BAR") for one in ALONE] == [TWO, TWO, 1, 1]
    n = time_bounds.SIZE
    says("timed in turns at {}×{}. `neither` takes {:.2f} ms", n, n, ms_of(NEITHER))


@pytest.mark.slow
def test_two_blocks_of_each_fit_on_an_sm(compiler):
    for one in ALONE:
        code = xray(one.kernel, one.step.signature, "sm_90")
        assert occupancy((9, 0), 256, code.registers, code.shared_bytes).blocks == TWO


def test_early_loads_pay_and_the_second_buffer_does_not():
    neither, early, second, both = map(ms_of, ALONE)
    ways = [between_load_and_store(loop_of(one).names)[1] for one in ALONE]
    assert ways == [0, 512, 0, 512]
    explains(
        "14.pays",
        "Early loads alone save {:.2f} − {:.2f} = {:.2f} ms, a second buffer alone {:.2f} − {:.2f} "
        "= {:.2f} ms, and both {:.2f} ms. With early loads {} multiply-adds are between a "
        "load and its store in machine code, and else none.",
        neither, early, neither - early, neither, second, neither - second, neither - both, ways[1],
    )  # fmt: skip
    saved = 100 * (1 - second / neither)
    assert round(saved) == round(100 * (1 - both / early))
    says("saves {:.0f} % of the time, with late loads as with early ones", saved)
    says("Why do early loads save only {:.0f} %", 100 * (1 - early / neither))


def cycles_of_tile(variant, *names, size=time_bounds.SIZE, caches="cold"):
    """Return the cycles that a warp is in any of these states per tile; in all, without names."""
    counters, states = counted(variant, size, caches)
    warps = variant.launch(LADDER.parse(str(size))).blocks * buffers_alone.THREADS // WARP
    of_tile = counters["instructions"] / warps / (size // variant.constants.get("BK", TILES["BK"]))
    return of_tile * sum(states[name] for name in names or states)


def test_early_loads_end_one_wait_and_a_second_buffer_shortens_another():
    kernels = NEITHER, SECOND, EARLY, BOTH
    far, barrier, shared, turn, whole = (
        [round(cycles_of_tile(one, *names), -1) for one in kernels]
        for names in (
            ["long_scoreboard"],
            ["barrier"],
            ["short_scoreboard", "mio_throttle"],
            ["not_selected", "dispatch_stall"],
            [],
        )
    )
    says("| waits for global memory | {:.0f} | {:.0f} | {:.0f} | {:.0f} |", *far)
    says("| waits at barriers | {:.0f} | {:.0f} | {:.0f} | {:.0f} |", *barrier)
    says("| waits for shared memory or its queue | {:.0f} | {:.0f} | {:.0f} | {:.0f} |", *shared)
    says("| waits for its turn or the dispatcher | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} |", *turn)
    says("| in all | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} |", *whole)
    says("and it was only {:.0f} % of the time", 100 * far[0] / whole[0])
    assert shared[2] > shared[0]
    assert turn[2] < turn[0]
    fewer = {
        round(cycles_of_tile(one, "barrier") - cycles_of_tile(two, "barrier"), -1)
        for one, two in ((NEITHER, SECOND), (EARLY, BOTH))
    }
    says("saves {:.0f} cycles at barriers: these are its {:.0f} %", *fewer,
         100 * (1 - ms_of(SECOND) / ms_of(NEITHER)))  # fmt: skip
    saved = [whole[0] - whole[1], whole[2] - whole[3]]
    (each,) = fewer
    assert [one / each for one in saved] == pytest.approx([1, 1], abs=0.35)
    less, more = (round(cycles_of_tile(one, "dispatch_stall"), -1) for one in (VECTORIZED, NEITHER))
    says("wait {:.0f} instead of {:.0f} cycles per tile for the dispatcher", less, more)


def test_the_clock_of_the_estimates_is_the_recorded_one():
    clocks = {one.sm_clock_mhz for one in buffers_alone.recorded_times()}
    assert clocks == {find(REFERENCE).boost_clock_mhz}
    says("Both assume {:,.0f} MHz, the recorded clock", *clocks)


def bound(variant):
    return time_bounds.times_of(variant)


def test_the_estimates_of_the_four_are_nearly_the_same():
    times = [bound(one) for one in ALONE]
    assert len({one.wavefronts for one in times}) == 1
    assert max(one.instructions for one in times) < 1.03 * min(one.instructions for one in times)
    steps = buffers_alone.THREADS // WARP * buffers_alone.DEPTH
    says("{:.0f} per warp and step of k", time_bounds.wavefronts_per_tile(NEITHER) / steps)


def test_both_is_double_buffered_and_vectorized_took_a_little_less_than_neither():
    assert loop_of(BOTH).names == loop_of(DOUBLE).names
    rows = {one.kernel: one for one in buffers_alone.recorded_times() if one.n == time_bounds.SIZE}
    took = rows[str(VECTORIZED)].time_ms
    says(
        "the compiler wrote out all {} steps, which saves {:.0f} % of the time",
        buffers_alone.DEPTH,
        100 * (1 - took / ms_of(NEITHER)),
    )
    says(
        "`both` is {:.2f} times as fast as `neither`, and {:.2f} times as fast as `vectorized`",
        ms_of(NEITHER) / ms_of(BOTH),
        took / ms_of(BOTH),
    )
    assert ms_of(BOTH) < took < ms_of(NEITHER)


@pytest.mark.slow
def test_an_inner_loop_of_four_steps_leaves_room_for_one_block(compiler):
    plain = edited(
        double_buffered,
        Edit("for u in range(2):", "if True:"),
        Edit("z + u", "z"),
        Edit("z = uint32(z + 2)", "z = uint32(z + 1)"),
    )
    code = xray(plain.build(**DOUBLE.constants), DOUBLE.step.signature, "sm_90")
    assert max(loop.ffma for loop in code.loops) == FOUR * buffers_alone.EACH**2
    assert occupancy((9, 0), 256, code.registers, code.shared_bytes).blocks == 1


def test_the_closing_barrier_is_in_the_change_that_is_shown():
    shown = course.show_change(STEPS["vectorized"], STEPS["double_buffered"], around=2).data
    after = shown.split("put_rows(sb, side, QUADS_B, me, next_b)")[-1]
    assert "cuda.syncthreads()" in after


# ---- second sitting ----


@pytest.mark.slow
def test_how_far_ahead_loads_must_be(compiler):
    idle, iteration = round(latency("DRAM")), len(loop_of(DOUBLE).names)
    says("A load from memory takes {} cycles when the memory is idle", idle)
    warps = resident_warps(DOUBLE) // LIMITS.sub_partitions
    assert warps == FOUR
    says("each of the four schedulers has four warps, with {} instructions per", iteration)
    own = xray(solution.double_buffer, PRODUCT, "sm_90")
    instructions = len(_iteration_of(solution.double_buffer))
    fit = occupancy((9, 0), 256, own.registers, own.shared_bytes).warps // LIMITS.sub_partitions
    says(
        "has {}, because its tile is small, and its {} registers per thread allow {} warps",
        instructions,
        own.registers,
        fit,
    )
    assert tiles_ahead(idle, iteration, warps) == 1
    assert [tiles_ahead(idle, instructions, few) for few in (fit, FOUR, TWO)] == [1, 3, 5]
    shown = quotes.code("14", "ahead-run")
    assert f"ahead({idle}, {iteration}, {warps})" in shown
    assert f"ahead({idle}, {instructions}, warps)" in shown
    between, _ = between_load_and_store(_iteration_of(solution.double_buffer))
    assert f"between = {between}  #" in shown
    assert f"between * {fit}," in shown
    says(
        "{} of the {} instructions are between the last load and the first store. Sixteen warps "
        "start them in {} · {} = {} cycles. That is a little less than {}",
        between, instructions, between, fit, between * fit, idle,
    )  # fmt: skip
    assert 0.95 * idle < between * fit < idle
    few, _ = between_load_and_store(_iteration_of(written((BY_MINUS,))))
    says("With `side = 1 - side` they are {} instructions, and {} cycles", few, few * fit)
    large, _ = between_load_and_store(loop_of(DOUBLE).names)
    says(
        "they are {} of {} instructions, and four warps start them in {:,} cycles",
        large, iteration, FOUR * large,
    )  # fmt: skip


def test_the_second_buffer_costs_no_block():
    one, two = recorded(VECTORIZED), recorded(DOUBLE)
    says(
        "A block of `double_buffered` has {} threads. With one buffer, in `vectorized`, it takes "
        "{:,} bytes of shared memory, and {} registers per thread. With two it takes {:,} bytes, "
        "and {} registers per thread. An SM of an H200 has {:,} registers and {:,} bytes",
        DOUBLE.launch(LADDER.parse("4096")).threads,
        one["shared_bytes"],
        one["registers"],
        two["shared_bytes"],
        two["registers"],
        LIMITS.registers_per_sm,
        LIMITS.shared_kib_per_sm * 1024,
    )
    before, after = occupancy((9, 0), 256, 121, 8320), occupancy((9, 0), 256, 120, 16640)
    assert before.blocks == after.blocks == TWO
    assert before.limit == after.limit == ("registers",)
    driver = 1024
    explains(
        "14.blocks",
        "A warp takes {} · {} = {:,} registers, and a block {} · {:,} = {:,}: two blocks fit into "
        "{:,}, as before. Shared memory alone has room for {} blocks: each takes {:,} bytes, and "
        "{:,} more for the driver.",
        two["registers"], WARP, of_a_warp(two["registers"]), 256 // WARP,
        of_a_warp(two["registers"]), 8 * of_a_warp(two["registers"]), LIMITS.registers_per_sm,
        LIMITS.shared_kib_per_sm * 1024 // (two["shared_bytes"] + driver), two["shared_bytes"],
        driver,
    )  # fmt: skip


def test_three_registers_more_cost_a_quarter_of_the_warps():
    sizes, each = {"BM": 64, "BN": 64, "BK": 8}, buffers_alone.EACH
    small = [STEPS[name].variant(**sizes) for name in NAMES[:2]]
    assert {one.constants[name] for one in small for name in ("TM", "TN")} == {each}
    before, after = (recorded(one)["registers"] for one in small)
    launch, part = small[0].launch(LADDER.parse("4096")), LIMITS.registers_per_sm // 4
    says(
        "Now tiles of {}×{}×{}. A block has {} threads, still with {}×{} elements of c each. A "
        "thread of `double_buffered` takes {} registers instead of the {} of `vectorized`. A warp "
        "takes {} times a thread's registers, rounded up to a multiple of {}, from one of four "
        "parts of the SM with {:,} registers each.",
        *sizes.values(), launch.threads, each, each, after, before, WARP, LIMITS.register_unit,
        part,
    )  # fmt: skip
    says("**At {}, is `double_buffered` faster", time_bounds.SIZE)
    assert [resident_warps(one) for one in small] == [16, 12]
    slow, fast = (recorded(one)["time_ms"] for one in reversed(small))
    assert slow > 1.02 * fast
    assert (part // of_a_warp(before), part // of_a_warp(after)) == (FOUR, THREE)
    explains(
        "14.small",
        "{} registers are {:,} for a warp, rounded up to {:,}: four warps fill a part. {} are "
        "{:,}, rounded up to {:,}: three fit. With a quarter fewer warps the time goes from {:.2f} "
        "to {:.2f} ms.",
        before, WARP * before, of_a_warp(before), after, WARP * after, of_a_warp(after), fast, slow,
    )  # fmt: skip


def test_two_buffers_win_where_as_many_warps_stay_and_lose_where_fewer_do():
    won, lost = [], []
    for after in STEPS["double_buffered"].variants():
        before = STEPS["vectorized"].variant(**after.constants)
        faster = recorded(before)["time_ms"] / recorded(after)["time_ms"]
        same = resident_warps(after) == resident_warps(before)
        (won if same else lost).append(faster)
    assert (len(won), len(lost)) == (5, 3)
    assert min(won) > 1 > max(lost)


def test_half_of_the_warps_cost_less_than_a_quarter_of_them():
    gain, left = {}, {}
    for sizes in ((128, 128, 16), (64, 64, 8), (64, 64, 16)):
        one, two = (
            STEPS[name].variant(**dict(zip(TILES, sizes, strict=True))) for name in NAMES[:2]
        )
        gain[sizes] = recorded(one)["time_ms"] / recorded(two)["time_ms"]
        left[sizes] = resident_warps(two) / resident_warps(one)
    assert list(left.values()) == [1 / 2, 3 / 4, 3 / 4]
    deep, shallow, small = gain
    says(
        "With {}×{}×{} an SM loses half of its warps and the product only {:.0f} % of its speed. "
        "With {}×{}×{} and {}×{}×{} an SM loses a quarter of its warps, and the product {:.0f} % "
        "and {:.0f} %.",
        *deep, 100 * (1 - gain[deep]), *shallow, *small,
        100 * (1 - gain[shallow]), 100 * (1 - gain[small]),
    )  # fmt: skip


def test_with_64x64x16_there_is_little_to_save():
    one, two = (STEPS[name].variant(BM=64, BN=64, BK=16) for name in NAMES[:2])
    says("A profiler tells why for {}×{}×{}", *[one.constants[name] for name in TILES])
    (before, states), (after, _), (_, wide) = map(counted, (one, two, VECTORIZED))
    says(
        "there a warp of `vectorized` waits only {:.2f} of its {:.2f} cycles per instruction for "
        "global memory, and with {}×{}×{} it waits {:.2f} of {:.2f}.",
        states["long_scoreboard"], sum(states.values()), *TILES.values(),
        wide["long_scoreboard"], sum(wide.values()),
    )  # fmt: skip
    assert [resident_warps(v) / LIMITS.sub_partitions for v in (one, two)] == [FOUR, THREE]
    says(
        "a scheduler starts an instruction in {:.0f} instead of {:.0f} % of its cycles, and has "
        "{:.0f} % more to start",
        after["issue_percent"], before["issue_percent"],
        100 * (after["instructions"] / before["instructions"] - 1),
    )  # fmt: skip


def test_an_iteration_of_prefetch_is_as_it_is_described():
    code = source_of(STEPS["prefetch"].file)
    after = code.split("put_rows(sb, side, QUADS_B, me, next_b)")[-1]
    parts = ("cuda.syncthreads()", "(side, 0), y, APART_Y, a0", "(sums, a1, b1)")
    indices = [after.index(part) for part in parts]
    assert indices == sorted(indices)


def test_half_of_the_reads_come_late_and_none_of_prefetch():
    loop, early = loop_of(DOUBLE), round(latency("shared"))
    says("A read of one word from shared memory takes {} cycles on an H200", early)
    says(
        "how many reads are used within {} instructions. That is a little more than {}",
        SHARED_LATENCY,
        early,
    )
    assert loop.early_reads == len(loop.reads) / TWO
    assert loop_of(PREFETCH).early_reads == 0
    step = round(len(loop.names) / buffers_alone.DEPTH)
    says("a step of k has about {} instructions per warp", step)
    says(
        "So it has {} · {} = {} instructions to start while one warp waits {} cycles",
        THREE, step, THREE * step, early,
    )  # fmt: skip
    says("takes longer than {} cycles.", early)
    assert (early, step) == (29, 77)
    warps = resident_warps(DOUBLE)
    tile = buffers_alone.THREADS // WARP * buffers_alone.DEPTH
    wavefronts = round(time_bounds.wavefronts_per_tile(DOUBLE) / tile)
    says(
        "the {} warps of the SM take {} · {} = {} cycles of shared memory and L1, more than the "
        "{} · {} = {} instructions of a scheduler",
        warps, warps, wavefronts, warps * wavefronts, FOUR, step, FOUR * step,
    )  # fmt: skip
    assert warps * wavefronts > FOUR * step


def test_the_table_of_waits_is_counted():
    kernels = VECTORIZED, DOUBLE, PREFETCH, WARP_TILED
    states = [states for _, states in map(counted, kernels)]
    says("A profiler counted at {}×{} how", *[time_bounds.SIZE] * TWO)
    far, shared, queue, barrier = (
        [one[name] for one in states]
        for name in ("long_scoreboard", "short_scoreboard", "mio_throttle", "barrier")
    )
    says("| words from global memory | {:.2f} | {:.2f} | {:.2f} | {:.2f} |", *far)
    says("| words from shared memory | {:.2f} | {:.2f} | {:.2f} | {:.2f} |", *shared)
    says("| a place in the queue to shared memory | {:.2f} | {:.2f} | {:.2f} | {:.2f} |", *queue)
    says("| a barrier | {:.2f} | {:.2f} | {:.2f} | {:.2f} |", *barrier)
    others = [sum(one.values()) - one["selected"] for one in states]
    says("| anything, its turn included | {:.2f} | {:.2f} | {:.2f} | {:.2f} |", *others)


def test_the_profiler_counts_more_wavefronts_and_a_busier_shared_memory():
    busy, more = [], []
    for variant in (DOUBLE, PREFETCH):
        counters, _ = counted(variant)
        cycles = counters["wavefronts"] / find(REFERENCE).sms
        busy.append(100 * cycles / counters["cycles"])
        clock = find(REFERENCE).boost_clock_mhz * 1e3
        more.append(100 * (cycles / clock / bound(variant).wavefronts - 1))
    assert round(more[0]) == round(more[1])
    says(
        "which counts {:.0f} % more wavefronts than we do, a wavefront passes in {:.0f} % of the "
        "cycles of `double_buffered`, and in {:.0f} % of those of `prefetch`",
        more[0], *busy,
    )  # fmt: skip


def test_the_rest_of_warp_tiled_is_the_end_barriers_and_the_dispatcher():
    counters, states = counted(WARP_TILED)
    says("In {:.0f} % of the cycles an SM has no block", 100 * (1 - active_share(WARP_TILED)))
    says(
        "In {:.0f} % of the other cycles a scheduler has no warp that is ready. Most of this wait "
        "is at barriers, {:.2f} cycles per instruction, and for the dispatcher, {:.2f}",
        100 - counters["issue_percent"], states["barrier"], states["dispatch_stall"],
    )  # fmt: skip
    waiting = sum(states.values()) - states["selected"] - states["not_selected"]
    assert states["barrier"] + states["dispatch_stall"] > waiting / TWO


def test_prefetch_comes_close_to_its_wavefronts():
    double, prefetch, tiled = (bound(one) for one in (DOUBLE, PREFETCH, WARP_TILED))
    says(
        "`double_buffered` takes {:.2f} ms, and its wavefronts need {:.2f} ms",
        double.recorded,
        double.wavefronts,
    )
    explains(
        "14.prefetch",
        "prefetch takes {:.2f} ms, {:.2f} ms less than double_buffered, with {} instead of {} "
        "instructions per iteration. Its wavefronts need {:.2f} of the {:.2f} ms, so no schedule "
        "of these reads saves more than about {:.1f} ms.",
        prefetch.recorded, double.recorded - prefetch.recorded, len(loop_of(PREFETCH).names),
        len(loop_of(DOUBLE).names), prefetch.wavefronts, prefetch.recorded,
        prefetch.recorded - prefetch.wavefronts,
    )  # fmt: skip
    says(
        "Its wavefronts need {:.2f} instead of {:.2f} ms, and it takes {:.2f} ms. Now its "
        "instructions need the most, {:.2f} ms.",
        tiled.wavefronts, prefetch.wavefronts, tiled.recorded, tiled.instructions,
    )  # fmt: skip
    says("Where are the last {:.2f} ms?", tiled.recorded - tiled.instructions)
    assert tiled.instructions > tiled.wavefronts
    says("words of `b` that are {} apart", buffers_alone.EACH)
    says("the {}×{} elements of a thread are four quads", *[buffers_alone.EACH] * TWO)


def test_the_last_of_four_rounds_is_not_full():
    blocks = WARP_TILED.launch(LADDER.parse("4096")).blocks
    at_once = TWO * find(REFERENCE).sms
    rounds = math.ceil(blocks / at_once)
    assert rounds == FOUR
    says(
        "the {:,} blocks are started {} at a time, so the last of four rounds is {:.0f} % full",
        blocks, at_once, 100 * (blocks / at_once - THREE),
    )  # fmt: skip
    empty = 1 - active_share(WARP_TILED)
    assert empty / TWO < 1 - blocks / at_once / rounds < empty  # most of it is this round


# ---- all sizes ----


def best_times():
    rows = measured()
    rows = rows[(rows["m"] == rows["n"]) & (rows["n"] == rows["k"])]
    return rows.groupby(["step", "m"])["time_ms"].min()


def test_the_order_is_the_same_at_every_size():
    best = best_times()
    for size in map(int, SIZES):
        times = [best[name, size] for name in (*NAMES, "warp_tiled")]
        assert times == sorted(times, reverse=True)


def test_the_lines_of_the_plot_are_recorded_at_all_sizes():
    deep = STEPS["vectorized"].variant(**TILES | {"BK": 16})
    for one in (DOUBLE, PREFETCH, WARP_TILED):
        assert list(map(str, recorded_gains(deep, one).index)) == list(SIZES)
        equal = recorded_gains(VECTORIZED, one)
        assert list(equal.index) == [time_bounds.SIZE]
    says("The tiles of `vectorized` have {} steps of k", deep.constants["BK"])
    depth, n = DOUBLE.constants["BK"], time_bounds.SIZE
    says("the three others have {}. At {} `vectorized` is recorded with {}", depth, n, depth)
    says("have tiles of {}×{} elements of c", *[buffers_alone.SIDE] * TWO)


def test_small_products_gain_less_by_two_buffers():
    gains = recorded_gains(STEPS["vectorized"].variant(**TILES | {"BK": 16}), DOUBLE)
    small, large = gains.loc[:1024], gains.loc[2048:]
    assert small.min() > 1
    says(
        "From {} to {} `double_buffered` gains at most {} %, and from {} on {:.0f} to {:.0f} %",
        small.index[0], small.index[-1], math.ceil(100 * (small.max() - 1)),
        large.index[0], 100 * (large.min() - 1), 100 * (large.max() - 1),
    )  # fmt: skip
    says(
        "Up to {} there are at most {} blocks of {}×{} for {} SMs",
        small.index[-1], (small.index[-1] // buffers_alone.SIDE) ** 2,
        *[buffers_alone.SIDE] * TWO, find(REFERENCE).sms,
    )  # fmt: skip
    says("the {} steps of the other `vectorized`, with half as many waits", TILES["BK"] * TWO)


def test_with_equal_tiles_small_products_gain_as_much():
    sizes = list(map(int, SIZES))
    gains, empty = (
        [
            counted(VECTORIZED, n, caches)[0]["cycles"] / counted(DOUBLE, n, caches)[0]["cycles"]
            for n in sizes
        ]
        for caches in ("warm", "cold")
    )
    says("has compared equal tiles of {} steps", TILES["BK"])
    says(
        "`vectorized` takes {:.2f}, {:.2f} and {:.2f} times the cycles of `double_buffered` at "
        "{}, {} and {}, and {:.2f} to {:.2f} times from {} on.",
        *gains[:THREE], *sizes[:THREE], min(gains[THREE:]), max(gains[THREE:]), sizes[THREE],
    )  # fmt: skip
    waits, long = (
        [
            round(cycles_of_tile(VECTORIZED, "long_scoreboard", size=n, caches=caches), -1)
            for n in sizes
        ]
        for caches in ("warm", "cold")
    )
    says("waits {:.0f} to {:.0f} cycles per tile for them, and {:.0f} at {}",
         min(waits[:THREE]), max(waits[:THREE]), waits[FOUR], sizes[FOUR])  # fmt: skip
    says(
        "it waits {:.0f} to {:.0f} at these small sizes, and takes {:.2f} to {:.2f} times the "
        "cycles",
        min(long[:THREE]), max(long[:THREE]), min(empty[:THREE]), max(empty[:THREE]),
    )  # fmt: skip
    for n in sizes[:TWO]:  # no words come from memory
        words = n * n * TWO * 4
        assert counted(VECTORIZED, n, "warm")[0]["dram_read_bytes"] < 0.01 * words


def test_early_loads_end_one_wait_and_fewer_wavefronts_the_other():
    says("early loads ended this wait. They also waited for words from shared memory, and fewer")
    late, double, prefetch, tiled = (
        counted(one)[1] for one in (VECTORIZED, DOUBLE, PREFETCH, WARP_TILED)
    )
    assert double["long_scoreboard"] < 0.1 * late["long_scoreboard"]
    assert prefetch["short_scoreboard"] > double["short_scoreboard"]
    assert tiled["short_scoreboard"] < 0.2 * prefetch["short_scoreboard"]
    assert bound(WARP_TILED).wavefronts < bound(PREFETCH).wavefronts
    wait = ms_of(NEITHER) - bound(NEITHER).wavefronts
    assert ms_of(NEITHER) - ms_of(PREFETCH) > wait / TWO
    assert ms_of(NEITHER) - ms_of(EARLY) > ms_of(EARLY) - ms_of(BOTH)


def test_best_against_best_the_gains_are_smaller():
    best = {
        name: min(STEPS[name].variants(), key=lambda one: recorded(one)["time_ms"])
        for name in NAMES
    }
    assert (best["double_buffered"], best["prefetch"]) == (DOUBLE, PREFETCH)
    times = [recorded(one)["time_ms"] for one in (VECTORIZED, DOUBLE, PREFETCH)]
    says(
        "At {} and with the same tiles of {}×{}×{}, `double_buffered` is {:.2f} times as fast as "
        "`vectorized`, and `prefetch` {:.2f} times.",
        time_bounds.SIZE,
        *TILES.values(),
        times[0] / times[1],
        times[0] / times[2],
    )
    sizes = [best["vectorized"].constants[name] for name in TILES]
    fastest = recorded(best["vectorized"])["time_ms"]
    says(
        "`vectorized` is fastest with tiles of {}×{}×{}, and compared with that the gains are "
        "{:.2f} and {:.2f}.",
        *sizes,
        *(fastest / one for one in times[1:]),
    )


def test_the_published_tile_is_the_slowest_here():
    published = records.published("gemm_gpu")
    row = published[published["kernel"] == "register_blocked_prefetch"].iloc[0]
    assert row["device"] == "Tesla V100"
    assert "64x64x8" in row["note"]
    share = int(row["note"].split(" % of cuBLAS")[0].rpartition(" ")[2])
    small = STEPS["prefetch"].variant(BM=64, BN=64, BK=8)
    says(
        "reports {:.0f} TFLOP/s on a V100, {} % of cuBLAS, for a kernel with both prefetches and "
        "tiles of {}×{}×{}. On the H200 `prefetch` is slowest with this tile, at {:.0f} % of "
        "cuBLAS, and with {}×{}×{} it reaches {:.0f} %.",
        row["gflops"] / 1000,
        share,
        *(small.constants[name] for name in TILES),
        100 * recorded(small)["library_ratio"],
        *TILES.values(),
        100 * recorded(PREFETCH)["library_ratio"],
    )
    times = {one.params: recorded(one)["time_ms"] for one in STEPS["prefetch"].variants()}
    assert max(times, key=times.get) == small.params


@pytest.mark.slow
@pytest.mark.parametrize("one", ALONE, ids=str)
def test_the_recorded_loops_of_the_experiment_are_those_of_the_compiler(one, compiler):
    assert compiled_big_loop(one, "sm_90") == loop_of(one)


# ---- the order that the compiler makes ----


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


@pytest.mark.slow
@pytest.mark.parametrize("what", ["the solution", "1 - side", "range", "range, 1 - side"])
def test_one_word_moves_a_load(what, compiler):
    changes, between = TWELVE[what]
    assert multiply_adds_on_the_way(written(changes)) == between


@pytest.mark.slow
def test_by_minus_a_branch_is_behind_most_multiply_adds(compiler):
    ways = (_iteration_of(written(TWELVE[what][0])) for what in ("the solution", "1 - side"))
    early, late = (one[: len(one) - one[::-1].index("LDG")].count("FFMA") for one in ways)
    says("behind {} of the {} multiply-adds", late, solution.TILE)
    assert early == 0


def test_what_the_order_depends_on_is_said():
    most = sorted(between for _, between in TWELVE.values())[-4]
    says(
        "{} multiply-adds instead of {} are now between load and store. In a loop `for start in "
        "range(TILE, k + TILE, TILE)` the same change makes {} out of {}.",
        *(TWELVE[what][1] for what in ("the solution", "1 - side", "range", "range, 1 - side")),
    )
    says("Only three of the twelve have more than {} multiply-adds", most)
    more = [what for what, (_, between) in TWELVE.items() if between > most]
    assert more == ["the solution", "stored into the other side by ^", "range"]


def small_ms(kernel, n=time_bounds.SIZE):
    (row,) = (row for row in small_tiles.recorded_tiles() if (row.kernel, row.n) == (kernel, n))
    return row.time_ms


@pytest.mark.slow
def test_how_early_a_load_begins_makes_no_difference_for_small_tiles(compiler):
    late, *early = (small_ms(kernel) for kernel in small_tiles.KERNELS)
    saved = [100 * (1 - ms / late) for ms in early]
    says("To load early saves {:.0f} to {:.0f} % at {}", min(saved), max(saved), time_bounds.SIZE)
    between = small_tiles.KERNELS["while, 1 - side"][1], small_tiles.KERNELS["while, side ^ 1"][1]
    ms = small_ms("while, 1 - side"), small_ms("while, side ^ 1")
    assert between == (TWELVE["1 - side"][1], TWELVE["the solution"][1])
    says("with {} of them the product takes {:.1f} ms, and with {} it takes "
         "{:.1f} ms", between[0], ms[0], between[1], ms[1])  # fmt: skip
    assert ms[0] < ms[1]  # so more multiply-adds do not help
    few, many = "range, 1 - side", "range, side ^ 1"
    says(
        "The `for` loop with {} takes {:.0f} % longer than the one with {}, but `order_loads` has "
        "{}, too, and is the fastest",
        small_tiles.KERNELS[few][1],
        100 * (small_ms(few) / small_ms(many) - 1),
        small_tiles.KERNELS[many][1],
        small_tiles.KERNELS["order_loads"][1],
    )
    assert small_tiles.KERNELS[few][1] == small_tiles.KERNELS["order_loads"][1]
    assert small_ms("order_loads") <= min(early)  # with one buffer
    code = xray(solution.double_buffer, PRODUCT, "sm_90")
    held = occupancy((9, 0), solution.TILE**2, code.registers, code.shared_bytes)
    says("An SM holds {} warps of these kernels", held.blocks * solution.TILE**2 // WARP)


def test_the_table_of_the_small_tiles_has_all_kernels_and_sizes():
    shown = small_tiles.show_times()
    assert len(shown.rows) == len(small_tiles.KERNELS)
    assert {row.kernel for row in small_tiles.recorded_tiles()} == set(small_tiles.KERNELS)


@pytest.mark.slow
def test_twelve_ways(compiler):
    counts = {what: multiply_adds_on_the_way(written(one)) for what, (one, _) in TWELVE.items()}
    assert counts == {what: between for what, (_, between) in TWELVE.items()}
    assert (len(counts), sum(one > 4 for one in counts.values())) == (12, 3)


@pytest.mark.slow
@pytest.mark.parametrize("what", TWELVE)
def test_each_way_is_right(what):
    assert check("double_buffer", written(TWELVE[what][0])).passed
