"""Check the claims of lesson 06 against machine code, counts and records."""

from collections import Counter
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from numba import float32, types

from gemm_kernels import LADDER
from gpu_xray import xray
from labs import EXERCISES, check
from labs.checking.run import run_kernel
from labs.exercises.least_ms.formula import right as least_ms
from labs.targets.loop_unrolling import iterations_of_kept_loops
from tests import profiled, quotes
from tests.labs.versions import changed, wrong
from utils import lessons as course
from utils.division import cdiv
from utils.figures.instruction_strip import LOOP_OVERHEAD, TERM, kind_of
from utils.lessons import profiler
from utils.lessons.compiled_loops import listing
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_06 import loops
from utils.lessons.recorded import record_of
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import records

NAIVE, UNROLLED = LADDER.step("naive"), LADDER.step("unrolled")
FACTOR = 4
BY_FOUR, BY_ONE = UNROLLED.variant(UNROLL=FACTOR), UNROLLED.variant(UNROLL=1)
SIZES = ("256", "512", "1024", "2048", "4096", "8192")
MIB, KIB = 2**20, 2**10
DEVICE = course.device_shown()
SCHEDULERS = limits_of(DEVICE.compute_capability).sub_partitions
says = partial(quotes.says, "06")
explains = quotes.explains
loop = cache(course.hot_loop)
watched = cache(course.watch)


def kinds(step, multiply_adds: int) -> Counter:
    """Count instructions by kind in the iterations that make these multiply-adds."""
    iterations = multiply_adds // loop(step).multiply_adds
    return Counter(
        {kind: iterations * n for kind, n in Counter(map(kind_of, loop(step).opcodes)).items()}
    )


def gain(size: str) -> float:
    return course.recorded_ms(NAIVE, size) / course.recorded_ms(BY_FOUR, size)


def times(step, size: str) -> loops.LoopTimes:
    return loops._times_of(step, size)


def machine_code(step):
    return xray(step.kernel, step.step.signature, "sm_90")


def least(step, n: int, instructions: float | None = None) -> float:
    """Return what the reader's function gives for a step on the device shown."""
    per_multiply_add = instructions or loop(step).per_multiply_add
    lines = course.cache_lines_per_multiply_add(watched(step))
    return least_ms(n, per_multiply_add, lines, DEVICE.sms, DEVICE.boost_clock_mhz)


# ---- the loop around the sum ----


def test_a_loop_counts_tests_and_jumps_beside_two_loads_and_a_multiply_add():
    assert TERM == ("load", "load", "multiply-add")
    assert Counter(LOOP_OVERHEAD) == {"address or counter": 1, "test or jump": 2}


@pytest.mark.slow
def test_the_steps_of_the_first_picture():
    single, unrolled = (
        FACTOR * len(TERM + LOOP_OVERHEAD), FACTOR * len(TERM) + len(LOOP_OVERHEAD)
    )  # fmt: skip
    says("Is the loop then {} ÷ {} = {:.1f} times as fast?", single, unrolled, single / unrolled)
    small = "2048"
    saved = 100 * (1 - 1 / gain(small))
    explains(
        "06.guess",
        "The compiler had made most of the step from {} to {}. You made that from {} to {}, "
        "{:.2f} times fewer. It saves only {:.0f} % of the time, because cache lines are the "
        "longer limit.",
        single, unrolled, kinds(NAIVE, 16).total(), kinds(BY_FOUR, 16).total(),
        kinds(NAIVE, 16).total() / kinds(BY_FOUR, 16).total(), saved,
    )  # fmt: skip
    assert kinds(NAIVE, FACTOR)["test or jump"] == len(LOOP_OVERHEAD)  # for four terms, not one


def test_the_order_of_the_first_task_unrolls_by_two():
    exercise = EXERCISES["order_by_two"]
    run = run_kernel(exercise, exercise.solution, exercise.shapes[0], 20)
    m, n, k = run.shape
    assert sum(iterations_of_kept_loops(run).values()) == m * n * k / 2
    says("Think of an odd `k`, such as {}", next(k for *_, k in exercise.shapes if k % 2))


# ---- what the compiler makes of naive ----


def test_a_warp_executes_each_instruction_for_its_lanes():
    says("a warp executes each of them for its {} lanes", WARP)


@pytest.mark.slow
def test_an_iteration_of_naive_has_four_multiply_adds_and_a_second_loop_does_the_rest(compiler):
    assert loop(NAIVE).multiply_adds == FACTOR
    first, second = machine_code(NAIVE.variant()).loops
    assert (first.ffma, second.ffma) == (FACTOR, 1)
    says("the terms that are left over: one per iteration, with {} instructions",
         len(second.body))
    assert kinds(NAIVE, FACTOR)["multiply-add"] == FACTOR


def test_the_instructions_are_of_the_named_kinds():
    names = {opcode.partition(".")[0] for opcode in loop(NAIVE).opcodes}
    assert names - {"UIADD3"} == {"LDG", "FFMA", "IADD3", "IMAD", "ISETP", "BRA"}


def test_the_grey_squares_of_naive():
    grey = [one for one in listing("naive") if kind_of(one.opcode) == "address or counter"]
    next_rows = [one for one in grey if any(part.startswith(("R2.", "R25")) or part == "R2"
                                            for part in one.operands)]  # fmt: skip
    assert len(next_rows) == len(grey) - len(next_rows) == 8
    length, terms = len(loop(NAIVE).opcodes), loop(NAIVE).multiply_adds
    says("`build({})` is the kernel unrolled by {}", FACTOR, FACTOR)
    says("with {} ÷ {} = {:.2f} instructions per multiply-add", length, terms, length / terms)
    says("Eight of the {} grey squares go to the next row of `b`, and eight move", len(grey))


def test_a_test_and_an_addition_to_an_address_take_two_instructions():
    orange = [one for one in loop(NAIVE).opcodes if kind_of(one) == "test or jump"]
    assert [one.partition(".")[0] for one in orange] == ["ISETP", "ISETP", "BRA"]
    assert [".EX" in one for one in orange] == [False, True, False]
    body = listing("naive")
    sums = [(one.opcode, {part.partition(".")[0] for part in one.operands}) for one in body]
    # R2 and R25 hold the two halves of the stride between rows of b.
    assert sum(code == "IADD3" and "R2" in parts for code, parts in sums) == FACTOR
    assert sum(code == "IMAD.X" and "R25" in parts for code, parts in sums) == FACTOR
    says("A register has {} bits, but counters and addresses have {}",
         types.int32.bitwidth, types.intp.bitwidth)


@pytest.mark.slow
def test_16_multiply_adds_are_four_iterations_of_naive():
    terms, length = loop(BY_FOUR).multiply_adds, len(loop(NAIVE).opcodes)
    assert terms // loop(NAIVE).multiply_adds == FACTOR
    says("For {} multiply-adds this loop makes four iterations with {} · {} = {} instructions",
         terms, FACTOR, length, FACTOR * length)
    says("unrolls it once more, so that one iteration makes {} multiply-adds", terms)
    says("It still loads {} words of `a` and {} words of `b`", terms, terms)
    says("The words of `b` are in {} rows", terms)


def test_the_answer_adds_up_the_kinds_of_instructions():
    new = kinds(BY_FOUR, 16)
    low = [one for one in listing(str(BY_FOUR)) if one.name == "IADD3" and "UR8" in one.operands]
    high = [one for one in listing(str(BY_FOUR)) if one.name == "IADD3" and "UR4" in one.operands]
    # The next row of b takes two additions, because an address has 64 bits.
    assert len(low) == len(high) == 16
    known = new["load"] + new["multiply-add"] + new["test or jump"] + 2 * 16
    explains(
        "06.instructions",
        "{} loads, {} multiply-adds, {} that test and jump, and {} · {} additions to addresses of "
        "b: {}. {} more compute the address of the words of a, and count: these are {} instead "
        "of {}.",
        new["load"], new["multiply-add"], new["test or jump"], 2, len(low), known,
        new.total() - known, new.total(), kinds(NAIVE, 16).total(),
    )  # fmt: skip
    assert new["load"] == kinds(NAIVE, 16)["load"]
    assert new["address or counter"] > kinds(NAIVE, 16)["address or counter"] / 2


def test_one_address_serves_all_words_of_a():
    body = listing(str(BY_FOUR))
    addresses = [one.operands[1] for one in body if one.name == "LDG"]
    bases = Counter(address.partition(".64")[0] for address in addresses)
    ((base, words), _) = bases.most_common(2)
    assert words == 16
    assert sum(address.startswith(base) and "+0x" in address for address in addresses) == 15


# ---- the exercise ----


def test_the_title_of_the_task_names_the_factor():
    says("## Your turn: unroll by {}", FACTOR)


@pytest.mark.slow
def test_the_readers_iteration_and_that_of_the_course_become_the_same_machine_code(compiler):
    kernel = EXERCISES["unroll"].solution
    step_loop = machine_code(BY_FOUR).hot
    exercise_loop = xray(kernel, UNROLLED.signature, "sm_90").hot
    assert [one.opcode for one in step_loop.body] == [one.opcode for one in exercise_loop.body]


@pytest.mark.slow
def test_with_a_sum_in_the_test_the_loop_is_not_unrolled_further(compiler):
    verdict = check("unroll", changed("unroll", ("i < whole", "i + 4 <= k")))
    assert not verdict.passed
    assert "Only 4 multiply-adds share one comparison and one jump" in verdict.causes[0]
    assert "try another form of the same test, such as `i < k - 3`" in verdict.causes[0]
    assert verdict.counts["iterations per multiply-add"] == 0.25
    per = verdict.counts["instructions per multiply-add"]
    assert per == loop(NAIVE).per_multiply_add


@pytest.mark.parametrize("test", ["i < whole", "i + 3 < k", "i < k - 3"])
def test_other_tests_let_the_compiler_unroll_four_times_more(test, compiler):
    verdict = check("unroll", changed("unroll", ("i < whole", test)))
    assert verdict.counts["instructions per multiply-add"] == loop(BY_FOUR).per_multiply_add


@pytest.mark.slow
def test_a_range_in_the_readers_kernel_asks_whether_indices_are_negative(compiler):
    kernel = changed(
        "unroll",
        ("    i = 0\n    whole = k - k % 4\n    while i < whole:\n",
         "    whole = k - k % 4\n    for i in range(0, whole, 4):\n"),
        ("        i += 4\n", ""),
        ("    while i < k:\n", "    i = whole\n    while i < k:\n"),
    )  # fmt: skip
    verdict = check("unroll", kernel)
    (cause,) = verdict.causes
    assert cause.startswith("The result is right.")
    assert "does not know that the index is never negative" in cause
    says("The result is right, and a multiply-add takes {:.1f} instructions",
         verdict.counts["instructions per multiply-add"])
    says("Make this loop `for i in range({}, whole, {})`, without `i += {}`", 0, FACTOR, FACTOR)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["an unsigned i", "the remainder first"])
def test_an_unsigned_counter_and_a_remainder_first_cost_instructions_too(what, compiler):
    verdict = check("unroll", wrong("unroll", what))
    per = verdict.counts["instructions per multiply-add"]
    assert per > 2 * loop(NAIVE).per_multiply_add
    assert ("float64" in verdict.causes[0]) == (what == "an unsigned i")


# ---- from counts to a time ----


def test_what_the_function_is_given_for_naive():
    lines = course.cache_lines_per_multiply_add(watched(NAIVE))
    assert lines == 2
    assert [course.per_request(watched(NAIVE), name, "cache_lines") for name in "ab"] == [1, 1]
    says("A multiply-add of `naive` takes {:.2f} instructions and two cache lines",
         loop(NAIVE).per_multiply_add)
    says("An H200 has {} SMs at {:.0f} MHz, and your function says", DEVICE.sms,
         DEVICE.boost_clock_mhz)
    says("The recorded time of `naive` is {:.2f} ms", course.recorded_ms(NAIVE, "2048"))
    cell = quotes.code("06", "least-both")
    assert f"{loop(NAIVE).per_multiply_add}" in cell
    assert f"{kinds(BY_FOUR, 16).total()} / {loop(BY_FOUR).multiply_adds})" in cell
    given = f"{lines:g}, {DEVICE.sms}, {DEVICE.boost_clock_mhz:.0f}"
    assert f"least(2048, instructions, {given})" in cell


@pytest.mark.slow
def test_unrolling_leaves_the_loads_and_the_cache_lines():
    assert course.cache_lines_per_multiply_add(watched(BY_FOUR)) == 2
    for step in (NAIVE, BY_FOUR, BY_ONE):
        assert kinds(step, 16)["load"] == 2 * 16
    assert course.loads_per_multiply_add(watched(BY_FOUR)) == 2


def test_the_time_at_2048():
    before, after = times(NAIVE, "2048"), times(BY_FOUR, "2048")
    assert before.cache_lines == after.cache_lines > max(before.instructions, after.instructions)
    explains(
        "06.time",
        "By its cache lines the kernel needs {:.2f} ms, with and without unrolling. Its "
        "instructions fall from {:.2f} to {:.2f} ms, and they were not the longer limit.",
        after.cache_lines, before.instructions, after.instructions,
    )  # fmt: skip
    factor, size = FACTOR, int("2048")
    says("How many ms does the kernel unrolled by {} take at {}?", factor, size)
    assert gain("2048") < 1.05


def test_the_function_agrees_with_the_bars():
    for step in (NAIVE, BY_FOUR):
        for size in ("2048", "4096"):
            shown = times(step, size)
            assert least(step, int(size)) == pytest.approx(
                max(shown.instructions, shown.cache_lines), rel=1e-3
            )


@pytest.mark.parametrize("size", ["2048", "4096"])
def test_the_bars_are_drawn_with_their_recorded_times(size):
    bars, recorded = loops.draw_times(size, naive=NAIVE, by_four=BY_FOUR), times(BY_FOUR, size)
    assert f"recorded {recorded.words('recorded')}" in bars.alt


def test_at_4096_both_times_are_far_above_both_estimates():
    for step in (NAIVE, BY_FOUR):
        shown = times(step, "4096")
        assert shown.recorded > 1.3 * max(shown.instructions, shown.cache_lines)
    size = int("4096")
    says("Here are the bars for n = {}", size)
    assert len({times(step, "4096").cache_lines for step in (NAIVE, BY_FOUR)}) == 1
    says("At {} the unrolled kernel is {:.2f} times faster, although both orange bars are equal",
         size, gain("4096"))


# ---- waits ----


def test_a_load_can_take_hundreds_of_cycles():
    curves = pd.read_csv(records.file_of(DEVICE.name, "latency_curves"))
    latency = curves[curves["experiment"] == "latency"].set_index("what")["value"]
    assert latency["L2"] > 200
    assert latency["DRAM"] > 200


@pytest.mark.slow
def test_unrolled_by_1_has_the_same_work_and_one_instruction_more():
    one, naive = loop(BY_ONE), loop(NAIVE)
    assert len(one.opcodes) - len(naive.opcodes) == 1
    assert one.multiply_adds == naive.multiply_adds
    factor, size, ms = BY_ONE.constants["UNROLL"], int("4096"), course.recorded_ms(NAIVE)
    says("The course's kernel with `UNROLL = {}` adds one term per iteration", factor)
    says("**How long does `UNROLL = {}` take at {},** where `naive` takes {:.1f} ms?",
         factor, size, ms)


def test_loads_that_start_before_the_first_wait():
    assert (loop(NAIVE).loads_first, loop(BY_ONE).loads_first) == (8, 5)
    naive, one = (loops.load_waits.groups_between_waits(listing(name))
                  for name in ("naive", str(BY_ONE)))
    loads = [[sum(each.name == "LDG" for each in group) for group in groups]
             for groups in (naive, one)]
    assert (len(naive) - 1, len(one) - 1) == (1, 2)
    reason, waiting = profiler.most_frequent_wait(NAIVE)
    assert reason == "long_sb"
    says("At {} a warp of `naive` waits for a load in {:.0f} % of the profiler's samples",
         int("4096"), 100 * waiting)
    assert [groups[:-1] for groups in loads] == [[8], [5, 3]]
    explains(
        "06.one",
        "With {:.0f} % waits, twice as many make it {:.2f} times as long. Recorded: {:.1f} ms, "
        "{:.2f} times {:.1f} ms.",
        100 * waiting, 1 + waiting, course.recorded_ms(BY_ONE),
        course.recorded_ms(BY_ONE) / course.recorded_ms(NAIVE), course.recorded_ms(NAIVE),
    )  # fmt: skip


def test_the_words_that_the_multiply_adds_of_unrolled_by_1_need():
    loads, products = [], []
    for one in listing(str(BY_ONE)):
        if one.name == "LDG":
            loads.append(one.operands[0])
        if one.name == "FFMA":
            products.append((len(loads), set(one.operands[1:3])))
    assert [before for before, _ in products] == [5, 6, 8, 8]
    assert products[1][1] <= set(loads[:5])
    assert all(needed & set(loads[5:]) for _, needed in products[2:])
    before, all_loads = products[0][0], len(loads)
    assert loop(NAIVE).loads_first == all_loads
    says("`naive` starts {} loads and waits once. In `UNROLL = {}` the first multiply-add comes "
         "after {} loads, and the warp waits for the two words that it needs. The words of the "
         "second come at about the same time, which is no further wait. The third "
         "needs words of the last {} loads", all_loads, BY_ONE.constants["UNROLL"], before,
         all_loads - before)
    assert len(products[0][1] & set(loads[:5])) == 2


def test_the_picture_marks_these_waits():
    alt = loops.draw_order(naive=NAIVE, one=BY_ONE).alt
    first = [[one.name for one in listing(name)].index("FFMA") + 1
             for name in ("naive", str(BY_ONE))]  # fmt: skip
    assert f"naive waits before instructions {first[0]}." in alt
    assert f"one waits before instructions {first[1]}, " in alt


@pytest.mark.slow
def test_all_variants_have_registers_for_64_warps(compiler):
    variants = [UNROLLED.variant(UNROLL=factor) for factor in loops.UNROLL_FACTORS]
    every = [NAIVE.variant(), *variants]
    assert {machine_code(one).registers for one in every} == {loops.REGISTERS}
    fit = occupancy(DEVICE.compute_capability, threads=256, registers=loops.REGISTERS)
    says("All have {} registers, so an SM has room for {} warps of each.", loops.REGISTERS,
         fit.warps)


def test_the_waits_are_not_the_only_cause():
    variants = {factor: UNROLLED.variant(UNROLL=factor) for factor in loops.UNROLL_FACTORS}
    ms = {factor: course.recorded_ms(one) for factor, one in variants.items()}
    waits = {factor: loops.waits(one) for factor, one in variants.items()}
    naive, two, eight = course.recorded_ms(NAIVE), 2, 8
    two_terms = variants[two]
    fewer = 1 - len(loop(NAIVE).opcodes) / len(loop(BY_ONE).opcodes)
    says("From {:g} waits to {:g} the time falls by {:.0f} % in `naive`, although its instructions "
         "are only {:.0f} % fewer", waits[1], loops.waits(NAIVE), 100 * (1 - naive / ms[1]),
         100 * fewer)
    assert waits[two] == loops.waits(NAIVE)
    assert waits[eight] == waits[FACTOR] < waits[two]
    assert loop(variants[eight]).per_multiply_add == loop(BY_FOUR).per_multiply_add
    assert ms[two] < ms[eight]
    says("`UNROLL = {}` has the counts of `UNROLL = {}`, and takes {:.0f} % more time", eight,
         FACTOR, 100 * (ms[eight] / ms[FACTOR] - 1))
    most = max(variants)
    says("`UNROLL = {}` has fewer instructions, and takes more time than `UNROLL = {}`, too", most,
         FACTOR)
    assert loop(variants[most]).per_multiply_add < loop(BY_FOUR).per_multiply_add
    assert record_of(variants[most], "4096").time_ms_min > record_of(BY_FOUR, "4096").time_ms_max
    fewer = 1 - loop(two_terms).per_multiply_add / loop(NAIVE).per_multiply_add
    says("`UNROLL = {}` has {} instructions for {} multiply-adds, so {:g} for {}. It waits as "
         "often as `naive`, and takes {:.0f} % less time with {:.0f} % fewer instructions", two,
         len(loop(two_terms).opcodes), loop(two_terms).multiply_adds,
         loops.TERMS * loop(two_terms).per_multiply_add, loops.TERMS,
         100 * (1 - ms[two] / naive), 100 * fewer)


@pytest.mark.slow
def test_the_table_of_variants_needs_no_compiler_and_begins_with_the_slowest():
    rows = loops.compare_variants().rows
    assert rows[0] == ("`UNROLL = 1`", "128", "8", "47.4 ms", "47.4 to 47.5")
    assert rows[1] == ("`naive`", "124", "4", "27.5 ms", "27.5 to 27.6")
    assert ("`UNROLL = 2`", "84.5", "4", "23.5 ms", "23.5 to 23.5") in rows


# ---- all sizes ----


def test_the_work_of_the_other_warps():
    lines = course.cache_lines_per_multiply_add(watched(NAIVE))
    cycles = int(lines * loops.TERMS / loops.waits(NAIVE))
    warps = occupancy(DEVICE.compute_capability, threads=256, registers=32).warps
    work = (warps - 1) * cycles
    assert loops.TERMS / loops.waits(NAIVE) == 4
    says("a warp of `naive` needs the SM for {} cycles, for the cache lines of four multiply-adds. "
         "So {} other warps have work for {} · {} = {} cycles", cycles,
         warps - 1, warps - 1, cycles, work)
    small, middle, large = loops.COVERED
    cover = loops.cover()
    assert cover[middle][:2] == cover[large][:2] == (warps - 1, work)
    assert cover[small][0] == 2 * 256 // WARP - 1
    covered = {size: work >= latency for size, (_, work, latency) in cover.items()}
    assert covered == {small: False, middle: True, large: False}
    assert gain(middle) < 1.05 < 1.2 < min(gain(small), gain(large))
    says("does not cover a load,** as at {} and {}", int(small), int(large))


def test_the_verdict_is_tested_with_unrolled_by_1():
    lines = course.cache_lines_per_multiply_add(watched(BY_ONE))
    cycles = int(lines * loops.TERMS / loops.waits(BY_ONE))
    size, one = 2048, BY_ONE.constants["UNROLL"]
    others, _, latency = loops.cover()[str(size)]
    assert others * cycles < latency
    assert times(BY_ONE, str(size)).instructions <= times(BY_ONE, str(size)).cache_lines
    timed = loops.range_times()
    more = timed[str(BY_ONE)][size] / timed["naive"][size] - 1
    says("At {} the warps of <code>UNROLL = {}</code> have {} cycles between two waits, so "
         "{} · {} = {} cycles of work, less than {:.0f}. Timed beside <code>naive</code>, it "
         "takes {:.0f} % more time there",
         size, one, cycles, others, cycles, others * cycles, latency, 100 * more)


def test_the_gains_at_all_sizes():
    gains = {size: f"{gain(size):.2f}" for size in SIZES}
    assert gains == dict(zip(SIZES, ("1.29", "1.21", "1.06", "1.02", "1.21", "1.03"), strict=True))
    factor, (most, *_) = FACTOR, sorted(SIZES, key=gain, reverse=True)
    says("The gain of unrolling by {} at all recorded sizes", factor)
    assert most == "256"


def test_at_256_an_sm_has_at_most_two_blocks_where_eight_would_fit():
    assert cdiv(BY_FOUR.launch(LADDER.parse("256")).blocks, DEVICE.sms) == 2
    assert occupancy(DEVICE.compute_capability, threads=256, registers=32).blocks == 8
    larger = "512"
    blocks = cdiv(BY_FOUR.launch(LADDER.parse(larger)).blocks, DEVICE.sms)
    warps, largest = blocks * 256 // WARP, "8192"
    assert blocks == 8
    says("The {:.2f} at {} and the {:.2f} at {} do not fit this model", gain(larger),
         int(larger), gain(largest), int(largest))
    assert warps == loops.cover()["2048"][0] + 1  # as many as where the estimate holds


def less_by_four(size: str) -> list[float]:
    """Return how many cycles unrolling by 4 takes off each column of the table of states."""
    naive, by_four = (loops.cycles_in_states(one, size) for one in (NAIVE, BY_FOUR))
    return [naive[state] - by_four[state] for state in naive]


def counted(step, size: str) -> dict[str, float]:
    return profiled.counted(step, size, "warm")


def test_the_table_of_states_adds_up_to_the_time_of_a_warp():
    rows = loops.compare_states().rows
    assert [row[0] for row in rows[:2]] == ["512, naive", "512, by 4"]
    fit = occupancy(DEVICE.compute_capability, threads=256, registers=loops.REGISTERS)
    for size in loops.PROFILED[2:]:  # the last blocks of smaller products leave SMs half empty
        for step in (NAIVE.variant(), BY_FOUR):
            *parts, together = loops.cycles_in_states(step, size).values()
            assert sum(parts) == pytest.approx(together)
            # The warps of all SMs share the multiply-adds.
            cycles = together * int(size) ** 3 / WARP / DEVICE.sms / fit.warps
            assert cycles == pytest.approx(counted(step, size)["cycles"], rel=0.03)


def in_state(step, *states: str) -> float:
    """Return the cycles of a warp in these states per multiply-add at 4096."""
    size, counters = int(loops.PROFILED[2]), counted(step, loops.PROFILED[2])
    return counters["instructions"] / (size**3 / WARP) * sum(counters[one] for one in states)


def test_what_unrolling_takes_off_the_states_of_a_warp():
    (*_, rest, saved), (_, queue, same, total) = map(less_by_four, loops.PROFILED[:2])
    by_two, large = UNROLLED.variant(UNROLL=2), loops.PROFILED[2]
    off = []
    for size in loops.PROFILED:
        naive, four = (loops.cycles_in_states(one, size)["together"] for one in (NAIVE, BY_FOUR))
        off.append(abs(naive / four / gain(size) - 1))
    says("The sums give the recorded gains within {:.0f} %. At {} unrolling saves mostly the rest: "
         "it has fewer instructions. At {} the queue takes this back, because cache lines are the "
         "limit. At {} the waits for a word fall, at {} hardly.", np.ceil(100 * max(off)),
         *map(int, loops.PROFILED))
    assert 0.9 * saved < rest
    assert -queue > same > 0
    assert 0 < total < 5
    lines = times(BY_FOUR, loops.PROFILED[1])
    assert lines.cache_lines > max(lines.instructions, 0.8 * lines.recorded)
    falls = [less_by_four(size)[0] for size in loops.PROFILED[2:]]
    assert falls[0] > 2.5 * falls[1] > 0
    naive, two = (loops.cycles_in_states(one, large) for one in (NAIVE, by_two))
    ready = [in_state(one, "not_selected") for one in (NAIVE.variant(), by_two, BY_FOUR)]
    fixed = [in_state(one, "selected", "wait") for one in (NAIVE.variant(), by_two)]
    says("Here are the other variants at {}", int(large))
    says("`UNROLL = {}` saves {:.0f} of the cycles of `naive`, {:.0f} of them in the rest. For "
         "{:.0f} of these, a warp that is ready waits {:.0f} cycles until its scheduler takes it, "
         "instead of {:.0f} in `naive` and {:.0f} in `by {}`. For {:.0f} of them, its instructions "
         "are fewer: in `naive` their starts and the fixed pauses after them take {:.0f} cycles, "
         "here {:.0f}", by_two.constants["UNROLL"], naive["together"] - two["together"],
         naive["the rest"] - two["the rest"], ready[0] - ready[1], ready[1], ready[0], ready[2],
         FACTOR, fixed[0] - fixed[1], *fixed)


def test_why_unrolling_by_8_takes_longer_than_by_4():
    by_eight, (_, middle, large, _) = UNROLLED.variant(UNROLL=8), loops.PROFILED
    eight, four = (counted(one, middle)["cycles"] for one in (by_eight, BY_FOUR))
    off = abs(eight / four - 1)
    assert off > 0.001
    queues = [loops.cycles_in_states(one, large)["for the queue"] for one in (by_eight, BY_FOUR)]
    eight, four = (counted(one, large) for one in (by_eight, BY_FOUR))
    says("`UNROLL = {}` takes as many cycles as `UNROLL = {}` at {}, within {:.0f} %. At {} L2 has "
         "{:.0f} % of what it asks for, instead of {:.0f} %. DRAM reads {:.1f} times as many "
         "bytes, and a warp waits {:.0f} cycles longer for the queue", by_eight.constants["UNROLL"],
         FACTOR, int(middle), np.ceil(100 * off), int(large), eight["l2_read_hit_percent"],
         four["l2_read_hit_percent"], eight["dram_read_bytes"] / four["dram_read_bytes"],
         queues[0] - queues[1])


def test_what_the_open_question_knows():
    by_two, largest = UNROLLED.variant(UNROLL=2), loops.PROFILED[-1]
    naive, two, four = (counted(one, largest) for one in (NAIVE.variant(), by_two, BY_FOUR))
    lacks = [100 - one["l2_read_hit_percent"] for one in (naive, two, four)]
    sectors = four["l2_read_sectors"] / naive["l2_read_sectors"]
    read = four["dram_read_bytes"] / naive["dram_read_bytes"]
    says("At {} the kernel unrolled by {} reads {:.1f} times as many bytes from DRAM as "
         "<code>naive</code>. It asks L2 for {:.1f} times as many sectors, and L2 lacks {:.0f} % "
         "of them instead of {:.0f} %, which are {:.1f} times as many. Why do more sectors miss, "
         "and what makes {:.1f} of the {:.1f}? With <code>UNROLL = {}</code> L2 lacks {:.0f} %, "
         "too, and the kernel takes {:.0f} % fewer cycles than <code>naive</code>", int(largest),
         FACTOR, read, sectors, lacks[2], lacks[0], sectors * lacks[2] / lacks[0], read,
         sectors * lacks[2] / lacks[0], by_two.constants["UNROLL"], lacks[1],
         100 * (1 - two["cycles"] / naive["cycles"]))


def test_an_sm_has_four_schedulers():
    assert SCHEDULERS == 4


def test_three_matrices_fit_into_the_l2_cache_at_2048_and_not_at_4096():
    size, large = (int(one) for one in ("2048", "4096"))
    bytes_of = {n: 3 * n * n * float32.bitwidth // 8 for n in (size, large)}
    assert bytes_of[size] < DEVICE.l2_kib * KIB < bytes_of[large]
    says("At {} all matrices, {:.0f} MiB, fit into the {:.0f} MiB of L2, at {} they do not",
         size, bytes_of[size] / MIB, DEVICE.l2_kib / KIB, large)
    curves = pd.read_csv(records.file_of(DEVICE.name, "latency_curves"))
    latency = curves[curves["experiment"] == "latency"].set_index("what")["value"].round(-1)
    says("A single load takes about {:.0f} cycles from the L2 cache and about {:.0f} from DRAM",
         latency["L2"], latency["DRAM"])
    assert large == int(loops.COVERED[-1])


# ---- range ----


@pytest.mark.slow
def test_a_range_takes_more_than_four_times_as_many_instructions(compiler):
    step = loops.with_range()
    body = machine_code(step.variant()).hot.body
    names = Counter(one.name for one in body)
    cost, _ = loops.range_cost()
    assert cost == len(body) / names["FFMA"]
    assert names["FFMA"] == FACTOR
    assert names["SEL"] >= 8
    assert not any("SEL" in one.name for one in listing("naive"))
    per = loop(NAIVE).per_multiply_add
    says("These are {} ÷ {} = {:.0f} instructions per multiply-add, {:.1f} times as many",
         len(body), names["FFMA"], cost, cost / per)
    says("The compiler unrolls this loop by {} as well", names["FFMA"])


@pytest.mark.slow
def test_without_uint32_an_index_may_be_negative_too(compiler):
    step = edited(NAIVE.file, Edit("uint32(y), uint32(x)", "y, x")).STEP
    assert len(machine_code(step.variant()).code) > len(machine_code(NAIVE.variant()).code)


def test_the_range_takes_longer_than_the_while_loop_and_than_its_instructions():
    cost, (middle, large) = loops.range_cost()[0], (2048, 4096)
    with_while, with_for = (loops.range_times()[name] for name in ("naive", loops.WITH_RANGE))
    assert with_while[large] == pytest.approx(course.recorded_ms(NAIVE), rel=0.005)
    says("**One word costs a factor of {:.1f} at {}, and of {:.1f} at {}.**",
         with_for[large] / with_while[large], large, with_for[middle] / with_while[middle],
         middle)  # fmt: skip
    assert cost / SCHEDULERS > 2 > loop(NAIVE).per_multiply_add / SCHEDULERS
    given = (large, cost, 2, DEVICE.sms, DEVICE.boost_clock_mhz)
    says("The function explains {:.1f} of the {:.1f} ms", loops.bound_ms(*given), with_for[large])


def test_the_lanes_for_integers_explain_most_of_the_time_of_the_range():
    names = [one.name for one in listing(loops.WITH_RANGE)]
    integers, multiply_adds = sum(one in loops.INTEGER for one in names), names.count("FFMA")
    assert set(names) - set(loops.INTEGER) == {"IMAD", "LDG", "FFMA", "BRA"}
    per_cycle = loops.INTEGER_LANES // WARP
    says("an SM has {} lanes for float32 and only {} for integers", DEVICE.fp32_lanes_per_sm,
         loops.INTEGER_LANES)
    assert per_cycle == 2
    says("So an SM starts at most two integer instructions per cycle")
    says("The `for` loop has {} integer instructions for {} multiply-adds, besides its "
         "multiplications. These are {} ÷ {} ÷ {} = {:.1f} cycles per multiply-add. In `naive` "
         "they are {:.1f}", integers, multiply_adds, integers, multiply_adds, per_cycle,
         loops.integer_cycles(), loops.integer_cycles("naive"))
    assert loops.integer_cycles("naive") < 2 < loops.range_cost()[0] / 4 < loops.integer_cycles()
    cost, shares = loops.range_cost()[0], []
    for size in (2048, 4096):
        given = (size, cost, loops.integer_cycles(), DEVICE.sms, DEVICE.boost_clock_mhz)
        shares.append(loops.bound_ms(*given) / loops.range_times()[loops.WITH_RANGE][size])
    assert f"{shares[0]:.0%}" == f"{shares[1]:.0%}"
    says("Both are {:.0f} % of the recorded times", 100 * shares[0])


def test_the_lanes_for_integers_do_not_execute_the_multiplications():
    names = [one.name for one in listing(loops.WITH_RANGE)]
    all_of_them = loops.integer_cycles() + names.count("IMAD") / names.count("FFMA") / 2
    given = (2048, 0, all_of_them, DEVICE.sms, DEVICE.boost_clock_mhz)
    bound, recorded = loops.bound_ms(*given), loops.range_times()[loops.WITH_RANGE][2048]
    assert bound > recorded
    says("with them, `for` would need at least {:.1f} ms at {}, more than the recorded {:.1f}",
         bound, given[0], recorded)


def test_the_table_of_the_range_has_the_large_sizes():
    rows = loops.show_range_times().rows
    assert [str(row[0]) for row in rows] == list(SIZES[2:])
    assert [row[-1] for row in rows] == ["5.5", "5.9", "4.1", "4.2"]


def test_the_function_for_readers_without_a_right_one():
    given = (4096, 36, 2, DEVICE.sms, DEVICE.boost_clock_mhz)
    assert loops.bound_ms(*given) == pytest.approx(least_ms(*given))


# ---- what still limits it ----


def test_what_unrolling_removes():
    fewer = 1 - kinds(BY_FOUR, 16).total() / kinds(NAIVE, 16).total()
    shares = [100 * (1 - 1 / gain(size)) for size in ("2048", "4096")]
    small, large = (int(one) for one in ("2048", "4096"))
    says("Unrolling by {} removes {:.0f} % of the instructions that are left. That saves {:.0f} % "
         "of the time at {}, and {:.0f} % at {}", FACTOR, 100 * fewer, shares[0], small, shares[1],
         large)


def test_a_loop_with_one_term_would_need_more_time_than_naive_takes(compiler):
    size, (_, single) = 2048, machine_code(NAIVE.variant()).loops
    assert single.ffma == 1
    one, by_compiler, by_hand = (len(single.body), loop(NAIVE).per_multiply_add,
                                 loop(BY_FOUR).per_multiply_add)  # fmt: skip
    assert one - by_compiler > 0.7 * (one - by_hand)
    bound, taken = least(NAIVE, size, len(single.body)), course.recorded_ms(NAIVE, str(size))
    says("The second loop of `naive` has one term and {} instructions. A kernel with this loop "
         "alone needs at least {:.2f} ms at {}. `naive` takes {:.2f} ms, so at "
         "least {:.0f} % of the {:.2f} ms would be the loop itself, by its instructions alone",
         len(single.body), bound, size, taken, 100 * (1 - taken / bound), bound)


def test_the_cache_lines_allow_an_eighth_of_the_peak():
    lines = course.cache_lines_per_multiply_add(watched(BY_FOUR))
    could = SCHEDULERS * lines
    assert could == 8
    says("reach at most an eighth of the peak, {:.1f} %", 100 / could)
    assert DEVICE.fp32_lanes_per_sm == SCHEDULERS * WARP
    for size in ("2048", "4096"):
        assert course.share_of_peak(BY_FOUR, size) < 1 / could
