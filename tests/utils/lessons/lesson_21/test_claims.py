"""Check the claims of lesson 21 against counts, machine code and records."""

import inspect
import math
from functools import partial

import numpy as np
import pytest

from gemm_kernels import LADDER as GEMM
from labs.exercises.attainable.solution import attainable
from labs.exercises.busy_share.solution import busy_share
from labs.exercises.fused import solution as fusing
from labs.exercises.pipe_roof.solution import pipe_roof
from latency_kernels import LADDER as LATENCY
from reduce_kernels import LADDER as REDUCE
from tests import quotes
from tools.records import counted_steps as counting
from utils import lessons as course
from utils.ladder.explain import trace_step
from utils.ladder.shapes import GemmShape
from utils.ladder.tasks import ERROR_PER_ROOT_K
from utils.lessons import profiler
from utils.lessons.compiled_loops import recorded_loop
from utils.lessons.lesson_21 import launches, roofline_analysis
from utils.lessons.lesson_21.counted_steps import (
    ceilings,
    counts_of,
    recorded_counts,
    recorded_of,
)
from utils.lessons.recorded import record_of
from utils.machine import devices
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring import records, roofline
from utils.measuring.profiled_launches import counters_of, states_of

NAIVE, TILED, STRIDED = (GEMM.step(name) for name in ("naive", "tiled", "naive_strided"))
PROFILED = [GEMM.step(name) for name in ("naive", "tiled", "vectorized", "autotuned")]
AUTOTUNED = PROFILED[-1]
BLOCKED, BLOCKED_1D = course.unnamed_kernels().values()
WIDE = {"BM": 128, "BN": 128, "BK": 8}
PROFILED_SHAPE = "4096x4096x4096"
SHOWN = ("naive", "tiled", "register_blocked", "vectorized", "warp_tiled", "autotuned")
H200 = devices.find("NVIDIA H200")
N, SIZE, LARGE = 4096, "4096", 2**30
WORD, LANES = 4, 32
BASE = 10  # of the powers in the text
MATRIX = WORD * N**2  # bytes
PEAK, DRAM, L2, PIPE = (round(rate) for rate in (ceilings().gflops, *ceilings().gb_per_s.values()))
SLOTS = ceilings().instructions
WAVEFRONTS = ceilings().gb_per_s["shared"] / roofline.WAVEFRONT_BYTES
DIGITS = (1, 2, 2, 3, 2, 2)  # decimals of `shown_counts` in the prose
says = partial(quotes.says, "21")


def shown_counts(step) -> list[float]:
    """Return the arguments of `busy_share` for a step at 4096."""
    counts = counts_of(step)
    parts = (counts.flops, counts.dram_bytes, counts.l2_bytes, counts.wavefronts,
             counts.instructions)  # fmt: skip
    return [*(part / 1e9 for part in parts), course.recorded_ms(step)]


def resident(step) -> int:
    """Return the blocks of a step that all SMs of an H200 hold at once, for its record at 4096."""
    launch, record = course.fastest(step).launch(GEMM.parse(SIZE)), record_of(step, SIZE)
    one = occupancy(
        H200.compute_capability, launch.threads, int(record.registers), int(record.shared_bytes)
    )
    return H200.sms * one.blocks


def rate_of(step) -> float:
    """Return the recorded GFLOP/s of a step at 4096."""
    return counts_of(step).flops / course.recorded_ms(step) / 1e6


# ---- the counts that are kept ----


def test_every_recorded_product_is_counted():
    assert set(recorded_of(GEMM, "4096")) == {str(variant) for variant, _ in counting.steps()}


@pytest.mark.slow
@pytest.mark.parametrize("one", list(counting.steps()), ids=lambda one: str(one[0]))
def test_kept_counts_are_those_of_the_virtual_gpu(one):
    now, kept = counting.count(*one), recorded_counts()[str(one[0])]
    assert vars(kept) == pytest.approx(vars(now), rel=1e-6)


@pytest.mark.slow
def test_naive_counted_now_has_two_wavefronts_for_a_multiply_add():
    now = roofline.counted(NAIVE.variant(), GEMM.parse("4096"), recorded_loop("naive").hot_loop)
    assert now.wavefronts == pytest.approx(counts_of(NAIVE).wavefronts, rel=1e-6)
    multiply_adds = now.flops / 2 / 32
    assert now.wavefronts / multiply_adds == pytest.approx(2, rel=1e-3)


# ---- the ridge and DRAM ----


def test_the_ceilings_and_the_ridge_are_those_of_the_text():
    says("reached {:,} GFLOP/s with a loop of multiply-adds on an H200, and {:,} GB/s", PEAK, DRAM)
    says("the ridge of DRAM is at {:.1f} operations per byte", PEAK / DRAM)
    says("needs only about {:.0f} to run at its peak", PEAK / DRAM)
    intensity = counts_of(NAIVE).flops / counts_of(NAIVE).dram_bytes
    assert intensity == pytest.approx(N / 6)
    says("which is {:.0f} for n = {}", intensity, N)
    says("can serve {:.0f} operations", intensity)
    share = 100 * rate_of(NAIVE) / PEAK
    says("reach no more than {:.1f} % of it", share)
    says("The L2 cache of an H200 delivers {:,} GB/s", L2)


def test_three_launches_move_more_than_twice_the_bytes_of_one():
    three, one = launches.bytes_of_three(), launches.bytes_of_one(fusing.fused)
    assert (three, one) == (WORD * 7, WORD * 3)
    says("reaches at most {:.1f} % of the peak", 100 * launches.OPERATIONS / one * DRAM / PEAK)
    steps = ("(x[i] - mean) * scale", "t[i] + y[i]", "max(s[i], float32(0))")
    kernels = (launches.normalise, launches.add, launches.cut)
    for kernel, step in zip(kernels, steps, strict=True):
        assert step in inspect.getsource(kernel.py_func)
    x, y, out = np.float32([-1]), np.float32([0]), np.ones(1, np.float32)
    fusing.fused[1, 1](x, np.float32(0), np.float32(1), y, out)
    says("values become {:.0f}, in three launches", out[0])


def test_the_best_sums_lie_a_little_above_the_slope_and_the_products_far_right_of_the_ridge():
    slope = ceilings().gb_per_s["DRAM"]
    sums = roofline.points(REDUCE, "2^30", H200.name)
    rates = sums["gflops"] / sums["intensity"]
    assert 1 < rates.max() / slope < 1.15
    (copy,) = roofline.points(LATENCY, "2^30", H200.name).itertuples()
    assert (copy.label, copy.intensity) == ("copy", 1 / 8)
    assert counts_of(NAIVE).flops / counts_of(NAIVE).dram_bytes > 40 * PEAK / DRAM
    says("all recorded products at {}×{}", N, N)
    assert roofline_analysis.LARGE == "2^30"
    says("and a copy, with {} elements", f"2^{LARGE.bit_length() - 1}")


def test_three_matrices_have_201_mb_and_none_fits_into_l2():
    sizes = 3 * MATRIX / 1e6, MATRIX / 1e6
    says("The three matrices have {:.0f} MB. One of them has {:.0f} MB", *sizes)
    says("the L2 cache of an H200 holds {:.0f} MB at most", H200.l2_kib * 1024 / 1e6)
    says("How many times {:.0f} MB", 3 * MATRIX / 1e6)
    assert H200.l2_kib * 1024 < MATRIX


def test_waves_of_blocks_explain_the_bytes_that_naive_moves_through_dram():
    launch, at_once = NAIVE.variant().launch(GEMM.parse(SIZE)), resident(NAIVE)
    says("A block of `naive` has {}×{} threads", *launch.block)
    says("and {} blocks make a row of blocks", launch.grid[0])
    per_sm = at_once // H200.sms
    says("The {} SMs hold {} blocks each, so {:,} blocks run", H200.sms, per_sm, at_once)
    rows_of_blocks = at_once / launch.grid[0]
    rows = rows_of_blocks * launch.block[1]
    passes = N / rows
    quotes.explains(
        "21.dram",
        "At once {:.2f} rows of blocks run, which are {:.0f} rows of c, and for them all of b "
        "passes DRAM. That happens {} ÷ {:.0f} = {:.0f} times, and a and c pass once: {:.0f} times "
        "{:.0f} MB are {:.0f} times {:.0f} MB.",
        rows_of_blocks, rows, N, rows, passes, passes + 2, MATRIX / 1e6, (passes + 2) / 3,
        3 * MATRIX / 1e6,
    )  # fmt: skip
    assert course.dram_over_least(NAIVE) == pytest.approx((passes + 2) / 3, rel=0.02)


def test_tiled_moves_as_much_as_if_each_row_of_blocks_loaded_all_of_b():
    launch = course.fastest(TILED).launch(GEMM.parse(SIZE))
    says("Two of its rows of blocks, each {} rows high, run at the same time", launch.block[1])
    assert resident(TILED) // launch.grid[0] == resident(TILED) // H200.sms == 2
    passes = passes_of_b("tiled TILE=32")
    assert passes == pytest.approx(launch.grid[0] * launch.grid[1] / H200.sms, rel=0.01)
    says("`b` passed {:.0f} times, as if the two blocks of an SM shared nothing", passes)
    assert 1.9 < course.dram_over_least(TILED) / course.dram_over_least(NAIVE) < 2.1


def passes_of_b(kernel: str) -> float:
    """Return how often all of b passed DRAM in a profiled launch, if a passed once."""
    return counters_of(kernel, PROFILED_SHAPE)["dram_read_bytes"] / MATRIX - 1


def waiting(kernel: str) -> float:
    """Return the part of a warp's time, in percent, in which it waits for loaded words."""
    states = states_of(counters_of(kernel, PROFILED_SHAPE))
    return 100 * states["long_scoreboard"] / sum(states.values())


def passes_if_all_share(variant, blocks: int) -> float:
    """Return how often b passes if all blocks that run together, `blocks` per SM, share it."""
    return math.prod(variant.launch(GEMM.parse(SIZE)).grid) / (blocks * H200.sms)


def test_fewer_blocks_of_tiled_wait_for_a_larger_part_of_their_time_and_share_all():
    variant = TILED.variant(TILE=16)
    side, counts = variant.constants["TILE"], (8, 4, 2)
    says("With tiles of {}×{}, `tiled` was profiled with {}, {} and {} blocks on each SM", side,
         side, *counts)  # fmt: skip
    rows = []
    for blocks in counts:
        kernel = f"{variant}, at most {blocks} per SM"
        rows.append((passes_if_all_share(variant, blocks), passes_of_b(kernel), waiting(kernel)))
    printed = [figure for count, row in zip(counts, rows, strict=True) for figure in (count, *row)]
    says("| `tiled` | {} | {:.0f} | {:.0f} | {:.0f} % | | `tiled` | {} | {:.0f} | {:.0f} | "
         "{:.0f} % | | `tiled` | {} | {:.0f} | {:.0f} | {:.0f} % |", *printed)  # fmt: skip
    of_most, *fewer = rows
    says("`tiled` with {} blocks waits longer than `vectorized`, and shares less", counts[0])
    assert of_most[1] > 4 * of_most[0]
    assert all(passes == pytest.approx(least, rel=0.01) for least, passes, _ in fewer)
    assert [part for *_, part in rows] == sorted(part for *_, part in rows)
    assert of_most[2] > waiting(str(GEMM.step("vectorized").variant(**WIDE)))


def test_blocks_that_wait_less_for_words_share_fewer_of_them():
    frame = records.measured(H200.name, "gemm")
    passes, waits, printed = [], [], []
    for name in ("vectorized", "double_buffered", "prefetch"):
        variant = GEMM.step(name).variant(**WIDE)
        rows = frame[(frame["step"] == name) & (frame["m"] == N) & (frame["k"] == N)]
        (record,) = (row for row in rows.itertuples() if row.params == variant.params)
        launch = variant.launch(GEMM.parse(SIZE))
        one = occupancy(
            H200.compute_capability, launch.threads, int(record.registers), int(record.shared_bytes)
        )
        assert one.blocks == 2
        least = passes_if_all_share(variant, one.blocks)
        passes.append(passes_of_b(str(variant)))
        waits.append(waiting(str(variant)))
        assert least < passes[-1] < 2 * least
        printed += [one.blocks, least, passes[-1], waits[-1]]
    says("| `vectorized` | {} | {:.1f} | {:.1f} | {:.0f} % | | `double_buffered` | {} | {:.1f} | "
         "{:.1f} | {:.0f} % | | `prefetch` | {} | {:.1f} | {:.1f} | {:.0f} % |",
         *printed)  # fmt: skip
    assert passes == sorted(passes)
    assert waits == sorted(waits, reverse=True)
    says("have two blocks per SM, with tiles of {}×{}", WIDE["BM"], WIDE["BN"])


def test_blocks_that_wait_alike_do_not_share_alike():
    variant = course.fastest(GEMM.step("vectorized"))
    counts = (6, 5)
    kernels = [f"{variant}, at most {blocks} per SM" for blocks in counts]
    waits = [waiting(kernel) for kernel in kernels]
    more = [
        passes_of_b(kernel) / passes_if_all_share(variant, blocks)
        for kernel, blocks in zip(kernels, counts, strict=True)
    ]
    says("With tiles of {}×{} `vectorized` waits {:.0f} % of the time with {} blocks per SM and "
         "{:.0f} % with {}, and yet `b` passes {:.1f} and {:.1f} times as often as if all share",
         variant.constants["BM"], variant.constants["BN"], waits[0], counts[0], waits[1],
         counts[1], *more)  # fmt: skip


def test_words_of_naive_come_from_dram_at_4096_and_not_at_2048():
    small, large = (counters_of("naive", f"{n}x{n}x{n}") for n in (N // 2, N))
    assert 3 * WORD * (N // 2) ** 2 < H200.l2_kib * 1024 < MATRIX
    assert small["dram_read_bytes"] == pytest.approx(2 * WORD * (N // 2) ** 2, rel=0.01)
    says(
        "L2 finds only {:.0f} % of what `naive` asks it for at {}", large["l2_read_hit_percent"], N
    )
    says("At {} all three matrices fit into L2. There a warp waits {:.1f} cycles per instruction "
         "for loaded words instead of {:.1f}", N // 2, small["long_scoreboard"],
         large["long_scoreboard"])  # fmt: skip
    frame = records.measured(H200.name, "gemm").query("step == 'naive'")
    (rate,) = frame[(frame["m"] == N // 2) & (frame["k"] == N // 2)]["gflops"]
    says(
        "and the pipe is busy for {:.0f} % of the time", 100 * rate / pipe_roof(1, 1, 1, PEAK, PIPE)
    )


def test_waves_of_blocks_of_vectorized_give_nearly_as_many_bytes_as_the_profiler():
    vectorized = GEMM.step("vectorized")
    launch = course.fastest(vectorized).launch(GEMM.parse(SIZE))
    columns, rows_of_blocks = launch.grid
    rows = resident(vectorized) / columns * N / rows_of_blocks
    passes = N / rows
    least, profiled = (passes + 2) / 3, course.dram_over_least(vectorized)
    says("the blocks that run together compute {:,.0f} rows of `c`", rows)
    says("So `b` passes only {:.1f} times, and the count gives {:.1f} times", passes, least)
    assert 0.8 < least / profiled < 1


def test_dram_does_not_limit_naive_even_if_l2_keeps_nothing():
    columns, rows = NAIVE.variant().launch(GEMM.parse(SIZE)).block
    allowed = attainable(rows, columns, PEAK, DRAM)
    says("A block computes {}×{} elements", rows, columns)
    says("returns {:,.0f} GFLOP/s. But `naive` reaches only {:,.0f}", allowed, rate_of(NAIVE))
    call = f"`attainable({rows}, {columns}, {PEAK:_}, {DRAM:_})` returns"
    assert any(call in cell for cell in quotes.prose_of("21"))
    assert rate_of(NAIVE) < allowed / 2


# ---- the pipe to shared memory and L1 ----


def test_wavefronts_agree_within_6_percent_and_l2_within_a_third():
    for row in course.counted_and_profiled(*PROFILED).rows:
        l2, l2_profiled, wavefronts, profiled = map(float, row[1:])
        assert wavefronts == pytest.approx(profiled, rel=0.06)
        assert -0.09 < l2 / l2_profiled - 1 < 0.33, row
    rows = course.counted_and_profiled(*PROFILED).rows
    off = max(abs(float(row[3]) / float(row[4]) - 1) for row in rows)
    says("The wavefronts agree within {:.0f} %", np.ceil(100 * off))
    (*_, (_, l2, profiled, *_)) = course.counted_and_profiled(*PROFILED).rows
    says("and for `autotuned` {:.0f} % too low", 100 * (1 - float(l2) / float(profiled)))


def test_the_pipe_brings_128_bytes_per_wavefront():
    says("the pipe could bring {} bytes, {} for each of {} lanes", roofline.WAVEFRONT_BYTES, WORD,
         LANES)  # fmt: skip
    says("and then {} neighbouring words of `b`", LANES)
    says("with {} bytes per wavefront", roofline.WAVEFRONT_BYTES)


def test_the_task_of_the_pipe_counts_naive_as_the_virtual_gpu_does():
    counts = counts_of(NAIVE)
    allowed = counts.flops / counts.wavefronts / roofline.WAVEFRONT_BYTES * PIPE
    assert pipe_roof(1, 1, 1, PEAK, PIPE) == pytest.approx(allowed, rel=1e-3)


def test_the_first_half_of_the_ladder_is_limited_by_the_pipe_and_the_last_steps_are_not():
    steps = (GEMM.step(name) for name in ("tiled", "granularity", "ilp"))
    assert {roofline_analysis.busiest(step)[0] for step in steps} == {"the pipe"}
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
    assert names.index("multi_output") < names.index("tiled")
    assert rate_of(GEMM.step("multi_output")) > rate_of(TILED)
    assert max(shares) < 1
    says("which was K above, at {:.0f} % of what the pipe allows",
         100 * min(shares))  # fmt: skip


def test_vectorized_needs_more_wavefronts_and_fewer_instructions_than_register_blocked():
    before, after = (counts_of(GEMM.step(name)) for name in ("register_blocked", "vectorized"))
    assert course.recorded_ms(GEMM.step("vectorized")) < course.recorded_ms(BLOCKED)
    says("`vectorized` needs {:.1f} times as many wavefronts", after.wavefronts / before.wavefronts)
    says("but only {:.1f} times as many instructions", after.instructions / before.instructions)
    name, _ = roofline_analysis.busiest(BLOCKED)
    assert name == "issue slots"
    says("its issue slots are busy for {:.0f} % of the time", course.busiest_share(BLOCKED))
    needed, record = roofline_analysis._needed(BLOCKED), course.recorded_ms(BLOCKED)
    assert record - needed["issue slots"] < needed["issue slots"] - needed["the pipe"]
    constants = course.fastest(BLOCKED).constants
    says(
        "`register_blocked` of this record has {}×{} sums per thread",
        constants["TM"],
        constants["TN"],
    )
    defaults = BLOCKED.variant().constants
    says("The one of lesson 13 has {}×{}", defaults["TM"], defaults["TN"])
    waiting = {name: 1 - course.busiest_share(GEMM.step(name)) / 100 for name in SHOWN}
    assert waiting["register_blocked"] < waiting["naive"]


def test_the_kernels_k_and_l_gain_from_different_changes():
    columns = [shown_counts(step) for step in (BLOCKED, BLOCKED_1D)]
    operations, dram, l2, wavefronts, instructions, times = zip(*columns, strict=True)
    says("| operations | {:.1f} | {:.1f} |", *operations)
    says("| bytes of DRAM, at least | {:.2f} | {:.2f} |", *dram)
    says("| bytes of L2 | {:.2f} | {:.2f} |", *l2)
    says("| wavefronts | {:.3f} | {:.3f} |", *wavefronts)
    says("| instructions | {:.2f} | {:.2f} |", *instructions)
    says("| **recorded time, in ms** | {:.2f} | {:.2f} |", *times)
    rounded = [list(map(round, column, DIGITS)) for column in columns]
    (*_, k_slots, k_ms), (*_, l_waves, l_slots, l_ms) = rounded
    halved = [[*column[:3], column[3] / 2, *column[4:]] for column in rounded]
    k_before, l_before = (busy_share(*column) for column in rounded)
    k_after, l_after = (busy_share(*column) for column in halved)
    assert k_before == k_after
    assert l_after < l_before - 10
    rates = round(SLOTS), round(WAVEFRONTS)
    quotes.explains(
        "21.change",
        "K: the issue slots need {:.2f} ÷ {:,} s = {:.2f} ms of {:.2f}, with half of the "
        "wavefronts, too. L: the pipe needs {:.3f} ÷ {} s = {:.2f} ms of {:.2f}. With half of "
        "that, the issue slots need longest: {:.2f} ms.",
        k_slots, rates[0], 1e3 * k_slots / rates[0], k_ms, l_waves, rates[1],
        1e3 * l_waves / rates[1], l_ms, 1e3 * l_slots / rates[0],
    )  # fmt: skip
    schedulers = limits_of(H200.compute_capability).sub_partitions * H200.sms
    says("Its {} schedulers issue at most one instruction of a warp per cycle", schedulers)
    says("which makes {:,} · {}⁹ per second at {:.2f} GHz", rates[0], BASE, SLOTS / schedulers)
    says("serve {:,} ÷ {} = {} · {}⁹ wavefronts per second", PIPE, roofline.WAVEFRONT_BYTES,
         rates[1], BASE)  # fmt: skip
    says("for the product at {}", N)
    says("| in {}⁹ | K | L |", BASE)
    for step, shown in ((BLOCKED, k_before), (BLOCKED_1D, l_before)):
        assert course.busiest_share(step) == pytest.approx(shown, abs=0.5)
    assert course.saved_by_half_the_wavefronts(BLOCKED_1D) > 0
    assert max(rate_of(BLOCKED), rate_of(BLOCKED_1D)) < PEAK / 2


def test_naive_strided_is_explained_if_each_cache_line_takes_a_wavefront():
    trace = trace_step(STRIDED.variant(), GemmShape(256, 256, 256), blocks=1)
    addresses = [np.array(trace.warp_access(name).addresses) for name in "ab"]
    sectors = sum(len(set(each // 32)) for each in addresses)
    lines = sum(len(set(each // 128)) for each in addresses)
    words, cache_lines = (len(set(addresses[0] // each)) for each in (WORD, 128))
    says("the {} words of `a` are in {} cache lines", words, cache_lines)
    assumed = sectors / roofline.SECTORS_PER_WAVEFRONT
    assert lines / assumed == 4
    name, estimate = roofline_analysis.busiest(STRIDED)
    assert name == "the pipe"
    assert 0.24 < estimate / course.recorded_ms(STRIDED) < 0.26
    record = course.recorded_ms(STRIDED)
    says("the pipe needs four times {:.1f} ms, which is {:.0f} of the {:.0f} ms recorded at {}",
         estimate, 4 * estimate, record, N)  # fmt: skip
    assert 4 * estimate == pytest.approx(record, rel=0.01)


def test_naive_strided_is_faster_only_if_its_rows_are_no_power_of_two_apart():
    frame = records.measured(H200.name, "gemm").query("step == 'naive_strided'")
    _, estimate = roofline_analysis.busiest(STRIDED)
    allowed = counts_of(STRIDED).flops / (4 * estimate) / 1e6
    says("This would allow {:.0f} GFLOP/s at any size", allowed)
    square = frame[(frame["m"] == frame["n"]) & (frame["n"] == frame["k"])]
    assert all(int(n).bit_count() == 1 for n in square["n"])
    assert square["gflops"].between(0.9 * allowed, 1.02 * allowed).all()
    fastest = frame.loc[frame["gflops"].idxmax()]
    says("with rows of {:,} words the kernel reaches {:.0f}", fastest["k"], fastest["gflops"])


# ---- the exercise ----


def test_from_32_l2_and_from_64_even_dram_is_no_limit():
    def first(rate):
        return next(s for s in (8, 16, 32, 64, 128) if attainable(s, s, PEAK, rate) == PEAK)

    by_l2, by_dram = first(L2), first(DRAM)
    says("L2 limits no tile of {}×{} or more, and DRAM none of {}×{} or more", by_l2, by_l2,
         by_dram, by_dram)  # fmt: skip
    says("left to gain after tiles of {}×{} in shared memory", by_dram, by_dram)


# ---- counts, times, and the profiler ----


def test_naive_needs_two_resources_equally_long_and_waits_for_loads():
    needed, ms = roofline.times(counts_of(NAIVE), ceilings()), course.recorded_ms(NAIVE)
    slots, pipe = needed["issue slots"], needed["shared memory and L1"]
    assert max(needed.values()) == slots
    assert sorted(needed.values())[-2] == pipe
    says("busy for as long as the pipe, within {:.0f} %", np.ceil(100 * (slots / pipe - 1)))
    operations = counts_of(NAIVE).flops
    says("the pipes of all SMs bring {:,} GB/s", PIPE)
    says("which are {:.1f} · {}⁹, and `naive` takes {:.1f} ms", operations / 1e9, BASE, ms)
    assert f"{operations / 1e9:.1f}" == f"{2 * N**3 / 1e9:.1f}"
    of_profiler = course.dram_over_least(NAIVE) * needed["DRAM"]
    assert of_profiler < slots
    assert course.busiest_share(NAIVE) < 100 * 2 / 3
    says("with the bytes of the profiler it would be {:.1f} ms long", of_profiler)
    wavefronts = 2 * roofline.WAVEFRONT_BYTES
    quotes.explains(
        "21.busy",
        "The pipe allows {} ÷ {} · {:,} = {:,.0f} GFLOP/s. At this rate {:.1f} · {}⁹ operations "
        "take {:.1f} ms. The issue slots are busy for {:.1f} ms, which is {:.0f} % of {:.1f} ms.",
        2 * LANES, wavefronts, PIPE, 2 * LANES / wavefronts * PIPE, operations / 1e9, BASE, pipe,
        slots, course.busiest_share(NAIVE), ms,
    )  # fmt: skip
    for name in ("Issue Slots Busy", "L1/TEX Cache Throughput"):
        assert 57 < profiler.figure(NAIVE, name) < 61
    reason, share = profiler.most_frequent_wait(NAIVE)
    assert (reason, f"{share:.0%}") == ("long_sb", "80%")


def test_busy_by_count_and_by_the_profiler_agree_within_6_points():
    figures = {"issue slots": "Issue Slots Busy", "the pipe": "L1/TEX Cache Throughput"}
    ours = [course.busiest_share(step) for step in PROFILED]
    profiled = [
        profiler.figure(step, figures[roofline_analysis.busiest(step)[0]]) for step in PROFILED
    ]
    says("the busiest resource was: {:.0f}, {:.0f}, {:.0f} and {:.0f} % of the time", *profiled)
    says("and recorded times, are {:.0f}, {:.0f}, {:.0f} and {:.0f} %", *ours)
    off = np.abs(np.subtract(ours, profiled))
    says("%, within {:.0f} points of it", np.ceil(off.max()))
    assert profiler.most_frequent_wait(TILED)[0] == "mio"
    assert roofline_analysis.busiest(AUTOTUNED)[0] == "issue slots"


def test_two_of_three_samples_of_naive_stand_at_its_first_multiply_add():
    rows = profiler.sampled(NAIVE)
    first = next(row for row in rows if row.opcode == "FFMA")
    assert first.reason == "long_sb"
    total = sum(row.samples for row in rows)
    loads = sum(row.samples for row in rows if row.opcode.startswith("LDG"))
    quotes.explains(
        "21.samples",
        "The first multiply-add has {:.0f} % of the samples. It needs the first loaded words, so "
        "here the warps wait. A load only sends its request, and its warp goes on: all loads "
        "together have {:.0f} %.",
        100 * first.samples / total, 100 * loads / total,
    )  # fmt: skip
    assert first == max(rows, key=lambda row: row.samples)
    assert course.most_sampled(NAIVE) == "a multiply-add"
    mix = recorded_loop("naive").mix
    warps = resident(NAIVE) // H200.sms * NAIVE.variant().launch(GEMM.parse(SIZE)).threads // LANES
    says("An SM holds {} of these warps, and each sends {} loads per iteration", warps,
         mix["LDG.32"])  # fmt: skip
    says("and {} warps do not hide it", warps)
    wavefronts = warps * mix["LDG.32"]
    says("These are {} wavefronts, for which the pipe needs {} cycles", wavefronts, wavefronts)
    record, pipe = course.recorded_ms(NAIVE), roofline_analysis._needed(NAIVE)["the pipe"]
    cycles = round(wavefronts * record / pipe / 50) * 50
    says("takes {:.1f} ÷ {:.1f} times as long, about {:.0f} cycles", record, pipe, cycles)
    per_instruction = profiler.figure(NAIVE, "Warp Cycles Per Issued Instruction")
    says("issues an instruction every {:.2f} cycles, and the loop has {}, which makes {:.0f}",
         per_instruction, sum(mix.values()), per_instruction * sum(mix.values()))  # fmt: skip
    assert f"{sum(mix.values()) + 1} instructions;" in course.draw_samples(NAIVE).alt
    says("it has {} loads, then {} multiply-adds", mix["LDG.32"], mix["FFMA"])


def test_no_estimate_is_above_its_record_and_the_shown_ones_are_between_61_and_92_percent():
    times = recorded_of(GEMM, "4096")
    for kernel, ms in times.items():
        assert roofline_analysis.busiest(GEMM.step(kernel.partition(" ")[0]))[1] <= ms
    shown = map(GEMM.step, ("naive_strided", *SHOWN))
    assert "L2" not in {roofline_analysis.busiest(step)[0] for step in shown}
    shares = [
        roofline_analysis.busiest(GEMM.step(name))[1] / course.recorded_ms(GEMM.step(name))
        for name in SHOWN
    ]
    says("the estimate is {:.0f} % to {:.0f} % of the time", 100 * min(shares), 100 * max(shares))


# ---- what still limits it, and the exercises ----


def test_of_what_is_above_the_arithmetic_about_half_can_be_counted():
    resource_times = roofline.times(counts_of(AUTOTUNED), ceilings())
    arithmetic, slots, record = (
        resource_times["arithmetic"], resource_times["issue slots"], course.recorded_ms(AUTOTUNED),
    )  # fmt: skip
    assert roofline_analysis.busiest(AUTOTUNED)[0] == "issue slots"
    of_multiply_adds = counts_of(AUTOTUNED).flops / 2 / LANES / SLOTS / 1e6
    quotes.explains(
        "21.fastest",
        "Each multiply-add takes an issue slot, too, and those of all multiply-adds last {:.2f} "
        "ms, arithmetic {:.2f} ms. Other instructions and waits for register banks add {:.2f} ms. "
        "The remaining {:.2f} of {:.2f} ms are waiting.",
        of_multiply_adds, arithmetic, slots - of_multiply_adds, record - slots, record,
    )  # fmt: skip
    reason, waits = profiler.most_frequent_wait(AUTOTUNED)
    assert reason == "barrier"
    says("for it is a barrier, with {:.0f} % of all samples", 100 * waits)
    says("`autotuned` is under the roof, at {:.0f} % of it", 100 * rate_of(AUTOTUNED) / PEAK)
    says("A multiply-add of a warp makes {} operations in one issue slot", 2 * LANES)
    assert 0.45 < (slots - arithmetic) / (record - arithmetic) < 0.6


def test_a_sum_of_matrices_reaches_half_a_percent_of_the_peak():
    moved = 3 * WORD
    says("One operation for {} bytes, a twelfth per byte, whatever n is", moved)
    says("at most {:,} ÷ {} = {:.0f} GFLOP/s", DRAM, 3 * WORD, DRAM / 3 / WORD)
    assert 0.005 < DRAM / 12 / PEAK < 0.0056


def test_fused_and_unfused_sums_differ_in_their_last_digits():
    a, b = np.random.default_rng(21).random((2, 300, 512), dtype=np.float32)
    fused, separate = np.zeros((2, len(a)), np.float32)
    for x, y in zip(a.T, b.T, strict=True):
        fused = (fused.astype(np.float64) + x.astype(np.float64) * y).astype(np.float32)
        separate = separate + x * y
    exact = (a.astype(np.float64) * b).sum(axis=1)
    largest = {f"{(abs(one - exact) / exact).max() * BASE**7:.1f}" for one in (fused, separate)}
    says("In {} such arrays the largest error is {} · {}⁻⁷", len(a), *largest, BASE)
    assert (fused != separate).mean() == pytest.approx(1 / 3, abs=0.01)
    low, high = np.round([a.min(), a.max()])
    k = a.shape[1]
    says("A sum of {} products of random numbers between {:.0f} and {:.0f}", k, low, high)
    assert ERROR_PER_ROOT_K == BASE**-6
    allowed = BASE**5 * ERROR_PER_ROOT_K * k**0.5
    says("√k times {}⁻⁶ for a whole matrix", BASE)
    says("which is {:.1f} · {}⁻⁵ at k = {}", allowed, BASE, k)
    assert float(max(largest)) > 1
    says("A fixed bound such as {}⁻⁷ would refuse", BASE)


def test_the_smaller_gpu_needs_a_tile_of_512():
    peak, rate = 20_000, 300
    sides = [2**power for power in range(1, 12)]
    tile = next(side for side in sides if attainable(side, side, peak, rate) == peak)
    least = int(np.ceil(4 * peak / rate))
    says("the smallest for which {:,} GFLOP/s and {} GB/s leave the product right", peak, rate)
    says("A tile of T×T has T ÷ {} operations per byte", WORD)
    says("the ridge is at {:,} ÷ {} = {:.1f}", peak, rate, peak / rate)
    says("T must be at least {}, and {} is the first power of two", least, tile)
