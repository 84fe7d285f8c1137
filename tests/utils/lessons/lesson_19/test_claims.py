"""Check the figures and comparisons in lesson 19 against counts, machine code and records."""

import operator
import re
from collections import Counter
from functools import cache, partial

import numpy as np
import pytest
from numba import cuda

from gpu_xray import xray
from labs.exercises import find as exercise
from latency_kernels.hiding import curves
from reduce_kernels import LADDER, grids_alone, trees_alone
from tests import quotes
from utils import lessons as course
from utils.lessons.block_sums import block_of, issued_by_block
from utils.lessons.bounds import ON_CHIP, bounds_of, memory_of
from utils.lessons.lesson_19 import sum_bars, tree_times
from utils.lessons.lesson_19.last_warp import draw_last_warp, lanes_that_add, strides
from utils.lessons.lesson_19.shuffles import NUMBERS, draw_shuffles, needed_lanes, sums
from utils.lessons.lesson_20.launch_parts import launch_times
from utils.lessons.own_kernels import twins
from utils.machine import devices
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import roofline
from utils.measuring.profiled_launches import counters_of, states_of
from virtual_gpu import trace
from virtual_gpu.pictures.movie import film_of

BLOCK = 256
WARPS = BLOCK // WARP
STEPS = REDUCE3, REDUCE4, REDUCE5, REDUCE6, REDUCE7 = tuple(
    LADDER.step(f"reduce{number}").variant(BLOCK=BLOCK, **({"PER_THREAD": 8} if number > 5 else {}))
    for number in range(3, 8)
)
LAST, SHUFFLED = (step.variant(BLOCK=BLOCK) for step in (trees_alone.LAST, trees_alone.ALL))
LARGE, SMALL = "2^30", "2^22"
PROFILED = 2**25  # elements
TWO = round(LADDER.parse(LARGE).elements ** (1 / 30))
H200 = devices.find("H200")
# CUDA C++ Programming Guide, throughput of native arithmetic instructions: warp shuffle.
LANES_PER_CYCLE = 32
LOADS, WORD = 8, np.float32().nbytes
OF_BLOCK = BLOCK * LOADS * WORD
block = cache(block_of)
says = partial(quotes.says, "19")
code = partial(quotes.code, "19")
explains = quotes.explains


def timed(name):
    """Return the recorded ms of a kernel of the experiment `trees-alone`."""
    return tree_times.tree_times()[name]


@cache
def times(variant, shape=LARGE):
    """Return the estimates and the recorded time, in ms, that the pictures show."""
    return sum_bars.times_of(variant, shape)


def percent(before, after):
    """Return by how many percent a number falls, rounded."""
    return round(100 * (1 - after / before))


@cache
def machine_code(variant):
    return xray(variant.kernel, variant.step.signature, "sm_90")


@cache
def needed() -> float:
    return curves.littles_law(curves.recorded(H200), H200).loc["memory", "under_way"]


@cache
def grids(shape: str = LARGE) -> dict[int, object]:
    """Return blocks -> recorded grid."""
    return {grid.blocks: grid for grid in course.grids(REDUCE6.step, shape)}


def share(blocks: int) -> int:
    """Return the recorded percentage of the bandwidth for 2^30 elements, rounded."""
    return round(100 * grids()[blocks].share)


# ---- the first screen, and the last warp ----


def test_the_sum_takes_a_third_of_the_time_and_the_last_change_saves_almost_nothing():
    says("An H200 adds {}³⁰ numbers in {:.2f} ms with `reduce3` and in {:.2f} ms with `reduce7`",
         TWO, times(REDUCE3).recorded, times(REDUCE7).recorded)  # fmt: skip
    assert LADDER.parse(LARGE).elements == TWO**30
    gains = course.gains(*STEPS, shape=LARGE)
    assert len(gains) == 4  # "the four changes"
    assert min(gains) == gains[3] < 1.01
    assert max(gains) == gains[2]  # "The largest step is the third one"
    says("For {}³⁰ elements, these grids were recorded", TWO)
    says("The sums have {}³⁰ elements", TWO)
    says("At {}³⁰ elements `reduce7` reaches {:.0f} % of the bandwidth", TWO,
         100 * times(REDUCE7).memory / times(REDUCE7).recorded)  # fmt: skip


def test_in_the_last_six_steps_warp_0_adds_alone():
    rows = [lanes_that_add(stride, WARPS) for stride in strides(BLOCK)]
    assert [sum(lanes > 0 for lanes in row) for row in rows] == [4, 2, 1, 1, 1, 1, 1, 1]
    assert all(not any(row[1:]) for row in rows[-6:])
    assert "In the last 6, warp 0 adds alone" in draw_last_warp().alt
    says("has {} threads. Each of them adds two elements while it loads them, and then a tree adds "
         "the {} sums", BLOCK, BLOCK)  # fmt: skip
    assert block(REDUCE3).elements == 2 * BLOCK
    says("each column is one of the {} warps", WARPS)
    first_alone = next(row for row in rows if not any(row[1:]))
    assert first_alone[0] == WARP
    alone = first_alone.index(WARP)
    says("In the last six steps warp {} adds alone", alone)
    says("from the stride {} on, warp {} needs no barrier, because the {} lanes of a warp", WARP,
         alone, WARP)  # fmt: skip
    says("Its first step adds words {} to {} to words {} to {}, which takes all lanes", WARP,
         2 * WARP - 1, alone, WARP - 1)  # fmt: skip
    says("The barrier for the {} lanes of a warp is `cuda.syncwarp()`", WARP)
    says("without an argument these are all {}, so it belongs outside of an `if`", WARP)


def test_volta_and_the_slides_have_their_years():
    from utils.lessons.lesson_18.slides import YEAR

    says("On a GPU of {} this was right", YEAR)
    volta = 2017  # NVIDIA's Tesla V100: the first GPU of compute capability 7.0
    says("Since Volta, in {}, each lane has its own", volta)


def test_the_starter_of_the_first_task_is_right_in_its_sums_and_has_two_races():
    blocks, ones = (int(n) for n in re.search(r"np\.ones\((\d+) \* (\d+)", code("last-warp-sums"))
                    .groups())  # fmt: skip
    says("Eight blocks add {} ones each", ones)
    assert blocks == 8
    assert ones == BLOCK
    x, out = np.ones(blocks * ones, np.float32), np.zeros(blocks, np.float32)
    result = trace(exercise("last_warp").starter, blocks, BLOCK, x, out)
    assert (out == ones).all()
    first = result.findings[0]
    assert {finding.kind for finding in result.findings} == {"race"}
    reader, writer = (thread.thread[0] for thread in first.threads[:2])
    (word,) = first.index
    says("Lane {} reads word {}, which lane {} stores in the step before. And in the same step "
         "lane {} stores word {} again", reader, word, writer, writer, word)  # fmt: skip


def test_the_movie_opens_where_warp_0_goes_on_alone():
    threads = int(re.search(r"BLOCK=(\d+)\), \"256\"", code("movie"))[1])
    says("a movie of a block of {} threads, which are four warps", threads)
    assert threads == 4 * WARP
    opens = int(re.search(r"opens=(\d+)", code("movie"))[1])
    seen = course.watch(REDUCE4.step.variant(BLOCK=threads), str(2 * threads), record=0)
    event = film_of(seen, "reduce4", "reads").steps[opens - 1].events[0]
    assert (event.first >= 0).sum() == WARP
    says("in which warp {} begins to go on alone", int(np.flatnonzero(event.first >= 0)[0]))


def test_nine_barriers_become_three_and_64_iterations_22():
    three, four = block(REDUCE3), block(REDUCE4)
    assert (three.requests, three.wavefronts) == (four.requests, four.wavefronts)
    says("a thread comes to {:.0f} barriers instead of {:.0f}", four.barriers, three.barriers)
    says("for one block of {} threads", BLOCK)
    turns = [
        sum(course.watch(one, str(2 * BLOCK)).turns.values()) / WARP for one in (REDUCE3, REDUCE4)
    ]
    of_one, together = sorted(course.watch(REDUCE4, str(2 * BLOCK)).turns.values())
    each, more = together // BLOCK, of_one // WARP
    alone = lanes_that_add(WARP, WARPS).index(WARP)
    says("each of the {} warps makes {:.0f} iterations of the tree, which are {:.0f} per block. In "
         "`reduce4` each warp makes {}, and warp {} makes {} more, which are {:.0f}", WARPS,
         turns[0] / WARPS, turns[0], each, alone, more, turns[1])  # fmt: skip
    before, after = (sum_bars.INSTRUCTIONS[name] for name in ("reduce3", "reduce4"))
    says("the instructions of a block fall from {:,} to {}, by {} %", before, after,
         percent(before, after))  # fmt: skip
    says("In lesson {} the time mostly followed the instructions: those of `reduce3` need at least "
         "{:.2f} of its {:.2f} ms", 18, times(REDUCE3).instructions,
         times(REDUCE3).recorded)  # fmt: skip


@pytest.mark.slow
def test_the_instructions_of_a_block_are_those_of_the_machine_code(compiler):
    counted = {"reduce3": issued_by_block(REDUCE3).number}
    four, five = machine_code(REDUCE4), machine_code(REDUCE5)
    every_4, every_5 = map(_instructions_of_a_warp_that_leaves, (REDUCE4, REDUCE5))
    assert (four.loops[0].end, four.loops[1].start) == (44, 51)
    names = [one.name for one in four.code]
    rest = len(names) - 1 - names.index("EXIT")
    counted["reduce4"] = WARPS * every_4 + 6 * len(four.loops[1].body) + rest
    jump, meets = _last_jump_and_meeting(five)
    names = [one.name for one in five.code]
    leave = names.index("EXIT")
    until_last_exit = names.index("EXIT", leave + 1)
    counted["reduce5"] = WARPS * every_5 + meets - jump - 1 + until_last_exit - leave
    assert counted == sum_bars.INSTRUCTIONS


def _instructions_of_a_warp_that_leaves(variant) -> int:
    """Return how many instructions of reduce4 or reduce5 a warp executes that is not warp 0."""
    code_of = machine_code(variant)
    leave = [one.name for one in code_of.code].index("EXIT")
    if not code_of.loops:
        jump, meets = _last_jump_and_meeting(code_of)
        return jump + 1 + leave + 1 - meets
    first, last = code_of.loops
    return first.start + 2 * len(first.body) + last.start - first.end - 1 + 1


def _last_jump_and_meeting(five) -> tuple[int, int]:
    """Return where all warps but one jump over the last six steps of reduce5, and where they go."""
    names = [one.name for one in five.code]
    jump = names.index("BRA", len(names) - 1 - names[::-1].index("BAR"))
    return jump, five.code[jump].target


def test_the_time_falls_by_a_quarter_and_nothing_comes_near_it():
    three, four = times(REDUCE3), times(REDUCE4)
    assert percent(three.recorded, four.recorded) == 25  # "by about a quarter"
    explains("19.alone", """
        The instructions of reduce4 need {:.2f} ms and memory {:.2f} ms, but it takes {:.2f} ms,
        {} % less than {:.2f} ms.
        So warps wait. A sum without any tree takes {:.2f} ms, so {:.2f} ms of the time are the
        tree's.""", four.instructions, four.memory, four.recorded,
        percent(three.recorded, four.recorded), three.recorded, timed("without_tree"),
        timed("reduce4") - timed("without_tree"))  # fmt: skip
    says("its time of {:.2f} ms tells what the tree of `reduce4` costs: {:.2f} ms",
         timed("without_tree"), timed("reduce4") - timed("without_tree"))  # fmt: skip
    says("The bars of `reduce4` are as in lesson {}", 18)
    says("Neither comes near its recorded {:.2f} ms", four.recorded)
    assert max(four.instructions, four.memory) < 0.6 * four.recorded
    assert limits_of(H200.compute_capability).sub_partitions == 4  # "each of the four schedulers"


def profiled(variant):
    """Return the profiler's counters of a launch, and the states of a warp in cycles."""
    counters = counters_of(str(variant), str(PROFILED))
    return counters, states_of(counters)


def test_reduce4_leaves_a_scheduler_with_fewer_warps():
    warps = []
    for variant in (REDUCE4, REDUCE3):
        counters, states = profiled(variant)
        warps.append(sum(states.values()) * counters["issue_percent"] / 100)
    limits = limits_of(H200.compute_capability)
    says("with {}²⁵ elements a scheduler has {:.1f} warps on average, and with `reduce3` {:.1f}. "
         "It has room for {}", TWO, *warps,
         limits.warps_per_sm // limits.sub_partitions)  # fmt: skip
    assert PROFILED == TWO**25


# ---- unrolling ----


def test_one_statement_is_the_whole_change_of_reduce5():
    codes = [course.code.kernel_code(one.step) for one in (REDUCE4, REDUCE5)]
    in_4 = (
        codes[0]
        .replace("reduce4", "reduce5")
        .replace("uint32(cuda.blockDim.x) >> uint32(1)", "uint32(BLOCK >> 1)")
    )
    assert codes[0] != in_4 == codes[1]


@pytest.mark.slow
def test_the_last_six_steps_of_warp_0_are_78_instructions_and_unrolled_33(compiler):
    assert [len(machine_code(one).loops) for one in (REDUCE4, REDUCE5)] == [2, 0]
    length = len(machine_code(REDUCE4).loops[1].body)
    jump, meets = _last_jump_and_meeting(machine_code(REDUCE5))
    last = [stride for stride in strides(BLOCK) if stride <= WARP]
    assert machine_code(REDUCE5).code[meets].name == "BSYNC"
    alone = lanes_that_add(WARP, WARPS).index(WARP)
    says("Its last six steps are {} of them, where `reduce4` takes {} iterations of {}, which are "
         "{}", meets - jump - 1, len(last), length, len(last) * length)  # fmt: skip
    others = [_instructions_of_a_warp_that_leaves(one) for one in (REDUCE4, REDUCE5)]
    warp_0 = [
        sum_bars.INSTRUCTIONS[one.step.name] - (WARPS - 1) * of_one
        for one, of_one in zip((REDUCE4, REDUCE5), others, strict=True)
    ]
    says("Seven of the {} warps take {} instructions each, where `reduce4` takes {}, and warp {} "
         "takes {} instead of {}", WARPS, *others[::-1], alone, *warp_0[::-1])  # fmt: skip
    assert WARPS - 1 == 7


def test_the_gain_by_unrolling_is_smaller_than_on_the_g80():
    four, five = times(REDUCE4), times(REDUCE5)
    fewer = [sum_bars.INSTRUCTIONS[name] for name in ("reduce4", "reduce5")]
    says("The instructions fall by {} %, and the time by {} %", percent(*fewer),
         percent(four.recorded, five.recorded))  # fmt: skip
    assert five.instructions < five.memory  # "less time than memory does"
    published = course.claimed("reduction: speed-up by unrolling the loop completely")
    says("a factor of {:.2f} for this change on a G{}, and here it is {:.2f}", published, 80,
         four.recorded / five.recorded)  # fmt: skip


# ---- eight elements, and how many blocks ----


def test_the_note_below_the_own_kernel_has_the_counted_instructions_of_reduce5():
    counted = f"has the counted {times(REDUCE5).instructions:.2f} ms"
    assert counted in twins()["eight_elements"].note


def test_the_store_of_a_sum_keeps_the_mean_of_the_sectors_below_4():
    loads = LOADS * WARPS
    sectors = memory_of(REDUCE6, LARGE).sectors
    assert sectors == pytest.approx((4 * loads + 1) / (loads + 1))
    says_so = "A block stores its sum in 1 sector, so the mean of all its requests is below 4."
    assert says_so in twins()["eight_elements"].note


@pytest.mark.slow
def test_the_note_below_the_own_kernel_has_the_loads_in_flight_of_a_loop_of_eight(compiler):
    code_of_loop = xray(exercise("eight_elements").solution, REDUCE5.step.signature, "sm_90")
    assert code_of_loop.loops == ()
    together = f"up to {code_of_loop.loads_before_use} of its loads are in flight together"
    assert together in twins()["eight_elements"].note


def test_eight_elements_almost_reach_the_limit_of_memory():
    five, six = times(REDUCE5), times(REDUCE6)
    says("`reduce5` takes {:.2f} ms", five.recorded)
    explains("19.eight", """
        Memory needs at least {:.3f} ms, so more than {:.2f} / {:.3f} = {:.2f} times is not
        possible.
        The sum takes {:.2f} ms and is almost at this limit: {:.2f} / {:.2f} = {:.2f}.""",
        five.memory, five.recorded, five.memory, five.recorded / five.memory, six.recorded,
        five.recorded, six.recorded, five.recorded / six.recorded)  # fmt: skip
    assert block(REDUCE6).elements == 4 * block(REDUCE5).elements  # "a quarter of the trees"


@pytest.mark.slow
def test_a_thread_of_reduce6_has_8_loads_in_flight_and_of_reduce5_2(compiler):
    assert machine_code(REDUCE5).loads_before_use == 2
    says("a thread of `reduce6` has up to {} loads of {} bytes in flight",
         machine_code(REDUCE6).loads_before_use, WORD)  # fmt: skip
    says("no thread has {} loads in flight all the time", LOADS)
    assert f"256 * {LOADS} * {WORD}" in code("law")


@pytest.mark.slow
def test_only_the_loop_of_reduce6_needs_a_division(compiler):
    divides = ["MUFU" in {one.name for one in machine_code(step).code} for step in STEPS[2:4]]
    assert divides == [False, True]


def test_the_fastest_of_the_grids_has_65_536_blocks():
    enough = H200.sms * needed() / OF_BLOCK
    best = max(grids().values(), key=lambda grid: grid.share)
    most = max(grids())
    at_once = course.blocks_at_once(REDUCE6.step)
    fewest = min(blocks for blocks in grids() if blocks > enough)
    says("- {} blocks: more than the law asks for, and the fewest trees", fewest)
    assert enough < fewest < at_once
    near = max(blocks for blocks in grids() if blocks <= at_once)
    assert near > 0.95 * at_once
    says("- {:,} blocks: nearly as many as run at once, so no SM has a second round", near)
    says("- {:,} blocks: {} elements per thread, and {} times as many trees as with {:,} blocks",
         best.blocks, best.per_thread, best.blocks // near, near)  # fmt: skip
    says("- {:,} blocks: two elements per thread", most)
    assert grids()[most].per_thread == 2
    four = (fewest, near, best.blocks, most)
    explains("19.blocks", """
        They reach {}, {}, {} and {} % of the bandwidth. The law names the fewest that could be
        enough, not the best.
        With {:,} blocks a tree serves {:,} elements and costs little.""",
        *map(share, four), best.blocks, TWO**30 // best.blocks)  # fmt: skip
    says("So {} blocks reach {} % of the bandwidth", fewest, share(fewest))
    five = round(100 * times(REDUCE5).memory / times(REDUCE5).recorded)
    says("With {:,} blocks it falls to {} %, less than the {} % of `reduce5`", most, share(most),
         five)  # fmt: skip
    says("why do {:,} blocks reach {} % of the bandwidth, and {:,} blocks only {} %", best.blocks,
         share(best.blocks), near, share(near))  # fmt: skip
    says("With {:,} blocks {} of the {:,} places stay empty", near, at_once - near, at_once)
    assert max(grids("2^25").values(), key=lambda grid: grid.share).per_thread == best.per_thread
    # "the best of the recorded grids gave each thread the same number of elements"
    for shape in (LARGE, "2^25"):  # "a limit from above"
        for blocks, grid in grids(shape).items():
            assert grid.share < blocks / enough


def timed_grids():
    """Return blocks -> ms of `reduce6` in the record of grids near those that run at once."""
    rows = grids_alone.recorded_times()
    return dict(zip(grids_alone.GRIDS, (row.time_ms for row in rows), strict=True))


def test_empty_places_cost_little_and_a_block_too_many_costs_much():
    ms, full = timed_grids(), course.blocks_at_once(REDUCE6.step)
    few, many = 1024, 65_536
    says("in a later record {:,} blocks take {:.1f} % less time than {:,}, and {:,} blocks take "
         "{:.1f} % less", full, 100 * (1 - ms[full] / ms[few]), few, many,
         100 * (1 - ms[many] / ms[few]))  # fmt: skip
    says("{:,} blocks take {:.2f} times as long as {:,}, because the last block runs alone",
         full + 1, ms[full + 1] / ms[full], full)  # fmt: skip
    assert all(ms[blocks] < ms[full] for blocks in ms if blocks > full + 1)  # "or with many more"


def test_with_1024_blocks_more_warps_wait_for_memory():
    limits, at_once = limits_of(H200.compute_capability), course.blocks_at_once(REDUCE6.step)
    blocks, warps, waiting = [], [], []
    for each in (4096, 64):
        variant = REDUCE6.step.variant(BLOCK=BLOCK, PER_THREAD=each)
        counters = counters_of(str(variant), str(2**30))
        states = states_of(counters)
        busy = counters["issue_percent"] / 100
        blocks.append(2**30 // (BLOCK * each))
        warps.append(sum(states.values()) * busy)
        waiting.append((states["long_scoreboard"] + states["lg_throttle"]) * busy)
    room = limits.warps_per_sm / limits.sub_partitions
    says("a scheduler has {:.1f} warps on average, where {:.1f} are possible. {:.1f} of these wait "
         "for memory, or for room in the queue of loads. With {:,} blocks only {:.1f} do",
         warps[0], room * blocks[0] / at_once, waiting[0], blocks[1], waiting[1])  # fmt: skip


def test_the_loop_of_reduce6_has_more_instructions_than_reduce5_for_two_elements():
    variant = REDUCE6.step.variant(BLOCK=BLOCK, PER_THREAD=2)
    warps = 2**30 // 2 // WARP
    says("A profiler counts {:.0f} instructions per warp, where `reduce5` has {:.0f}.",
         counters_of(str(variant), str(2**30))["instructions"] / warps,
         of_a_warp(REDUCE5)[0])  # fmt: skip


# ---- shuffles ----


@cuda.jit
def handed_on(x, distance, out):
    lane = cuda.threadIdx.x
    out[lane] = cuda.shfl_down_sync(0xFFFFFFFF, x[lane], distance)


def test_the_drawn_shuffles_are_those_of_the_virtual_gpu():
    rows = sums(NUMBERS)
    assert rows[-1][0] == sum(NUMBERS) == 31
    assert needed_lanes(8) == [8, 4, 2, 1]
    assert "31" in draw_shuffles().alt
    with_the_sum = rows[-1].index(sum(NUMBERS))
    says("a warp of {} lanes instead of {}. Follow the arrows to lane {}", len(NUMBERS), WARP,
         with_the_sum)  # fmt: skip
    # The needed values of the drawn lanes do not depend on the 24 lanes above them.
    held = np.zeros(WARP, np.float32)
    held[: len(NUMBERS)] = NUMBERS
    for row, lanes, distance in zip(rows[1:], needed_lanes(8)[1:], (4, 2, 1), strict=True):
        out = np.zeros(WARP, np.float32)
        handed_on[1, WARP](held, np.int32(distance), out)
        held += out
        assert list(held[:lanes]) == row[:lanes]
    assert out[-1] == held[-1] / 2  # the last lane gets its own value back


def test_the_mask_has_a_bit_per_lane():
    mask = sum(1 << lane for lane in range(WARP))
    says("The `mask` has a bit per lane, which is {} if the lane takes part: `0xFFFFFFFF` are all "
         "{}", mask >> (WARP - 1), WARP)  # fmt: skip
    assert f"{mask:X}" == "FFFFFFFF"


def warp_instructions(variant) -> Counter[str]:
    """Return kind of a recorded event -> how often the warps of one block execute it."""
    seen = course.watch(variant, str(block(variant).elements), record=0)
    executed = Counter()
    for event in seen.recording.events:
        executed[event.kind] += int((event.first.reshape(-1, WARP) >= 0).any(axis=1).sum())
    return executed


def test_shuffles_take_the_path_of_the_requests_that_they_replace():
    six, seven = block(REDUCE6), block(REDUCE7)
    says("Per block it makes {:.0f} requests to shared memory instead of {:.0f}, and a thread "
         "comes to one barrier instead of {:.0f}", seven.requests, six.requests,
         six.barriers)  # fmt: skip
    assert seven.barriers == 1
    shuffles = warp_instructions(REDUCE7)["shuffle"]
    says("its warps also execute {} shuffles", shuffles)
    seen = course.watch(REDUCE7, str(block(REDUCE7).elements), record=0).recording.events
    last = [event for event in seen if event.kind == "shuffle"][-1]
    (warp,) = set(np.flatnonzero(last.first >= 0) // WARP)
    says("five in each warp and then five in warp {}", warp)
    assert shuffles == 5 * WARPS + 5
    says("an SM shuffles the values of {} lanes per cycle, which are one warp", LANES_PER_CYCLE)
    assert LANES_PER_CYCLE == WARP
    says("So {:.0f} instructions per block take this path instead of {:.0f}",
         seven.requests + shuffles, six.requests)  # fmt: skip
    says("they replace {:.0f} of the {:.0f} requests by {} shuffles", six.requests - seven.requests,
         six.requests, shuffles)  # fmt: skip


@pytest.mark.slow
def test_the_note_below_the_own_kernel_adds_the_shuffles_to_the_bar_of_their_path():
    without = bounds_of(REDUCE7, LARGE)[ON_CHIP].ms
    blocks = REDUCE7.launch(LADDER.parse(LARGE)).blocks
    shuffles = warp_instructions(REDUCE7)["shuffle"]
    bytes_per_ms = roofline.gpu_ceilings(H200).gb_per_s["shared"] * 1e6
    ms = without + shuffles * blocks * roofline.WAVEFRONT_BYTES / bytes_per_ms
    says_so = f"With its {shuffles} shuffles per block, reduce7 needs {ms:.2f} ms of this path."
    assert twins()["shuffles"].note.endswith(says_so)
    assert without < bounds_of(REDUCE6, LARGE)[ON_CHIP].ms < ms


def test_shuffles_change_nothing_where_memory_is_the_limit_and_little_where_trees_weigh():
    six, seven, five = times(REDUCE6), times(REDUCE7), times(REDUCE5)
    says("Memory needs {:.2f} of the {:.2f} ms that `reduce6` takes", six.memory, six.recorded)
    says("So we gave the tree of `reduce7` to `reduce5`, which takes {:.2f} ms", five.recorded)
    before, after = timed("reduce5"), timed("all_by_shuffles")
    explains("19.shuffles", """
        With shuffles reduce5 takes {:.2f} instead of {:.2f} ms: {:.2f} / {:.2f} = {:.2f}.
        With eight elements per thread, reduce7 takes {:.0f} instead of {:.0f} microseconds, and
        memory alone needs {:.0f}.""", after, before, before, after, before / after,
        1000 * seven.recorded, 1000 * six.recorded, 1000 * six.memory)  # fmt: skip
    assert block(SHUFFLED).elements == block(REDUCE5).elements
    tree = operator.itemgetter("shuffle", "barrier", "store")
    assert tree(warp_instructions(SHUFFLED)) == tree(warp_instructions(REDUCE7))
    assert block(SHUFFLED).requests == block(REDUCE7).requests


def test_a_kernel_without_a_tree_tells_what_a_tree_costs():
    for variant in (REDUCE4, REDUCE5):
        assert timed(variant.step.name) == pytest.approx(times(variant).recorded, rel=0.002)
    five, bare, shuffled = (timed(name) for name in ("reduce5", "without_tree", "all_by_shuffles"))
    says("the tree of `reduce5` costs {:.2f} ms, and shuffles save {:.2f} ms of it", five - bare,
         five - shuffled)  # fmt: skip
    says("The other {:.2f} ms go into loading two elements per thread, where memory alone needs "
         "{:.2f} ms", bare, times(REDUCE5).memory)  # fmt: skip
    assert block(trees_alone.variants()[-1]).elements == 2 * BLOCK
    says("keeps three barriers and takes as long, {:.2f} ms", timed("last_by_shuffles"))
    assert timed("last_by_shuffles") == pytest.approx(shuffled, rel=0.001)
    assert block(LAST).barriers == block(REDUCE5).barriers == 3


@pytest.mark.slow
def test_without_a_tree_a_block_takes_longer_than_the_full_bandwidth_allows(compiler):
    bare = trees_alone.variants()[-1]
    fits = occupancy(H200.compute_capability, BLOCK, machine_code(bare).registers)
    (clock,) = {row.sm_clock_mhz for row in trees_alone.recorded_times()}
    at_once = H200.sms * fits.blocks
    one_after_another = LADDER.parse(LARGE).elements / (2 * BLOCK) / at_once
    cycles = [
        ms * 1000 * clock / one_after_another
        for ms in (timed("without_tree"), times(REDUCE5).memory)
    ]
    latency = curves.littles_law(curves.recorded(H200), H200).loc["memory", "latency"]
    says("There is room for {:,} blocks at once, so one place has {:,.0f} blocks", at_once,
         one_after_another)  # fmt: skip
    says("That makes {:,.0f} cycles for each, and at the full bandwidth there would be {:.0f}. By "
         "lesson {:02} a load alone takes {:.0f} of them, and a profiler finds", *cycles, 9,
         latency)  # fmt: skip


def test_the_table_of_the_trees_has_all_kernels():
    rows = tree_times.show_tree_times().rows
    assert [row[1] for row in rows] == ["9", "3", "3", "3", "1", "0"]
    assert [row[-1] for row in rows][-1] == f"{timed('without_tree'):.2f} ms"


def of_a_warp(variant):
    """Return what a warp does on average: instructions, all cycles, and the cycles of four waits.

    It waits for elements, at barriers, for shared memory, and for its turn.
    """
    counters, states = profiled(variant)
    warps = PROFILED / block(variant).elements * WARPS
    instructions = counters["instructions"] / warps
    shared = states["short_scoreboard"] + states["mio_throttle"]
    cycles = sum(states.values()), states["long_scoreboard"], states["barrier"], shared
    return instructions, *(one * instructions for one in (*cycles, states["not_selected"]))


def tens(cycles):
    """Return cycles rounded to tens: a state has two decimals per instruction."""
    return round(cycles, -1)


def test_a_table_shows_where_the_cycles_of_a_warp_go():
    of = [(row[0], *map(tens, row[1:])) for row in map(of_a_warp, STEPS)]
    says("These are averages with {}²⁵ elements", TWO)
    says("| `reduce` | {} | {} | {} | {} | {} |", *range(3, 8))
    instructions, cycles, elements, barriers, shared, turns = zip(*of, strict=True)
    says("| instructions | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |", *instructions)
    says("| cycles | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} |", *cycles)
    says("| for elements | {:.0f} | {:.0f} | {:.0f} | {:,.0f} | {:,.0f} |", *elements)
    says("| at barriers | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |", *barriers)
    says("| for shared memory | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |", *shared)
    says("| for its turn | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |", *turns)
    says("a warp of `reduce5` waits about {:.0f} cycles for its two elements", of[2][2])


def test_in_most_of_the_cycles_that_the_table_leaves_out_a_warp_issues_or_waits_for_a_result():
    for variant in STEPS:
        instructions, cycles, *waits = of_a_warp(variant)
        states = profiled(variant)[1]
        issues_or_waits = (states["selected"] + states["wait"]) * instructions
        assert issues_or_waits > 0.5 * (cycles - sum(waits))


def test_from_reduce3_to_reduce4_barriers_and_turns_are_more_than_half_of_the_fall():
    three, four = of_a_warp(REDUCE3), of_a_warp(REDUCE4)
    _, cycles, elements, barriers, _, turns = (
        before - after for before, after in zip(three, four, strict=True)
    )
    assert 0.5 < (barriers + turns) / (cycles - elements) < 0.6


def test_the_instructions_of_reduce6_are_not_its_limit():
    counters, _ = profiled(REDUCE6)
    issued = H200.sms * limits_of(H200.compute_capability).sub_partitions  # per cycle
    (clock,) = {row.sm_clock_mhz for row in trees_alone.recorded_times()}
    elements = LADDER.parse(LARGE).elements
    ms = counters["instructions"] * elements / PROFILED / issued / clock / 1000
    says("Its instructions need {:.2f} ms for {}³⁰ elements", ms, TWO)
    assert ms < times(REDUCE6).memory


def test_reduce6_waits_longer_for_elements_and_with_shuffles_only_the_wait_grows():
    elements = [of_a_warp(one)[2] for one in STEPS]
    others = [of_a_warp(one)[1] - wait for one, wait in zip(STEPS, elements, strict=True)]
    printed = [tens(of_a_warp(one)[1]) - tens(of_a_warp(one)[2]) for one in STEPS[:3]]
    says("A warp of the first three waits {:.0f} to {:.0f} cycles for its two elements, and its "
         "other cycles fall from {:,.0f} to {:.0f} and {:.0f}", tens(elements[0]),
         tens(elements[2]), *printed)  # fmt: skip
    says("A warp of `reduce6` waits {:.1f} times as long for four times as many elements",
         elements[3] / elements[2])  # fmt: skip
    says("With shuffles a warp needs {:.0f} cycles less for the rest, and waits {:.0f} more for "
         "its elements", tens(others[3] - others[4]), tens(elements[4] - elements[3]))  # fmt: skip


# ---- what is left ----


def test_at_2_22_most_of_the_time_is_not_reading():
    seven = times(REDUCE7, SMALL)
    assert LADDER.parse(SMALL).elements == TWO**22
    says("with shuffles the sum takes {:.0f} instead of {:.0f} microseconds",
         1000 * times(REDUCE7).recorded, 1000 * times(REDUCE6).recorded)  # fmt: skip
    says("With {}²² elements it reaches {:.0f} %: reading them takes {:.2f} of its {:.2f} "
         "microseconds", TWO, 100 * seven.memory / seven.recorded, 1000 * seven.memory,
         1000 * seven.recorded)  # fmt: skip
    launch = REDUCE7.launch(LADDER.parse(SMALL))
    says("There are only {:,} blocks, each with {} loads of {} bytes per thread", launch.blocks,
         LOADS, WORD)  # fmt: skip
    says("loads of {} bytes, several of them in flight", 4 * WORD)
    says("if they are in the L2 already, the sum still takes {:.2f}",
         1000 * launch_times()["reduce7"].hot_ms)  # fmt: skip
    assert launch_times()["reduce7"].elements == TWO**22
    best = max(grids("2^25").values(), key=lambda grid: grid.share)
    reading = 1000 * times(REDUCE6, "2^25").memory
    says("With {}²⁵ elements, too, the best grid of `reduce6` takes {:.1f} microseconds more than "
         "reading, which is why it ends at {:.0f} %", TWO, reading / best.share - reading,
         100 * best.share)  # fmt: skip
