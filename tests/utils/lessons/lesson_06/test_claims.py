"""Check the claims of lesson 06 against machine code, counts and records."""

import inspect
from collections import Counter
from functools import cache, partial

import pandas as pd
import pytest
from numba import float32, types

from gemm_kernels import LADDER
from gpu_xray import xray
from labs import EXERCISES, check
from labs.checking.run import run_kernel
from labs.exercises.least_ms.formula import right as least_ms
from labs.targets.loop_unrolling import iterations_of_kept_loops
from tests import quotes
from tests.labs.versions import changed
from utils import lessons as course
from utils.division import cdiv
from utils.figures.instruction_strip import LOOP_OVERHEAD, TERM, kind_of
from utils.lessons.compiled_loops import listing
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_06 import loops
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


def test_the_steps_of_the_first_picture():
    single, unrolled = (
        FACTOR * len(TERM + LOOP_OVERHEAD), FACTOR * len(TERM) + len(LOOP_OVERHEAD)
    )  # fmt: skip
    says("Is the loop then {} ÷ {} = {:.1f} times as fast?", single, unrolled, single / unrolled)


def test_the_order_of_the_first_task_unrolls_by_two():
    exercise = EXERCISES["order_by_two"]
    run = run_kernel(exercise, exercise.solution, exercise.shapes[0], 20)
    m, n, k = run.shape
    assert sum(iterations_of_kept_loops(run).values()) == m * n * k / 2
    says("Think of an odd `k`, such as {}", next(k for *_, k in exercise.shapes if k % 2))


# ---- what the compiler makes of naive ----


def test_a_warp_executes_each_instruction_for_its_lanes():
    says("a warp executes each of them for its {} lanes", WARP)


def test_an_iteration_of_naive_has_four_multiply_adds_and_a_second_loop_does_the_rest(compiler):
    assert loop(NAIVE).multiply_adds == FACTOR
    assert [each.ffma for each in machine_code(NAIVE.variant()).loops] == [FACTOR, 1]
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


def test_the_readers_iteration_and_that_of_the_course_become_the_same_machine_code(compiler):
    kernel = EXERCISES["unroll"].solution
    step_loop = machine_code(BY_FOUR).hot
    exercise_loop = xray(kernel, UNROLLED.signature, "sm_90").hot
    assert [one.opcode for one in step_loop.body] == [one.opcode for one in exercise_loop.body]


def test_a_sum_in_the_test_keeps_the_iteration_as_it_is(compiler):
    verdict = check("unroll", changed("unroll", ("i < whole", "i + 4 <= k")))
    assert not verdict.passed
    assert "4 multiply-adds share one comparison and one jump" in verdict.causes[0]
    assert verdict.counts["iterations per multiply-add"] == 0.25
    per = verdict.counts["instructions per multiply-add"]
    assert per == loop(NAIVE).per_multiply_add
    says("Did <code>check</code> count {:.2f} instructions in yours?", per)
    says("With the test <code>i + {} &lt;= k</code> the compiler keeps your iteration as it is. "
         "<code>i + {} &lt; k</code> allows the same iterations", FACTOR, FACTOR - 1)


@pytest.mark.parametrize("test", ["i < whole", "i + 3 < k"])
def test_other_tests_let_the_compiler_unroll_four_times_more(test, compiler):
    verdict = check("unroll", changed("unroll", ("i < whole", test)))
    assert verdict.counts["instructions per multiply-add"] == loop(BY_FOUR).per_multiply_add


def test_a_range_in_the_readers_kernel_asks_whether_indices_are_negative(compiler):
    kernel = changed(
        "unroll",
        ("    i = 0\n    whole = k - k % 4\n    while i < whole:\n",
         "    whole = k - k % 4\n    for i in range(0, whole, 4):\n"),
        ("        i += 4\n", ""),
        ("    while i < k:\n", "    i = whole\n    while i < k:\n"),
    )  # fmt: skip
    (cause,) = check("unroll", kernel).causes
    assert "does not know that the index is never negative" in cause


# ---- from counts to a time ----


def test_what_the_function_is_given_for_naive():
    lines = course.cache_lines_per_multiply_add(watched(NAIVE))
    assert lines == 2
    assert [course.per_request(watched(NAIVE), name, "cache_lines") for name in "ab"] == [1, 1]
    says("A multiply-add of `naive` takes {:.2f} instructions and two cache lines",
         loop(NAIVE).per_multiply_add)
    says("An H200 has {} SMs at {:.0f} MHz. So at n = {} your function gives at least {:.2f} ms "
         "for `naive`, and the recorded time is {:.2f} ms", DEVICE.sms, DEVICE.boost_clock_mhz,
         int("2048"), least(NAIVE, 2048), course.recorded_ms(NAIVE, "2048"))


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
        "instructions fall from {:.2f} to {:.2f} ms, and they were not the longer limit. Recorded "
        "are {:.2f} ms.",
        after.cache_lines, before.instructions, after.instructions, after.recorded,
    )  # fmt: skip
    factor, size = FACTOR, int("2048")
    says("How many ms does the kernel unrolled by {} take at {}?", factor, size)
    says("At {} the loop itself costs almost no time", size)


def test_the_function_agrees_with_the_bars():
    for step in (NAIVE, BY_FOUR):
        for size in ("2048", "4096"):
            shown = times(step, size)
            assert least(step, int(size)) == pytest.approx(
                max(shown.instructions, shown.cache_lines), rel=1e-3
            )


def test_at_4096_both_times_are_far_above_both_estimates():
    for step in (NAIVE, BY_FOUR):
        shown = times(step, "4096")
        assert shown.recorded > 1.3 * max(shown.instructions, shown.cache_lines)
    size = int("4096")
    says("Here are the same bars for n = {}, and yours", size)
    says("At {} the unrolled kernel is {:.2f} times faster", size, gain("4096"))


# ---- waits ----


def test_a_load_can_take_hundreds_of_cycles():
    curves = pd.read_csv(records.file_of(DEVICE.name, "latency_curves"))
    latency = curves[curves["experiment"] == "latency"].set_index("what")["value"]
    assert latency["L2"] > 200
    assert latency["DRAM"] > 200


def test_unrolled_by_1_has_the_same_work_and_one_instruction_more():
    one, naive = loop(BY_ONE), loop(NAIVE)
    assert len(one.opcodes) - len(naive.opcodes) == 1
    assert one.multiply_adds == naive.multiply_adds
    factor, size, ms = BY_ONE.constants["UNROLL"], int("4096"), course.recorded_ms(NAIVE)
    says("The course's kernel with `UNROLL = {}` adds one term per iteration", factor)
    says("In `UNROLL = {}` the second multiply-add needs two of the first five words", factor)
    says("**How long does `UNROLL = {}` take at {},** where `naive` takes {:.1f} ms?",
         factor, size, ms)


def test_loads_that_start_before_the_first_wait():
    assert (loop(NAIVE).loads_first, loop(BY_ONE).loads_first) == (8, 5)
    naive, one = (loops.load_waits.groups_between_waits(listing(name))
                  for name in ("naive", str(BY_ONE)))
    loads = [[sum(each.name == "LDG" for each in group) for group in groups]
             for groups in (naive, one)]
    assert (len(naive) - 1, len(one) - 1) == (1, 2)
    explains(
        "06.one",
        "naive starts {} loads and waits once. UNROLL = {} starts {}, waits, "
        "starts {}, and waits again. With twice the waits it takes {:.1f} ms, and naive {:.1f} ms: "
        "{:.2f} times as long.",
        loads[0][0], BY_ONE.constants["UNROLL"], loads[1][0],
        loads[1][1], course.recorded_ms(BY_ONE), course.recorded_ms(NAIVE),
        course.recorded_ms(BY_ONE) / course.recorded_ms(NAIVE),
    )  # fmt: skip


def test_the_model_of_waits_gives_the_right_order():
    naive, one, four = (loops.waits(step) for step in (NAIVE, BY_ONE, BY_FOUR))
    assert one > naive > four
    assert course.recorded_ms(BY_ONE) > course.recorded_ms(NAIVE) > course.recorded_ms(BY_FOUR)
    longer = course.recorded_ms(BY_ONE) / course.recorded_ms(NAIVE)
    says("Then `UNROLL = {}`, with {:g} waits instead of {:g}, takes {:.0f} times as long; "
         "recorded are {:.2f} times", BY_ONE.constants["UNROLL"], one, naive,
         one / naive, longer)
    says("Unrolled by {}, with {:g} waits, it is {:g} ÷ {:g} = {:.2f} times "
         "faster; recorded are {:.2f} times", FACTOR, four, naive, four, naive / four, gain("4096"))
    assert one / naive > longer
    assert naive / four > gain("4096")


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


def test_the_waits_are_not_the_only_cause():
    variants = {factor: UNROLLED.variant(UNROLL=factor) for factor in loops.UNROLL_FACTORS}
    ms = {factor: course.recorded_ms(one) for factor, one in variants.items()}
    waits = {factor: loops.waits(one) for factor, one in variants.items()}
    naive, two = course.recorded_ms(NAIVE), 2
    more = len(loop(BY_ONE).opcodes) / len(loop(NAIVE).opcodes) - 1
    every = {"naive": loop(NAIVE), **{name: loop(one) for name, one in variants.items()}}
    most = sorted(every, key=lambda name: every[name].per_multiply_add)
    assert most[-2:] == ["naive", 1]
    says("`UNROLL = {}` has only {:.0f} % more of them than `naive`, and takes {:.0f} % more time",
         BY_ONE.constants["UNROLL"],
         100 * more, 100 * (ms[1] / naive - 1))
    assert waits[two] == loops.waits(NAIVE)
    says("`UNROLL = {}` waits as often as `naive` and takes {:.0f} % less time", two,
         100 * (1 - ms[two] / naive))
    fewest = min(waits.values())
    among = [ms[factor] for factor in variants if waits[factor] == fewest]
    assert len(among) == 3
    says("three variants with {:g} waits take {:.1f} to {:.1f} ms", fewest, min(among), max(among))


def test_the_table_of_variants_needs_no_compiler_and_begins_with_the_slowest():
    rows = loops.compare_variants().rows
    assert rows[0] == ("`UNROLL = 1`", "128", "8", "47.4 ms")
    assert rows[1] == ("`naive`", "124", "4", "27.5 ms")
    assert ("`UNROLL = 2`", "84.5", "4", "23.5 ms") in rows


# ---- all sizes ----


def test_the_work_of_the_other_warps():
    lines = course.cache_lines_per_multiply_add(watched(NAIVE))
    cycles = int(lines * loops.TERMS / loops.waits(NAIVE))
    warps = occupancy(DEVICE.compute_capability, threads=256, registers=32).warps
    work = (warps - 1) * cycles
    assert loops.TERMS / loops.waits(NAIVE) == 4
    says("a warp of <code>naive</code> needs the SM for {} cycles, for the cache lines of four "
         "multiply-adds. So {} other warps have work for {} · {} = {} cycles", cycles,
         warps - 1, warps - 1, cycles, work)
    curves = pd.read_csv(records.file_of(DEVICE.name, "latency_curves"))
    latency = curves[curves["experiment"] == "latency"].set_index("what")["value"]
    assert latency["L2"] < work < latency["DRAM"]
    few = 2 * 256 // WARP - 1
    assert few * cycles < latency["L2"]
    says("At {} there are at most {} other warps, with {} · {} = {} cycles", int("256"), few,
         few, cycles, few * cycles)


def test_the_gains_at_all_sizes():
    gains = {size: f"{gain(size):.2f}" for size in SIZES}
    assert gains == dict(zip(SIZES, ("1.29", "1.21", "1.06", "1.02", "1.21", "1.03"), strict=True))
    factor, (most, *_) = FACTOR, sorted(SIZES, key=gain, reverse=True)
    says("Here is the gain of unrolling by {} at all recorded sizes", factor)
    assert most == "256"


def test_at_256_an_sm_has_at_most_two_blocks_where_eight_would_fit():
    assert cdiv(BY_FOUR.launch(LADDER.parse("256")).blocks, DEVICE.sms) == 2
    assert occupancy(DEVICE.compute_capability, threads=256, registers=32).blocks == 8
    larger = "512"
    blocks = cdiv(BY_FOUR.launch(LADDER.parse(larger)).blocks, DEVICE.sms)
    warps, largest = blocks * 256 // WARP, "8192"
    assert blocks == 8
    says("the estimate explains neither the {:.2f} at {}, where an SM has up to {} warps, nor the "
         "{:.2f} at {}", gain(larger), int(larger), warps, gain(largest), int(largest))


def test_an_sm_has_four_schedulers():
    assert SCHEDULERS == 4


def test_three_matrices_fit_into_the_l2_cache_at_2048_and_not_at_4096():
    size, large = (int(one) for one in ("2048", "4096"))
    bytes_of = {n: 3 * n * n * float32.bitwidth // 8 for n in (size, large)}
    assert bytes_of[size] < DEVICE.l2_kib * KIB < bytes_of[large]
    says("At {} all matrices, {:.0f} MiB, fit into the L2 cache of {:.0f} MiB",
         size, bytes_of[size] / MIB, DEVICE.l2_kib / KIB)
    curves = pd.read_csv(records.file_of(DEVICE.name, "latency_curves"))
    latency = curves[curves["experiment"] == "latency"].set_index("what")["value"].round(-1)
    says("and a load takes about {:.0f} cycles", latency["L2"])
    says("At {} it may come from DRAM and take about {:.0f} cycles", large, latency["DRAM"])


# ---- range ----


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
    explains(
        "06.range",
        "{} instructions for {} multiply-adds are {:.0f} for each: {:.0f} ÷ {:.2f} = {:.1f} times "
        "as many. For each index they ask whether it is negative, because a[{}] is the last "
        "element in Python.",
        len(body), names["FFMA"], cost, cost, per, cost / per, -1,
    )  # fmt: skip
    says("The compiler unrolls this loop by {} as well", names["FFMA"])


def test_without_uint32_an_index_may_be_negative_too(compiler):
    step = edited(NAIVE.file, Edit("uint32(y), uint32(x)", "y, x")).STEP
    assert len(machine_code(step.variant()).code) > len(machine_code(NAIVE.variant()).code)


def test_i_begins_at_zero_in_the_while_loop():
    first = inspect.getsource(NAIVE.file).partition("    i = ")[2].partition("\n")[0]
    says("In the `while` loop `i` begins at {} and only grows", int(first))


def test_the_range_takes_longer_than_the_while_loop_and_than_its_instructions():
    cost, (middle, large) = loops.range_cost()[0], (2048, 4096)
    with_while, with_for = (loops.range_times()[name] for name in ("naive", loops.WITH_RANGE))
    assert with_while[large] == pytest.approx(course.recorded_ms(NAIVE), rel=0.005)
    says("**One word costs a factor of {:.1f} at {}, and of {:.1f} at {}.**",
         with_for[large] / with_while[large], large, with_for[middle] / with_while[middle],
         middle)  # fmt: skip
    says("they need {:.1f} of the {:.0f} ms", least(NAIVE, large, instructions=cost),
         with_for[large])  # fmt: skip
    assert cost / SCHEDULERS > 2 > loop(NAIVE).per_multiply_add / SCHEDULERS


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
    says("Unrolling by {} removes {:.0f} % of the instructions. At {} that saves {:.0f} % of the "
         "time", FACTOR, 100 * fewer, small, shares[0])
    guess = len(TERM + LOOP_OVERHEAD) * FACTOR / (len(TERM) * FACTOR + len(LOOP_OVERHEAD))
    says("the kernel is {:.2f} times as fast, and not {:.1f} times", gain("2048"), guess)
    says("The {:.0f} % at {} come with fewer waits, too", shares[1], large)


def test_the_cache_lines_allow_an_eighth_of_the_peak():
    lines = course.cache_lines_per_multiply_add(watched(BY_FOUR))
    could = SCHEDULERS * lines
    assert could == 8
    says("reach at most an eighth of the peak, {:.1f} %", 100 / could)
    assert DEVICE.fp32_lanes_per_sm == SCHEDULERS * WARP
    for size in ("2048", "4096"):
        assert course.share_of_peak(BY_FOUR, size) < 1 / could
