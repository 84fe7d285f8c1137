"""Check the claims of lesson 10 against machine code, counts and records."""

from functools import cache, partial
from itertools import pairwise

import numpy as np
import pytest

from gemm_kernels import LADDER, tiles_alone
from gpu_xray import xray
from labs.exercises import find as exercise
from labs.exercises.shared_cost.formula import right as shared_cost
from tests import profiled, quotes
from tests.labs.versions import changed
from utils import lessons as course
from utils.lessons import product_bars
from utils.lessons.edits import Edit, edited
from utils.lessons.granularity import published_shares
from utils.lessons.inner_loops import recorded_loops
from utils.lessons.lesson_10.chain import CHAIN
from utils.machine import devices
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import records
from virtual_gpu import trace

TILED, GRANULARITY = LADDER.step("tiled"), LADDER.step("granularity")
GRAINS, TILES = (1, 2, 4), (8, 16, 32)
ONE, TWO, FOUR = GRAINS
SIZE, TILE = 4096, 32
BY = {grain: GRANULARITY.variant(GRAIN=grain, TILE=TILE) for grain in GRAINS}
ROWS = tiles_alone.recorded_times()
H200, K40 = course.device_shown(), devices.find("Tesla K40")
SCHEDULERS = limits_of(H200.compute_capability).sub_partitions
KERNELS = {str(variant): variant for variant in tiles_alone.variants()}
AGAIN, KEPT, BARRIERS, SINGLY = (
    KERNELS[name] for name in ("reads_again", "loop_per_tile", "more_barriers", "one_by_one")
)
run_of, wavefronts = cache(course.watch), cache(course.machine_wavefronts)
says, explains = partial(quotes.says, "10"), quotes.explains


def timed(variant):
    """Return the recorded ms of a kernel of the experiment."""
    return product_bars.recorded_times(ROWS)[str(variant)]


def instructions(variant):
    """Return the instructions per multiply-add; `test_inner_loops` compares the record."""
    return recorded_loops()["sm_90", str(variant)].per_multiply_add_with_tiles


def explained(variant):
    """Return the percent of the recorded time that the wavefronts take."""
    return 100 * product_bars.times_of(variant, ROWS).wavefronts / timed(variant)


def passed(variant):
    """Return the multiply-adds of a thread per barrier that it passes."""
    counts = run_of(variant, "32x256x32")
    barriers = counts.totals["barriers"]
    return course.counting.multiply_adds(counts) / WARP / barriers


def recorded(step, shape="4096"):
    return course.recorded_ms(step, shape)


def at_1024(**constants):
    return recorded(GRANULARITY.variant(**constants), "1024")


def published(device, kernel="granularity"):
    frame = records.published("gemm_gpu")
    return frame[(frame["device"] == device) & (frame["kernel"] == kernel)].set_index("grain")


# ---- the kernel ----


def test_grain_4_makes_the_product_1_5_times_as_fast():
    for gain in (timed(BY[ONE]) / timed(BY[FOUR]), recorded(BY[ONE]) / recorded(BY[FOUR])):
        says("A block that computes four tiles of c instead of one makes the product {:.1f} times "
             "as fast", gain)  # fmt: skip
    says("the **grain** is the number of elements of c per thread: {} in lesson 07, and {} in the "
         "last moments of the picture.", *GRAINS[:2])  # fmt: skip


@pytest.mark.slow
def test_a_word_written_twice_is_read_once_by_the_machine_code(compiler):
    twice = changed(
        "two_tiles",
        ("            from_a = tile_a[ty, i]\n", ""),
        ("from_a *", "tile_a[ty, i] *"),
    )
    loops = [
        xray(kernel, GRANULARITY.signature, "sm_90").hot
        for kernel in (exercise("two_tiles").solution, twice)
    ]
    assert loops[0].instructions["LDS"] == loops[1].instructions["LDS"]
    side = exercise("two_tiles").launch((80, 64, 112)).block[0]
    says("Here is your kernel beside the kernels of the course with tiles of {}×{}.", side, side)


def test_the_targets_of_two_tiles_are_1_5_words_and_half_of_them():
    goals = " ".join(target.words for target in exercise("two_tiles").targets)
    reads = 1 + 1 / TWO
    assert f"at most {reads:g} reads from shared memory per multiply-add" in goals
    assert f"at least {reads / 2:g} words from shared memory per multiply-add" in goals
    says("The target of at least {:g} words only says that the sums must use shared memory; the "
         "kernel that you want reads {:g}.", reads / 2, reads)  # fmt: skip


@pytest.mark.slow
def test_all_steps_written_out_at_once_are_too_many_for_the_compiler(compiler):
    whole = edited(GRANULARITY.file, Edit("UNROLL = 8", "UNROLL = 32")).STEP
    loop, ladder_loop = course.hot_loop(whole.variant(GRAIN=4, TILE=32)), course.hot_loop(BY[FOUR])
    assert loop.per_multiply_add > ladder_loop.per_multiply_add
    says("writes out eight steps of k ([lesson 06](06_unrolling.ipynb)). All {} would be too many "
         "for the compiler.", TILE)  # fmt: skip


@pytest.mark.slow
def test_a_block_with_grain_2_reads_96_and_384_words_for_twice_the_elements():
    small = edited(GRANULARITY.file, Edit("UNROLL = 8", "UNROLL = 4")).build(GRAIN=TWO, TILE=4)
    counts, sides = [], []
    for kernel, grid in ((TILED.build(TILE=4), (2, 2)), (small, (1, 2))):
        accesses = trace(kernel, grid, (4, 4), *np.ones((3, 8, 8), np.float32), blocks=1).accesses
        loads = accesses[accesses["kind"] == "load"].groupby("space")["lanes"].sum()
        is_store = (accesses["kind"] == "store") & (accesses["space"] == "global")
        sides.append(int((accesses[is_store]["lanes"].sum() / len(sides or [1])) ** 0.5))
        counts.append((loads["global"], loads["shared"], accesses[is_store]["lanes"].sum()))
    (words, reads, elements), (more_words, more_reads, more_elements) = counts
    assert more_elements == TWO * elements
    says("Watch one block of {}×{} threads: first of `tiled`, then of a kernel with grain {}.",
         sides[0], sides[0], TWO)  # fmt: skip
    says("For twice the elements the second block reads {} words instead of {} from global memory, "
         "and {} instead of {} from shared memory.",
         more_words, words, more_reads, reads)  # fmt: skip


# ---- words and wavefronts ----


@pytest.mark.slow
def test_reads_of_shared_memory_fall_with_the_grain_and_those_of_b_stay():
    shown = course.words_per_multiply_add(grain_1=BY[ONE], grain_2=BY[TWO], grain_4=BY[FOUR])
    assert [row[1:] for row in shown.rows] == [
        ("2", "1/32", "1/32"),
        ("1.5", "1/64", "1/32"),
        ("1.25", "1/128", "1/32"),
    ]
    few = course.loads_per_multiply_add(run_of(BY[FOUR]), "shared")
    many = course.loads_per_multiply_add(run_of(BY[ONE]), "shared")
    says("With grain {} it costs two reads from shared memory.", ONE)
    assert many == 2
    says("The reads of a multiply-add fall from {:g} to {:g} words, and {:g} ÷ {:g} = {:g}.",
         many, few, many, few, many / few)  # fmt: skip
    says("With tiles of {}×{} and matrices of {}×{}, grain {} takes {:.2f} ms on an H200 and grain "
         "{} takes {:.2f} ms. That is {:.2f} times faster.",
         TILE, TILE, product_bars.N, product_bars.N, ONE, timed(BY[ONE]), FOUR, timed(BY[FOUR]),
         timed(BY[ONE]) / timed(BY[FOUR]))  # fmt: skip
    assert {row.device for row in ROWS} == {H200.name}
    says("the {:g} was near to {:.2f} by chance.", many / few, timed(BY[ONE]) / timed(BY[FOUR]))
    text = """In one step a thread reads {} word of sa and {} of sb, for {} multiply-adds.
        {} ÷ {} = {}: the word of sa is shared by {} multiply-adds, and each needs its own word of
        sb."""
    explains("10.reads", text, 1, FOUR, FOUR, FOUR + 1, FOUR, few, FOUR)


@pytest.mark.slow
def test_the_function_of_the_task_gives_the_wavefronts_of_the_machine_code():
    half, grains = 0.5, (ONE, FOUR)
    for grain in GRAINS:
        assert wavefronts(BY[grain]) == shared_cost(grain, half)
    for step in (TILED, BY[FOUR]):
        assert wavefronts(step) == pytest.approx(course.profiled_wavefronts(step))
    says("`shared_cost(1, 1)` and `shared_cost(4, 1)` give the {:.1f} of the source, and with {} "
         "they give what the GPU does. The profiler counts the same wavefronts for `tiled` "
         "and for grain {}.", shared_cost(ONE, 1) / shared_cost(FOUR, 1), half, FOUR)  # fmt: skip
    says("fall from grain {} to grain {}?**", *grains)
    says("one multiply-add in each of its {} lanes.", WARP)
    few, many = wavefronts(BY[FOUR]), wavefronts(BY[ONE])
    ratio = many / few
    text = """Grain {}: {} + {} + {} ÷ {} = {:.2f} wavefronts.
        Grain {}: {} + {} ÷ {} + {} ÷ {} = {:.2f}. {:.2f} ÷ {:.2f} = {:.2f} and not {:g},
        because joined reads had made the words of sa cheap already."""
    explains(
        "10.wavefronts", text, ONE, 1, half, 2, TILE, many, FOUR, 1, half, FOUR, FOUR + 1,
        TILE * FOUR, few, many, few, ratio, 2 / (1 + 1 / FOUR),
    )  # fmt: skip


@pytest.mark.slow
def test_wavefronts_are_three_quarters_of_the_time_of_grain_1():
    cycle = SIZE**3 / WARP / H200.sms / H200.boost_clock_mhz / 1e3
    assert {row.sm_clock_mhz for row in ROWS} == {H200.boost_clock_mhz}
    says("All multiply-adds of the product take {:.2f} ms at one cycle each, on {} SMs at {:.2f} "
         "GHz. So the wavefronts of grain {} take {:.2f} × {:.2f} = {:.1f} ms.",
         cycle, H200.sms, H200.boost_clock_mhz / 1e3, ONE, wavefronts(BY[ONE]), cycle,
         product_bars.times_of(BY[ONE], ROWS).wavefronts)  # fmt: skip
    assert SCHEDULERS == 4
    says("But the wavefronts become {:.2f} times fewer, and the product {:.2f} times faster",
         wavefronts(BY[ONE]) / wavefronts(BY[FOUR]), timed(BY[ONE]) / timed(BY[FOUR]))  # fmt: skip
    says("The orange part is {:.0f} % of the bar of grain {}, and {:.0f} % of that of grain {}.",
         explained(BY[ONE]), ONE, explained(BY[FOUR]), FOUR)  # fmt: skip
    for grain in GRAINS:
        times = product_bars.times_of(BY[grain], ROWS)
        assert times.instructions < times.wavefronts < times.recorded


# ---- one saving after the other ----


@pytest.mark.slow
def test_only_with_a_syncwarp_the_experiment_reads_twice_as_much(compiler):
    sync = "        cuda.syncwarp()  # from here on the tile of a is read again\n"
    kernels = (
        exercise("two_tiles").solution,
        exercise("reads_again").solution,
        changed("reads_again", (sync, "")),
    )
    loops = [xray(kernel, GRANULARITY.signature, "sm_90").hot for kernel in kernels]
    wide = [sum(one.opcode == "LDS.128" for one in loop.body) for loop in loops]
    assert len({loop.ffma for loop in loops}) == 1
    assert wide[0] * 2 == wide[1]
    assert wide[2] == wide[0]


@pytest.mark.slow
def test_reads_again_has_the_wavefronts_of_grain_1_and_all_else_of_grain_4():
    says("We recorded such a kernel, with four tiles of {}×{}.", TILE, TILE)
    says("`reads_again` needs {:.2f} wavefronts per multiply-add, and grain {} needs {:.2f}. It is "
         "like grain {} in its loads, its barriers, and within {:.0f} % in its instructions.",
         wavefronts(AGAIN), ONE, wavefronts(BY[ONE]), FOUR,
         100 * (1 - instructions(AGAIN) / instructions(BY[FOUR])))  # fmt: skip
    assert wavefronts(AGAIN) == pytest.approx(wavefronts(BY[ONE]), rel=0.02)
    assert passed(AGAIN) == passed(BY[FOUR])
    for what in ("global_load_requests", "global_store_requests", "shared_store_requests"):
        counts = [run_of(one, "32x256x32").totals[what] for one in (AGAIN, BY[FOUR])]
        assert counts[0] == counts[1]
    says("it would take the {:.2f} ms of grain {}. If they were none, it would take the {:.2f} ms "
         "of grain {}.", timed(BY[ONE]), ONE, timed(BY[FOUR]), FOUR)  # fmt: skip
    text = """From grain {} to reads_again everything but the reads and the order of the sums
        changes: {:.2f} ÷ {:.2f} = {:.2f} times. These two change from reads_again to grain {}:
        {:.2f} ÷ {:.2f} = {:.2f} times."""
    first, second, third = timed(BY[ONE]), timed(AGAIN), timed(BY[FOUR])
    explains("10.again", text, ONE, first, second, first / second, FOUR, second, third,
             second / third)  # fmt: skip


@pytest.mark.slow
def test_without_its_syncwarp_the_same_kernel_is_as_fast_as_grain_4():
    assert wavefronts(KEPT) == wavefronts(BY[FOUR])
    says("Without its `syncwarp` the same kernel takes {:.2f} ms, and it is as fast as grain {}.",
         timed(KEPT), FOUR)  # fmt: skip
    assert timed(KEPT) == pytest.approx(timed(BY[FOUR]), rel=0.03)


def sum_changes(variant):
    """Return how often a multiply-add of the hot loop adds to another sum than the one before."""
    sums, order = {}, []
    for one in xray(variant.kernel, variant.step.signature, "sm_90").hot.body:
        if one.opcode == "FFMA":
            result, *_, added = (operand.partition(".")[0] for operand in one.operands)
            sums[result] = sums.pop(added, len(order))
            order.append(sums[result])
    return sum(before != after for before, after in pairwise(order)), len(order)


@pytest.mark.slow
def test_reads_again_adds_to_one_sum_at_a_time_and_without_its_syncwarp_to_all_by_turns(compiler):
    assert [link.turns for link in CHAIN] == [1, 1, 1, FOUR]
    assert sum_changes(BY[ONE])[0] == 0
    for kernel in (AGAIN, SINGLY):
        changes, work = sum_changes(kernel)
        assert changes < 0.1 * work
    for kernel in (KEPT, BY[FOUR]):
        changes, work = sum_changes(kernel)
        assert changes > 0.6 * work
    says("Only the loops between its two barriers differ from grain {}.", FOUR)
    says("`reads_again` adds to one sum at a time, as grain {} does, so that a multiply-add waits "
         "for the one before it. Grain {} adds to its four sums by turns.", ONE, FOUR)  # fmt: skip


@pytest.mark.slow
def test_all_kernels_of_the_chain_fill_the_sm(compiler):
    launch = BY[FOUR].launch(LADDER.parse(str(SIZE)))
    needed = set()
    for link in CHAIN:
        variant = KERNELS[link.kernel]
        report = xray(variant.kernel, variant.step.signature, "sm_90")
        held = occupancy(
            H200.compute_capability, launch.threads, report.registers, report.shared_bytes
        )
        assert (held.blocks, held.fraction) == (2, 1)
        needed.add(report.registers)
    says("All kernels of the picture need {} or {} registers per thread, and an SM holds two "
         "blocks of each. So the occupancy is always {:.0f} %.",
         *sorted(needed), 100 * held.fraction)  # fmt: skip


@pytest.mark.slow
def test_more_barriers_cost_nothing():
    two = 2
    assert passed(BARRIERS) == passed(BY[ONE]) == TILE / two
    says("In grain {} a thread passes two barriers for {} multiply-adds, and in grain {} two for "
         "{}. `more_barriers` is grain {} with six barriers more per tile of `a`, and so with as "
         "many per multiply-add as grain {}.",
         ONE, two * passed(BY[ONE]).astype(int), FOUR, two * passed(BY[FOUR]).astype(int), FOUR,
         ONE)  # fmt: skip
    says("**How much slower is it than grain {}?**", FOUR)
    assert TILE == FOUR * tiles_alone.UNROLL
    says("the {} steps of a tile are four groups of eight", TILE)
    slower = timed(BARRIERS) / timed(BY[FOUR]) - 1
    assert abs(slower) < 0.01
    launch = BY[FOUR].launch(LADDER.parse(str(SIZE)))
    held = occupancy(H200.compute_capability, launch.threads, 32, 20480)
    assert held.blocks == 2
    longer, less = (profiled.per_multiply_add(one, "barrier") for one in (BARRIERS, BY[FOUR]))
    assert longer > 1.3 * less
    (busy,) = {round(profiled.busy(one)) for one in (BARRIERS, BY[FOUR])}
    text = """Recorded are {:.2f} ms with {} barriers per tile of a and {:.2f} ms with {}. A warp
        waits at them longer, but shared memory and L1 are busy in {} % of the cycles in both."""
    explains("10.barriers", text, timed(BARRIERS), two + 6, timed(BY[FOUR]), two, busy)
    says("An SM holds two such blocks.")


@pytest.mark.slow
def test_the_chain_has_one_saving_after_the_other():
    chain = [KERNELS[link.kernel] for link in CHAIN]
    assert chain == [BY[ONE], SINGLY, AGAIN, BY[FOUR]]
    for link, kernel in zip(CHAIN, chain, strict=True):
        loads = run_of(kernel, "32x256x32").accesses.query("array == 'a' and kind == 'load'")
        work = course.counting.multiply_adds(run_of(kernel, "32x256x32"))
        assert work / loads["lanes"].sum() == link.loads
    assert passed(SINGLY) == passed(BY[ONE])
    steps = [timed(one) / timed(other) for one, other in pairwise(chain)]
    says("multiply to the whole gain, {:.2f} ÷ {:.2f} = {:.2f}.",
         timed(BY[ONE]), timed(BY[FOUR]), np.prod(steps))  # fmt: skip
    says("**Loads and instructions**, {:.2f} times: a quarter of the loads of `a`, and {:.0f} % "
         "fewer instructions.",
         steps[0], 100 * (1 - instructions(SINGLY) / instructions(BY[ONE])))  # fmt: skip
    says("**Waits**, {:.2f} times", steps[1])
    says("**Reads and the order of the sums**, {:.2f} times: {:.2f} wavefronts instead of {:.2f}, "
         "and four sums by turns. By the wavefronts alone, {:.3f} ÷ {:.3f}, it would be {:.2f} "
         "times.",
         steps[2], wavefronts(BY[FOUR]), wavefronts(AGAIN), wavefronts(AGAIN),
         wavefronts(BY[FOUR]),
         wavefronts(AGAIN) / wavefronts(BY[FOUR]))  # fmt: skip
    assert max(steps) == steps[2]
    says("as often per multiply-add as in grain {}.", ONE)


def test_the_table_of_waits_separates_what_changed_together():
    chain = [KERNELS[link.kernel] for link in CHAIN]
    far, barrier, shared, turn, before, whole = (
        [profiled.per_multiply_add(one, *names) for one in chain]
        for names in (
            ["long_scoreboard"],
            ["barrier"],
            ["mio_throttle", "short_scoreboard"],
            ["not_selected"],
            ["wait"],
            list(profiled.states(BY[ONE])),
        )
    )
    says("| waits for words from global memory | {:.1f} | {:.1f} | {:.1f} | {:.1f} |", *far)
    says("| waits at a barrier | {:.1f} | {:.1f} | {:.1f} | {:.1f} |", *barrier)
    says("| waits for shared memory | {:.1f} | {:.1f} | {:.1f} | {:.1f} |", *shared)
    says("| waits for its turn | {:.1f} | {:.1f} | {:.1f} | {:.1f} |", *turn)
    says("| waits for the instruction before | {:.1f} | {:.1f} | {:.1f} | {:.1f} |", *before)
    says("| in all | {:.1f} | {:.1f} | {:.1f} | {:.1f} |", *whole)
    busy = list(map(profiled.busy, chain))
    says("| shared memory and L1 are busy | {:.0f} % | {:.0f} % | {:.0f} % | {:.0f} % |", *busy)
    steps = [
        {name: row[i] - row[i + 1] for name, row in
         {"far": far, "barrier": barrier, "shared": shared, "turn": turn, "before": before}.items()}
        for i in range(len(chain) - 1)
    ]  # fmt: skip
    assert max(steps[0], key=steps[0].get) == "turn"
    assert steps[0]["far"] == pytest.approx(0, abs=0.1)
    assert steps[1]["far"] + steps[1]["barrier"] > whole[1] - whole[2]
    assert steps[1]["shared"] < 0
    assert max(busy) == busy[2]
    says("| | grain {} | `one_by_one` | `reads_again` | grain {} |", ONE, FOUR)
    says("{:.0f} of its {:.0f} cycles are at shared memory. Four sums by turns can only shorten "
         "the wait for the instruction before, and this saves {:.1f}.",
         steps[2]["shared"], whole[2] - whole[3], steps[2]["before"])  # fmt: skip


# ---- what it costs, published beside recorded ----


def test_on_the_k40_registers_leave_room_for_six_blocks_with_grain_4():
    k40 = published("Tesla K40")
    block, side = 256, 16
    registers, ms = list(k40["registers"]), list(k40["time_ms"])
    result = occupancy(K40.compute_capability, block, registers[-1], 5120)
    assert (result.blocks, result.limit) == (6, ("registers",))
    says("says what its kernels needed on a Tesla K40, with tiles of {}×{}.", side, side)
    says("On the K40 the registers grow with the grain, from {} to {}. With grain {} an SM holds "
         "six blocks, because their registers fill it: an occupancy of {:.0f} %.",
         registers[0], registers[-1], FOUR, 100 * result.fraction)  # fmt: skip
    says("the lecture measured {} ms with grain {} and {} ms with grain {}.",
         ms[0], ONE, ms[-1], FOUR)  # fmt: skip


def test_on_the_h200_registers_and_occupancy_stay():
    rows = course.grain_costs(GRANULARITY, "Tesla K40", TILE=16).rows
    h200_rows = [row for row in rows if "H200" in row[0]]
    needed = sorted({row[1] for row in h200_rows})
    says("On the H200 today's compiler needs {} or {} registers with every grain", *needed)
    assert {row[4] for row in h200_rows} == {"100 %"}


@pytest.mark.slow
def test_the_solution_of_two_tiles_needs_more_registers(compiler):
    report = xray(exercise("two_tiles").solution, GRANULARITY.signature, "sm_90")
    held = occupancy(H200.compute_capability, 256, report.registers, report.shared_bytes)
    assert held.blocks == 6
    says("`two_tiles`, as our solution writes it, needs {} registers, and the table in "
         "the first sitting shows those of yours. With {} an SM holds six of its blocks, and the "
         "occupancy is {:.0f} %, as on the K40.",
         report.registers, report.registers, 100 * held.fraction)  # fmt: skip


def test_grain_4_gains_alike_with_tiles_of_16_on_three_gpus():
    shares = published_shares("granularity").values()
    assert all(one[1] < one[2] < one[4] for one in shares)
    times = {tile: [at_1024(GRAIN=grain, TILE=tile) for grain in GRAINS] for tile in TILES}
    assert all(one > two > four for one, two, four in times.values())
    gains = [one[FOUR] / one[ONE] for one in shares]
    middle = TILES[1]
    says("With tiles of {}, grain {} is {:.2f} times as fast as grain {} on the K40, {:.2f} "
         "times on the Titan X, and {:.2f} times on the H200.",
         middle, FOUR, gains[0], ONE, gains[1], times[middle][0] / times[middle][2])  # fmt: skip


@pytest.mark.slow
def test_the_larger_tile_is_the_faster_one_with_every_grain():
    for grain in GRAINS:
        times = [recorded(GRANULARITY.variant(GRAIN=grain, TILE=tile), "1024") for tile in TILES]
        assert times == sorted(times, reverse=True)
    small, middle, large = TILES
    says("tiles of {}×{} are the fastest, and those of {}×{} and {}×{} slower",
         middle, middle, small, small, large, large)  # fmt: skip
    shape = LADDER.parse("1024")
    says("**With grain {}, at {}×{}, which tile", FOUR, shape.m, shape.n)
    shares = [course.share_of_peak(GRANULARITY.variant(GRAIN=4, TILE=t), "1024") for t in TILES]
    text = """A word of b serves as many rows as a tile has: a multiply-add needs 1/{}, 1/{} or
        1/{} load. Recorded are {:.1f} %, {:.1f} % and {:.1f} % of the peak. This reason is not
        tested: the wavefronts change, too."""
    explains("10.tile", text.replace("1/{}", "{}/{}"), 1, small, 1, middle, 1, large,
             *(100 * share for share in shares))  # fmt: skip
    of_tile = [wavefronts(GRANULARITY.variant(GRAIN=FOUR, TILE=tile)) for tile in TILES]
    assert len(set(of_tile)) == len(TILES)
    for tile in TILES:
        run = run_of(GRANULARITY.variant(GRAIN=4, TILE=tile))
        words = run.accesses
        b_words = words[(words["array"] == "b") & (words["kind"] == "load")]["words"].sum()
        assert b_words / course.counting.multiply_adds(run) == 1 / tile


# ---- the limit and the curve ----


@pytest.mark.slow
def test_one_read_of_b_for_each_multiply_add_allows_a_quarter_of_the_peak():
    whole = 100
    bound = whole / (SCHEDULERS * wavefronts(BY[FOUR]))
    reached = 100 * course.share_of_peak(BY[FOUR])
    says("So grain {}, with {:.2f} wavefronts, cannot pass {} % ÷ ({} × {:.2f}) = {:.1f} % of the "
         "peak, and it reaches {:.1f} % on the H200.",
         FOUR, wavefronts(BY[FOUR]), whole, SCHEDULERS, wavefronts(BY[FOUR]), bound,
         reached)  # fmt: skip
    assert reached < bound < 100 / SCHEDULERS
    gains = [wavefronts(BY[FOUR]) / shared_cost(one, 0.5) for one in (8, 16)]
    assert 1 < gains[0] < gains[1] < 1.1
    says("Larger grains are not recorded. Their bound is only a little higher")
    reads = run_of(BY[FOUR]).accesses.query("array == 'sb' and kind == 'load'")["lanes"].sum()
    assert reads == course.counting.multiply_adds(run_of(BY[FOUR]))


def test_small_problems_have_too_few_blocks():
    smallest, small, larger = "256", "512", "1024"
    for size in (smallest, small):
        assert recorded(BY[FOUR], size) > recorded(TILED, size)
    slower = [recorded(BY[FOUR], size) / recorded(TILED, size) for size in (smallest, small)]
    for size in (larger, "2048", "4096", "8192"):
        assert recorded(TILED, size) > 1.4 * recorded(BY[FOUR], size)
    blocks = BY[FOUR].launch(LADDER.parse(small)).blocks
    says("At {} and {} grain {} takes {:.2f} and {:.2f} times as long as `tiled`. One of its "
         "blocks computes {}×{} elements of c, so the product at {} has {} blocks for {} SMs, and "
         "more than half of the SMs have nothing to do.",
         smallest, small, FOUR, *slower, TILE, FOUR * TILE, small, blocks, H200.sms)  # fmt: skip
    assert 2 * blocks < H200.sms
