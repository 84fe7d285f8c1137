"""Check the figures and comparisons in lesson 08 against counts and records."""

import csv
import math
import tomllib
from functools import cache, partial

import numpy as np
import pytest
from numba import cuda, uint32, void

from gemm_kernels import LADDER, occupancy_alone
from gpu_xray import xray
from labs import EXERCISES
from labs.exercises.resident_blocks.formula import BY_RULE
from labs.exercises.resident_blocks.solution import resident_blocks
from labs.exercises.shared_for.solution import shared_for
from tests import quotes
from utils import lessons as course
from utils.lessons.lesson_07 import resource_bars
from utils.lessons.lesson_08 import fewer_warps, staircase
from utils.lessons.lesson_08.resident_blocks import SMALL, blocks_that_fit
from utils.lessons.lesson_16 import reading_machine_code
from utils.lessons.recorded import row_with
from utils.machine import devices
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import best_block_size, limits_of, occupancy
from utils.measuring import records, rows
from utils.measuring.profiled_launches import counters_of, states_of
from utils.measuring.roofline import recorded
from utils.paths import DATA

H200 = (9, 0)
LIMITS = limits_of(H200)
WARP, KIB, EQUAL = 32, 1024, 8
PART = LIMITS.registers_per_sm // LIMITS.sub_partitions
SHARED = LIMITS.shared_kib_per_sm * KIB
SIDES = (8, 16, 32)
SIZE = 4096
SHAPE = f"{SIZE}x{SIZE}x{SIZE}"
DYNAMIC = LADDER.step("tiled_dynamic")
says, explains = partial(quotes.says, "08"), quotes.explains
code = partial(quotes.code, "08")
ms = fewer_warps.ms


def square(side):
    return side, side


def blocks(threads, registers, shared=0):
    return occupancy(H200, threads, registers, shared).blocks


def warps(threads, registers, shared=0):
    return occupancy(H200, threads, registers, shared).warps


def recorded_ms(side):
    """Return the H200's time of `tiled_dynamic` at 4096, regardless of this machine's records."""
    return course.recorded_ms(DYNAMIC.variant(TILE=side), str(SIZE), on=REFERENCE)


def profiled(what, kernel):
    """Return the rows of a kernel in the profiler's record of "figures" or "stalls"."""
    path = DATA / "measured" / "nvidia_h200" / f"profiler_{what}.csv"
    with path.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["kernel"] == kernel]


def share_of_samples(kernel, reason):
    """Return the share of the profiler's samples of a kernel's warps that have this reason."""
    samples = {row["reason"]: int(row["samples"]) for row in profiled("stalls", kernel)}
    return samples[reason] / sum(samples.values())


@cache
def shares():
    """Return occupancy and share of the peak at 4096, as fractions, by step."""
    shape = LADDER.parse(str(SIZE))
    return {
        variant.step.name: (
            occupancy(H200, variant.launch(shape).threads, int(row.registers),
                      int(row.shared_bytes)).fraction,
            row.efficiency,
        )
        for variant, row in recorded(LADDER, shape, REFERENCE)
    }  # fmt: skip


def fewest_and_most(step):
    rows = fewer_warps.recorded(step)
    return rows[-1].warps, rows[0].warps


def test_two_warps_are_faster_than_all_of_another_kernel():
    few, full = fewest_and_most("vectorized")[0], fewest_and_most("tiled")[1]
    assert full == LIMITS.warps_per_sm
    assert ms("vectorized", few) < ms("tiled", full)
    says("With {} warps on each SM, one matrix product of this course is faster than another one "
         "with {}", few, full)  # fmt: skip
    says("So `vectorized` with {} warps on each SM takes {:.1f} ms, and `tiled` with {} takes "
         "{:.1f} ms", few, ms("vectorized", few), full, ms("tiled", full))  # fmt: skip


def test_three_blocks_fit_the_rack_and_three_shelves_have_room_for_a_fourth():
    block = {"warp slots": 2, "registers": 5, "shared memory": 2}
    assert f"block = {block}".replace("'", '"') in code("rack")
    room = blocks_that_fit(block)
    assert min(room.values()) == room["registers"] == 3
    assert sum(count >= 4 for count in room.values()) == 3
    taken = min(room.values()) * block["warp slots"]
    says("here {} of {}, which is {:.0f} %",
         taken, SMALL["warp slots"], 100 * taken / SMALL["warp slots"])  # fmt: skip


def test_the_compute_capability_is_that_of_the_reference():
    says("the number of its generation, is {}.{}", *H200)


def test_the_case_by_hand_runs_out_of_shared_memory():
    threads, registers, asked = 128, 36, 30_000
    result = occupancy(H200, threads, registers, asked)
    needed, unit = asked + LIMITS.shared_reserved_bytes, LIMITS.shared_unit_bytes
    taken = -(-needed // unit) * unit
    assert result.limit == ("shared memory",)
    of_warp, of_block = WARP * registers, threads // WARP
    given = -(-of_warp // LIMITS.register_unit) * LIMITS.register_unit
    in_part = PART // given
    room = result.room
    assert given > of_warp
    assert taken > needed
    says("Take blocks of {} threads with {} registers per thread and {:,} bytes of shared memory: "
         "- **Warp slots:** A block has {} warps, so there is room for {} ÷ {} = {} blocks. "
         "- **Registers:** A warp needs {} · {} = {:,}, rounded up to {:,}, the next "
         "multiple of {}. So a part has room for {:,} ÷ {:,} = {} warps, rounded down.",
         threads, registers, asked, of_block, LIMITS.warps_per_sm, of_block, room["warp slots"],
         WARP, registers, of_warp, given, LIMITS.register_unit, PART, given, in_part)  # fmt: skip
    says("The four parts have room for {}, which are {} blocks. - **Shared memory:** A block "
         "needs {:,} + {:,} = {:,} bytes, rounded up to {:,}, a multiple of {}, and {:,} ÷ "
         "{:,} is {}, rounded down. Shared memory runs out first: {} blocks, {} of {} warps.",
         in_part * LIMITS.sub_partitions, room["registers"], asked, LIMITS.shared_reserved_bytes,
         needed, taken, unit, SHARED, taken, room["shared memory"], result.blocks, result.warps,
         LIMITS.warps_per_sm)  # fmt: skip


def test_the_prediction_meets_the_rounding_of_registers():
    threads, few, more = 256, 40, 41
    unit, of_warp = LIMITS.register_unit, WARP * more
    given = -(-of_warp // unit) * unit
    in_part, slots = PART // given, PART // given * LIMITS.sub_partitions
    says("Now blocks of {} threads without shared memory. With {} registers per thread an SM holds "
         "{} of them. **How many does it hold with {}?", threads, few, blocks(threads, few),
         more)  # fmt: skip
    explains("08.registers",
             "A warp needs {} · {} = {:,} registers and gets the next multiple of {}, which is "
             "{:,}. A part has room for {:,} ÷ {:,} = {} warps, four parts for {}, and {} ÷ {} = "
             "{} blocks.", WARP, more, of_warp, unit, given, PART, given, in_part, slots, slots,
             threads // WARP, blocks(threads, more))  # fmt: skip
    assert LIMITS.sub_partitions == 4


def test_the_check_has_the_answers_that_the_text_counts():
    with (DATA / "measured" / "nvidia_h200" / "occupancy.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cases = EXERCISES["resident_blocks"].all_cases
    says("and recorded {} answers. Your function is checked against {} of them, and before them "
         "against {} cases for the rules", len(rows), len(cases) - len(BY_RULE),
         len(BY_RULE))  # fmt: skip
    assert len(cases) - len(BY_RULE) == sum(not row["carveout"] for row in rows)


def test_the_calculator_gives_all_answers_of_the_driver():
    with (DATA / "measured" / "nvidia_h200" / "occupancy.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            shared = int(row["static_bytes"]) + int(row["dynamic_bytes"])
            carveout = int(row["carveout"]) if row["carveout"] else None
            result = occupancy(H200, int(row["threads"]), int(row["registers"]), shared, carveout)
            assert result.blocks == int(row["blocks"])


def test_a_register_more_costs_nothing_or_two_blocks():
    threads = staircase.THREADS
    says("Here is your function for blocks of {} threads", threads)
    first, last = 41, 48
    assert len({blocks(threads, count) for count in range(first, last + 1)}) == 1
    assert blocks(threads, first - 1) > blocks(threads, first) > blocks(threads, last + 1)
    says("from {} to {} per thread nothing changes", first, last)
    free, dear = 32, 33
    says("an SM holds {} blocks with {} registers, and {} with {}",
         blocks(threads, free), free, blocks(threads, dear), dear)  # fmt: skip
    answers = staircase.driver_answers()
    assert answers[free] - answers[dear] == 2
    assert all(resident_blocks(threads, count, 0) == held for count, held in answers.items())


def test_a_limit_of_registers_can_cost_more_than_it_gains():
    limit = 80
    file = records.file_of(REFERENCE, reading_machine_code.SPILLS)
    free, *_ = (row for row in rows.read(file, reading_machine_code.SpillRecord)
                if row.kernel == "fma_loop" and row.max_registers is None)  # fmt: skip
    says("with {} registers per thread, where the compiler wants {}, a loop of "
         "[lesson 16](16_reading_the_machine_code.ipynb) takes {:.2f} times as long", limit,
         free.registers, course.spilled_ms("fma_loop", limit) / free.time_ms)  # fmt: skip


def test_the_teeth_of_the_curve_of_block_sizes():
    threads, registers, tooth = 256, 40, 160
    assert f"sliders((9, 0), threads={threads}, registers={registers})" in code("sliders")
    says("for a kernel with {} registers per thread and no shared memory. In the others the "
         "registers or the shared memory change, with {} threads per block. The dot is the kernel "
         "with {} threads", registers, threads, threads)  # fmt: skip
    by_slots = [size for size in range(1, 1025)
                if occupancy(H200, size, registers).limit == ("block slots",)]  # fmt: skip
    assert by_slots == list(range(1, WARP + 1))
    says("Blocks of up to {} threads run out of block slots", by_slots[-1])
    room = max(warps(size, registers) for size in range(1, 1025))
    says("{} registers leave room for {} warps, and a block size that does not divide {} warps",
         registers, room, room)  # fmt: skip
    says("Blocks of {} threads have {} warps, so {} blocks fit, and they have only {} warps",
         tooth, tooth // WARP, blocks(tooth, registers), warps(tooth, registers))  # fmt: skip


def test_the_three_squares_of_tiled_dynamic_fill_the_sm():
    rows = records.measured(REFERENCE, "gemm")
    registers = int(rows[rows["step"] == "tiled_dynamic"]["registers"].unique().item())
    launches = [DYNAMIC.variant(TILE=side).launch(LADDER.parse(str(SIZE))) for side in SIDES]
    per_thread = {one.shared_bytes // one.threads for one in launches}
    assert len(per_thread) == 1
    says("so a block needs {} bytes per thread", *per_thread)
    best = best_block_size(H200, registers, lambda threads: 8 * threads)
    says("{} registers and {} bytes per thread, the driver suggests {:,} threads, a tile of "
         "{}×{}. But tiles of {}×{} and {}×{} fill the SM as well. Here are all three with their "
         "recorded times at {}×{}", registers, *per_thread, best, *square(SIDES[2]),
         *square(SIDES[0]), *square(SIDES[1]), *square(SIZE))  # fmt: skip
    assert best == SIDES[2] ** 2
    held = {warps(one.threads, registers, one.shared_bytes) for one in launches}
    says(
        "`tiled` with tiles of {}×{} has {} warps, too, and takes only {:.1f} ms",
        *square(SIDES[1]),
        fewer_warps.recorded("tiled")[0].warps,
        course.recorded_ms(LADDER.step("tiled").variant(TILE=SIDES[1]), str(SIZE), on=REFERENCE),
    )
    says("All three have {} warps on each SM, and still the smallest tile takes {:.2f} times as "
         "long as the largest", *held, recorded_ms(SIDES[0]) / recorded_ms(SIDES[2]))  # fmt: skip


def test_the_launches_of_the_experiment_are_those_of_the_readers_function():
    for step, static_bytes in (("naive", 0), ("tiled", fewer_warps.STATIC_BYTES)):
        for row in fewer_warps.recorded(step)[1:]:
            assert row.shared_bytes == shared_for(row.blocks, static_bytes)
    for row in occupancy_alone.recorded_times():
        assert row.device == REFERENCE
        assert row.n == SIZE
    says("for products of {}×{}. `naive`", *square(SIZE))
    says("all launches ask for the largest shared memory, {} KiB", LIMITS.shared_kib_per_sm)


@pytest.mark.slow
def test_half_of_the_warps_of_naive_take_twice_as_long():
    full, half = fewer_warps.recorded("naive")[0], LIMITS.warps_per_sm // 2
    estimate = resource_bars.times_of(LADDER.step("naive"))
    busiest = max(estimate.instructions, estimate.wavefronts, estimate.memory)
    says("has blocks of {} threads, and {} of them fill an SM. It takes {:.1f} ms in this "
         "experiment, and [lesson 07](07_tiling.ipynb) estimated that the busiest part of an SM "
         "works for {:.1f} ms of this. In a profiler's samples {:.0f} % of its warps wait for a "
         "word from memory. **How many times as long does it take with {} blocks, which are {} "
         "warps?**",
         WARP * full.warps // full.blocks, full.blocks, full.time_ms, busiest,
         100 * share_of_samples("naive", "long_sb"), full.blocks // 2, half)  # fmt: skip
    now = ms("naive", half)
    explains("08.half",
             "Recorded are {:.1f} and {:.1f} ms: {:.1f} ÷ {:.1f} = {:.2f}. Each warp keeps its "
             "pace, so half of the warps do half of the work in the same time.",
             now, full.time_ms, now, full.time_ms, now / full.time_ms)  # fmt: skip
    *rows, last = fewer_warps.recorded("naive")
    for row in rows:
        assert row.time_ms * row.warps == pytest.approx(full.time_ms * full.warps, rel=0.02)
    above = last.time_ms * last.warps / (full.time_ms * full.warps) - 1
    says("From {} to {} warps its recorded times are on the dashed line: half of the warps take "
         "twice the time.", full.warps, rows[-1].warps)  # fmt: skip
    says("With {} warps the time is {:.0f} % above the dashed one.", last.warps, 100 * above)
    says("even with {} warps the busiest part of the SM works for only {:.0f} % of the time",
         full.warps, 100 * busiest / full.time_ms)  # fmt: skip


def test_few_warps_of_naive_are_ready_while_another_runs():
    says("In the profiler's samples only {:.0f} % of the warps are ready while the scheduler runs "
         "another one", 100 * share_of_samples("naive", "not_selected"))  # fmt: skip


def with_warps(count, step="naive"):
    """Return the counters of a profiled launch of a timed step with this many warps on an SM."""
    row = row_with(fewer_warps.recorded(step), warps=count)
    if step == "vectorized" and row == fewer_warps.recorded(step)[0]:
        return counters_of(row.kernel, SHAPE)  # it was profiled as the course launches it
    return counters_of(f"{row.kernel}, at most {row.blocks} per SM", SHAPE)


def test_b_comes_from_memory_in_each_round_of_blocks():
    full, *_, last = fewer_warps.recorded("naive")
    device, launch = devices.find(REFERENCE), LADDER.step("naive").variant().launch
    rounds = [math.prod(launch(LADDER.parse(str(SIZE))).grid) / (row.blocks * device.sms)
              for row in (full, last)]  # fmt: skip
    cache_bytes, bytes_of_b = device.l2_kib * KIB, 4 * SIZE**2
    assert cache_bytes < bytes_of_b
    for row, count in zip((full, last), rounds, strict=True):
        counted = with_warps(row.warps)["dram_read_bytes"]
        assert counted == pytest.approx(count * bytes_of_b, rel=0.04)
    says("its {:.0f} MB do not keep the {:.0f} MB of `b` from one round of blocks to the next. "
         "With {} warps there are {:.1f} rounds, with {} warps {:.1f}. If each of them reads `b` "
         "from memory, these are {:.2f} and {:.1f} GB", cache_bytes / 1e6, bytes_of_b / 1e6,
         full.warps, rounds[0], last.warps, rounds[1],
         *(count * bytes_of_b / 1e9 for count in rounds))  # fmt: skip


def test_longer_waits_are_seen_where_no_other_cycles_are_saved():
    rows = [row for row in fewer_warps.recorded("naive") if row.warps in (8, 16, 32, 64)]
    waits, others, printed = [], [], []
    for row in rows:
        counters = with_warps(row.warps)
        states = states_of(counters)
        waits.append(states.pop("long_scoreboard"))
        others.append(sum(states.values()))
        printed += [row.warps, counters["dram_read_bytes"] / 1e9, counters["l2_read_hit_percent"],
                    waits[-1], waits[-1] + others[-1]]  # fmt: skip
    says("| {} | {:#.3g} | {:.0f} % | {:.1f} | {:.1f} | | {} | {:#.3g} | {:.0f} % | {:.1f} | "
         "{:.1f} | | {} | {:#.3g} | {:.0f} % | {:.1f} | {:.1f} | | {} | {:#.3g} | {:.0f} % | "
         "{:.1f} | {:.1f} |", *printed)  # fmt: skip
    assert waits == sorted(waits)
    says("From {} to {} warps the other cycles fall from {:.1f} to {:.1f}, because fewer warps "
         "want the same scheduler. With {} warps they fall only to {:.1f}", rows[0].warps,
         rows[2].warps, others[0], others[2], rows[3].warps, others[3])  # fmt: skip
    turns = [with_warps(row.warps)["not_selected"] for row in rows]
    assert turns[0] - turns[2] > 0.5 * (others[0] - others[2])
    slower = with_warps(rows[3].warps)["cycles"] * rows[3].warps
    slower /= with_warps(rows[0].warps)["cycles"] * rows[0].warps
    assert slower == pytest.approx((waits[3] + others[3]) / (waits[0] + others[0]), abs=0.02)


def test_nearly_all_slots_are_filled_while_naive_runs():
    counters = with_warps(LIMITS.warps_per_sm)
    cycles, issued = sum(states_of(counters).values()), counters["issue_percent"]
    slots = LIMITS.warps_per_sm // LIMITS.sub_partitions
    filled = issued / 100 * cycles
    assert 0.98 * slots < filled <= slots
    says("A scheduler issues an instruction in {:.1f} % of the cycles, and a warp one in {:.1f} "
         "cycles. So a scheduler has {:.3f} · {:.1f} = {:.1f} of {} warps on average: nearly all "
         "slots are filled all the time, and still it has nothing to issue in {:.1f} % of the "
         "cycles.", issued, cycles, issued / 100, cycles, filled, slots,
         100 - issued)  # fmt: skip


def test_tiled_gains_less_and_less_from_more_warps():
    first, second, third, last = 8, 16, 32, 64
    says("The curve of `tiled`, here with tiles of {}×{}, bends: from {} to {} warps its time "
         "falls by a factor of {:.2f}, but from {} to {} warps only by a factor of {:.2f}",
         *square(16), first, second, ms("tiled", first) / ms("tiled", second),
         third, last, ms("tiled", third) / ms("tiled", last))  # fmt: skip
    assert fewer_warps.recorded("tiled")[0].kernel == "tiled TILE=16"
    few, many = (with_warps(count, "tiled") for count in (third, last))
    before, now = states_of(few), states_of(many)
    longer = sum(now.values()) / sum(before.values())
    twice = last // third
    says("The profiler counts the cycles that a warp takes per instruction: {:.1f} with {} warps, "
         "and {:.1f} with {}. Twice the warps with {:.2f} times the cycles are {} ÷ {:.2f} = "
         "{:.2f} times as fast.", sum(now.values()), last, sum(before.values()), third, longer,
         twice, longer, twice / longer)  # fmt: skip
    assert twice / longer == pytest.approx(ms("tiled", third) / ms("tiled", last), rel=0.01)
    added = {state: now[state] - before[state] for state in now}
    says("In {:.1f} of the added cycles a warp is ready while the scheduler runs another one, and "
         "in {:.1f} it is in the queue to shared memory", added["not_selected"],
         added["mio_throttle"])  # fmt: skip
    assert sorted(added, key=added.get)[-2:] == ["mio_throttle", "not_selected"]


def test_with_8_warps_each_the_kernels_differ_by_more_than_their_pace():
    most = fewest_and_most("vectorized")[1]
    full = fewer_warps.recorded("vectorized")[0]
    constants = dict(pair.split("=") for pair in full.kernel.split()[1:])
    tm, tn = int(constants["TM"]), int(constants["TN"])
    rows = records.measured(REFERENCE, "gemm").query("step == 'vectorized'")
    registers = rows[rows["params"] == full.kernel.partition(" ")[2]]["registers"].unique().item()
    says("Each of its threads computes {}×{} elements of `c`, so it keeps {} sums in registers. "
         "With {} registers per thread an SM holds {} of its warps, an occupancy of {:.0f} %, and "
         "it takes {:.2f} ms. Now leave each kernel {} warps per SM. Then `naive` takes {:.1f} "
         "ms.", tm, tn, tm * tn, int(registers), most, 100 * most / LIMITS.warps_per_sm,
         ms("vectorized", most), EQUAL, ms("naive", EQUAL))  # fmt: skip
    assert most == 2 * EQUAL
    naive, now, before = ms("naive", EQUAL), ms("vectorized", EQUAL), ms("vectorized", most)
    explains("08.equal",
             "At the same pace per warp, vectorized would take {} · {:.2f} = {:.2f} ms with half "
             "of them: {:.1f} times. Recorded are {:.2f} ms: {:.1f} ÷ {:.2f} = {:.1f}. Its {} "
             "sums per thread do not wait for each other.", 2, before, 2 * before,
             naive / (2 * before), now, naive, now, naive / now, tm * tn)  # fmt: skip
    assert "draw_equal(8)" in code("reveal-equal")
    says("At the vertical mark of the figure all five kernels have {} warps on each SM, and their "
         "times differ by a factor of {:.1f}", EQUAL, naive / now)  # fmt: skip
    assert len(fewer_warps.STEPS) == 5
    sums = [fewer_warps.sums(step) for step in ("naive", "ilp", "register_blocked", "vectorized")]
    says("`naive` has {} per thread, `ilp` of [lesson 11](11_ilp.ipynb) has {}, "
         "`register_blocked` of [lesson 12](12_register_blocking.ipynb) has {}, and `vectorized` "
         "has {}.", *sums)  # fmt: skip


def test_fewer_instructions_are_one_part_of_the_gain_and_shorter_waits_the_other():
    kernels = [fewer_warps.recorded(step)[0].kernel for step in ("naive", "vectorized")]
    many, few = (counters_of(one, SHAPE)["instructions"] for one in kernels)
    slower = ms("naive", EQUAL) / ms("vectorized", EQUAL)
    says("the warps of `naive` issue {:.1f} billion instructions, those of `vectorized` {:.2f} "
         "billion, a factor of {:.1f}. With the same number of warps the rest of {:.1f}, a factor "
         "of {:.1f}, is less time per instruction", many / 1e9, few / 1e9, many / few, slower,
         slower / (many / few))  # fmt: skip


def test_shared_memory_and_independent_sums_shorten_the_time_per_instruction():
    count = 2 * EQUAL
    printed, cycles = [], []
    for step in ("naive", "tiled", "vectorized"):
        states = states_of(with_warps(count, step))
        cycles.append(sum(states.values()))
        printed += [fewer_warps.sums(step), states["long_scoreboard"], cycles[-1]]
    says("Here is a warp's time per instruction with {} warps on each SM, in cycles:", count)
    says("| `naive` | {} | {:.1f} | {:.1f} | | `tiled` | {} | {:.1f} | {:.1f} | | `vectorized` | "
         "{} | {:.1f} | {:.1f} |", *printed)  # fmt: skip
    says("`tiled` has {} sum per thread, like `naive`, so shared memory saves the first {:.1f} "
         "cycles. `vectorized` has its words there, too, and its {} sums come with {:.1f} cycles "
         "less.", fewer_warps.sums("tiled"), cycles[0] - cycles[1], fewer_warps.sums("vectorized"),
         cycles[1] - cycles[2])  # fmt: skip
    assert fewer_warps.sums("naive") == fewer_warps.sums("tiled")


def test_two_warps_reach_two_schedulers():
    few = fewest_and_most("vectorized")[0]
    share = 2 * SIZE**3 / (ms("vectorized", few) * 1e6) / devices.find(REFERENCE).fp32_gflops
    says("But `vectorized` needs more than {} warps, too. A warp belongs to one scheduler, so {} "
         "warps leave {} of the {} schedulers without work. The product then runs at {:.0f} % of "
         "the peak, which is {:.0f} % of what two schedulers can do", few, few,
         LIMITS.sub_partitions - few, LIMITS.sub_partitions, 100 * share,
         100 * share * LIMITS.sub_partitions / few)  # fmt: skip
    says("From {} to {} warps its time doubles", 2 * few, few)
    assert ms("vectorized", few) / ms("vectorized", 2 * few) == pytest.approx(2, rel=0.01)


def test_a_ratio_of_times_does_not_show_the_sums():
    few, most = fewest_and_most("vectorized")
    fewer, full = fewest_and_most("tiled")
    assert most // few == full // fewer == 8
    says("From {} to {} warps the time of <code>vectorized</code> grows only by a factor of "
         "{:.2f}, although only an eighth of the warps is left. But <code>tiled</code>, with {} "
         "sum per thread, grows from {} to {} warps only by a factor of {:.2f}. Such a ratio is "
         "below {}",
         most, few, ms("vectorized", few) / ms("vectorized", most), fewer_warps.sums("tiled"),
         full, fewer, ms("tiled", fewer) / ms("tiled", full), most // few)  # fmt: skip


def test_more_warps_were_faster_with_one_exception():
    slower = [
        (before.kernel.split()[0], before.warps, now.warps)
        for step in (*fewer_warps.STEPS, "tiled_dynamic")
        for before, now in zip(fewer_warps.recorded(step), fewer_warps.recorded(step)[1:])
        if before.time_ms > now.time_ms
    ]
    ((step, more, fewer),) = slower
    of_block = 64 * 64  # elements of c
    grid, sms = SIZE * SIZE // of_block, devices.find(REFERENCE).sms
    held = [count // (fewer_warps.recorded(step)[-1].warps) for count in (more, fewer)]
    rounds = [grid / (sms * blocks) for blocks in held]
    empty = [1 - count / math.ceil(count) for count in rounds]
    says("with one exception: <code>vectorized</code> takes {:.2f} ms with {} warps, and {:.2f} ms "
         "with {}, a difference of {:.0f} %.", ms(step, more), more, ms(step, fewer), fewer,
         100 * (ms(step, more) / ms(step, fewer) - 1))  # fmt: skip
    says("Its grid has {:,} blocks. With {} blocks on each of {} SMs they need {:.2f} rounds, and "
         "with {} blocks {:.2f} rounds. Started rounds count as whole ones, so {:.0f} % of the "
         "room for blocks stays empty in the one case, and {:.0f} % in the other. This explains "
         "about {:.0f} % of the time.", grid, held[0], sms, rounds[0], held[1], rounds[1],
         100 * empty[0], 100 * empty[1],
         100 * ((1 - empty[1]) / (1 - empty[0]) - 1))  # fmt: skip


def test_12_warps_of_vectorized_wait_longer_for_shared_memory_than_14():
    before, slow, after = 14, 12, 10
    row = row_with(fewer_warps.recorded("vectorized"), warps=slow)
    kernel = f"{row.kernel}, at most {row.blocks} per SM"
    profiled_ms = [counters_of(kernel, SHAPE, caches)["time_ns"] / 1e6
                   for caches in ("cold", "warm")]  # fmt: skip
    says("With {} warps the times also vary: our repetitions took {:.2f} to {:.2f} ms, and two "
         "launches under the profiler {:.2f} and {:.2f} ms.", slow, row.time_ms_min,
         row.time_ms_max, *profiled_ms)  # fmt: skip
    waits = [with_warps(count, "vectorized")["short_scoreboard"] for count in (slow, after, before)]
    says("A warp waits {:.2f} cycles per instruction for words from shared memory with {} warps, "
         "{:.2f} with {}, and only {:.2f} with {}. <b>Open question:</b> why do {} warps wait "
         "longer for shared memory than {}?", waits[0], slow, waits[1], after, waits[2], before,
         slow, before)  # fmt: skip
    assert max(waits) == waits[0]


def test_full_occupancy_stays_low_and_the_fast_steps_have_little():
    full = [share for fraction, share in shares().values() if fraction == 1]
    fast = [fraction for fraction, share in shares().values() if share >= 0.5]
    assert shares()["naive"][0] == shares()["tiled"][0] == 1
    says("with its fastest constants, at {}×{}.", *square(SIZE))
    says("`naive`, `tiled` and ten others have full occupancy")
    assert len(full) == 12
    assert max(full) < 0.25
    says("All kernels that reach half of the peak have an occupancy of {:.0f} % or less",
         100 * max(fast))  # fmt: skip


def test_published_libraries_became_faster_with_smaller_blocks_and_half_the_occupancy():
    rows = records.published("occupancy_paradox").to_dict("records")
    for before, after in (rows[:2], rows[2:]):
        assert after["threads_per_block"] < before["threads_per_block"]
        assert after["occupancy_pct"] / before["occupancy_pct"] == pytest.approx(0.5, abs=0.02)
        assert after["gflops"] > before["gflops"]
    sources = tomllib.loads((DATA / "sources.toml").read_text(encoding="utf-8"))
    says("V. Volkov showed this in {}", sources["Volkov 2010"]["year"])


def test_the_guide_and_its_answer_are_as_published():
    rows = records.published("claims").query("claim.str.startswith('threads per SM that hide')")
    against = rows["note"].str.startswith("against")
    needed = sorted(float(value) for value in rows[~against]["value"])
    enough = sorted(float(value) for value in rows[against]["value"])
    capabilities = rows[~against]["device"].str.extract(r"capability (\d\.\w)")[0].sort_values()
    old, new = capabilities
    assert old.endswith(".x")
    says("said {:.0f} for compute capability {}.x, and {:.0f} for {}. With independent "
         "instructions Volkov needed {:.0f} and {:.0f}",
         needed[0], old[0], needed[1], new, *enough)  # fmt: skip
    sources = tomllib.loads((DATA / "sources.toml").read_text(encoding="utf-8"))
    says("Best Practices Guide of {} said", sources["Volkov 2010"]["year"])


def test_a_launch_with_more_than_48_kib_needs_a_higher_limit():
    says("A launch with more than {} KiB, which are {:,} bytes", LIMITS.shared_kib_per_block,
         LIMITS.shared_kib_per_block * KIB)  # fmt: skip


def test_exercise_1_an_older_gpu_has_fewer_block_slots():
    capability = (3, 5)
    limits = limits_of(capability)
    old = [occupancy(capability, side * side, 32, 8 * side * side) for side in SIDES]
    assert [one.fraction for one in old] == [0.5, 1, 1]
    assert limits.registers_per_sm == LIMITS.registers_per_sm
    says("It has as many registers as an H200, and {} KiB of shared memory",
         limits.shared_kib_per_sm)  # fmt: skip
    says("has compute capability {}.{}, with {} warp slots and only {} block slots",
         *capability, limits.warps_per_sm, limits.blocks_per_sm)  # fmt: skip
    says("{}×{} and {}×{} fill it. Blocks of {}×{} have two warps each, and {} of them fill {} of "
         "{} warp slots: {:.0f} %.", *square(SIDES[1]), *square(SIDES[2]), *square(SIDES[0]),
         old[0].blocks, old[0].warps, limits.warps_per_sm, 100 * old[0].fraction)  # fmt: skip


def test_exercise_2_occupancy_counts_warps_and_not_threads():
    few, more, registers = 32, 33, 40
    one, two = occupancy(H200, few, registers), occupancy(H200, more, registers)
    assert one.limit == ("block slots",)
    says("Blocks of {} threads or of {} threads, {} registers", few, more, registers)
    says("{} threads are two warps, and the second has one thread. {} threads: {} blocks, {:.0f} "
         "%; the block slots run out. {} threads: {} blocks of two warps, {:.0f} %. But the SM "
         "then holds {} · {} = {} threads, and before {} · {} = {:,}.",
         more, few, one.blocks, 100 * one.fraction, more, two.blocks, 100 * two.fraction,
         two.blocks, more, two.blocks * more, one.blocks, few, one.blocks * few)  # fmt: skip


def test_the_exercises_are_those_of_the_lesson():
    exercises = {name for name, one in EXERCISES.items() if one.lesson == "08"}
    checked = {"resident_blocks", "best_block", "shared_for"}
    in_labs = {"required_shared", "square_side", "device_occupancy", "dynamic_tiles", "launch_best"}
    assert exercises == checked | in_labs


def test_the_formula_of_the_lab_needs_blocks_of_the_same_thing():
    sms, held, threads = devices.find(REFERENCE).sms, 6, 256
    assert blocks(threads, 40) == held
    of_sm = LIMITS.threads_per_sm
    says("and an H200 has {}. Six blocks of {} threads on an SM with room for {:,} would give "
         "{:.2f} %. Without the number of SMs the formula gives {:.0f} %", sms, threads, of_sm,
         100 * held * threads / (of_sm * sms), 100 * held * threads / of_sm)  # fmt: skip


@cuda.jit
def by_argument(x, size, out):
    out[cuda.grid(1)] = x[cuda.grid(1)] * size


SIZE_ARRAY = np.array([16], np.uint32)


@cuda.jit
def by_array(x, size, out):
    out[cuda.grid(1)] = x[cuda.grid(1)] * cuda.const.array_like(SIZE_ARRAY)[0]


def test_an_argument_is_in_constant_memory_and_a_constant_array_in_the_instruction(compiler):
    signature = void(uint32[::1], uint32, uint32[::1])
    argument, array = (
        [f"{one.opcode} {', '.join(one.operands)}" for one in xray(kernel, signature, "sm_90").code]
        for kernel in (by_argument, by_array)
    )
    assert "ULDC UR6, c[0x0][0x248]" in argument
    assert any(one.startswith("IMAD") and "UR6" in one for one in argument)
    assert any(one.startswith("IMAD") and "0x10" in one for one in array)


@pytest.mark.slow
def test_the_block_size_is_in_constant_memory_too(compiler):
    code = xray(DYNAMIC.variant().kernel, DYNAMIC.signature, "sm_90").code
    assert any("c[0x0][0x0]" in one.operands for one in code)  # blockDim.x, as CUDA has it there


def test_the_compiler_gives_the_products_the_registers_of_the_text(compiler):
    for step in (DYNAMIC, LADDER.step("tiled")):
        assert xray(step.variant().kernel, step.signature, "sm_90").registers == 32


def test_warp_slots_and_registers_can_run_out_together():
    both = {"warp slots", "registers"}
    assert any(set(occupancy(H200, 256, count).limit) == both for count in range(1, 41))
    says("If two resources run out together, the area has the colour of one of them")
