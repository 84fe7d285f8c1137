"""Check the claims of lesson 06 against machine code, counts and records."""

from collections import Counter
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numba import types

from gemm_kernels import LADDER
from gpu_xray import xray
from labs import EXERCISES, check
from labs.checking.run import run_kernel
from labs.targets.loop_unrolling import iterations_of_kept_loops
from tests.labs.versions import changed
from utils import lessons as course
from utils.division import cdiv
from utils.figures.instruction_strip import kind_of
from utils.lessons.edits import Edit, edited
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring import records

NAIVE, UNROLLED = LADDER.step("naive"), LADDER.step("unrolled")
BY_FOUR = UNROLLED.variant(UNROLL=4)
COUNTS = (1, 2, 4, 8, 16)
WAYS = {count: UNROLLED.variant(UNROLL=count) for count in COUNTS}
SIZES = ("256", "512", "1024", "2048", "4096", "8192")
RANGE = (
    Edit("    i = 0\n", ""),
    Edit("    while i < k:\n", "    for i in range(k):\n"),
    Edit("        i += 1\n", ""),
)
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


def machine_code(step):
    return xray(step.kernel, step.step.signature, "sm_90")


# ---- what the compiler makes of naive ----


def test_a_turn_of_naive_has_4_multiply_adds_among_31_instructions():
    assert (loop(NAIVE).multiply_adds, len(loop(NAIVE).opcodes)) == (4, 31)
    assert loop(NAIVE).per_multiply_add == 7.75
    assert round(4 / 31, 3) == 0.129


def test_a_second_loop_does_the_rest(compiler):
    compiled = machine_code(NAIVE.variant())
    assert [each.ffma for each in compiled.loops] == [4, 1]


def test_the_instructions_are_of_the_named_kinds():
    names = {opcode.partition(".")[0] for opcode in loop(NAIVE).opcodes}
    assert names - {"UIADD3"} == {"LDG", "FFMA", "IADD3", "IMAD", "ISETP", "BRA"}
    shown = {one.partition(".")[0] for one in (*loop(NAIVE).opcodes[:5], *loop(NAIVE).opcodes[-9:])}
    assert shown == {"LDG", "FFMA", "IADD3", "IMAD", "ISETP", "BRA"}


def test_three_orange_squares_are_two_halves_of_a_test_and_a_jump():
    orange = [one for one in loop(NAIVE).opcodes if kind_of(one) == "test or jump"]
    assert [one.partition(".")[0] for one in orange] == ["ISETP", "ISETP", "BRA"]
    assert [".EX" in one for one in orange] == [False, True, False]


def test_8_of_16_grey_squares_are_two_additions_for_each_address_of_b(compiler):
    assert kinds(NAIVE, 4)["address or counter"] == 16
    body = machine_code(NAIVE.variant()).hot.body
    sums = [(one.opcode, {part.partition(".")[0] for part in one.operands}) for one in body]
    # R2 and R25 hold the two halves of the stride between rows of b.
    assert sum(code == "IADD3" and "R2" in parts for code, parts in sums) == 4
    assert sum(code == "IMAD.X" and "R25" in parts for code, parts in sums) == 4


def test_an_sm_has_four_schedulers_which_at_the_peak_start_multiply_adds_alone():
    device = course.device_shown()
    assert limits_of(device.compute_capability).sub_partitions == 4
    assert device.fp32_lanes_per_sm == 4 * 32


# ---- the exercise, before and after ----


def test_check_tries_whole_turns_each_remainder_and_no_turn():
    lengths = [shape[2] for shape in EXERCISES["unroll"].shapes]
    assert lengths == [24, 21, 23, 22, 3, 2, 1]
    assert {length % 4 for length in lengths} == {0, 1, 2, 3}


def test_a_test_of_each_term_takes_more_than_10_instructions(compiler):
    term = "        total += a[row, i + {0}] * b[i + {0}, col]"
    tests = [(term.format(u), f"        if i + {u} < k:\n    {term.format(u)}") for u in (1, 2, 3)]
    (cause,) = check("unroll", changed("unroll", ("i < whole", "i < k"), *tests)).causes
    assert "That is 10.2 for each; the target is 9." in cause


def test_turns_for_a_multiply_add_fall_from_1_to_a_quarter():
    exercise = EXERCISES["unroll"]
    for kernel, per_term in ((exercise.starter, 1), (exercise.solution, 0.25)):
        run = run_kernel(exercise, kernel, exercise.shapes[0], 20)
        assert sum(iterations_of_kept_loops(run).values()) == per_term * np.prod(run.shape)


def test_the_readers_turn_and_that_of_the_course_become_the_same_machine_code(compiler):
    kernel = EXERCISES["unroll"].solution
    step_loop = machine_code(BY_FOUR).hot
    exercise_loop = xray(kernel, UNROLLED.signature, "sm_90").hot
    assert [one.opcode for one in step_loop.body] == [one.opcode for one in exercise_loop.body]


def test_for_16_multiply_adds_124_instructions_become_91():
    before, after = kinds(NAIVE, 16), kinds(BY_FOUR, 16)
    assert loop(BY_FOUR).multiply_adds == 16
    assert (before.total(), after.total()) == (124, 91)
    assert (before["test or jump"], after["test or jump"]) == (12, 3)
    assert (before["address or counter"], after["address or counter"]) == (64, 40)
    assert before["load"] == after["load"] == 32
    assert round(124 / 91, 2) == 1.36


def test_in_the_picture_a_row_is_a_turn_of_naive_and_the_other_turn_takes_three():
    assert cdiv(91, len(loop(NAIVE).opcodes)) == 3


def test_one_address_serves_all_words_of_a_and_most_of_the_rest_are_addresses_of_b(compiler):
    body = machine_code(BY_FOUR).hot.body
    addresses = [one.operands[1] for one in body if one.name == "LDG"]
    bases = Counter(address.partition(".64")[0] for address in addresses)
    ((base, words), _) = bases.most_common(2)
    assert words == 16
    assert sum(address.startswith(base) and "+0x" in address for address in addresses) == 15
    # The next row of b takes two additions, because an address has 64 bits.
    low = [one for one in body if one.name == "IADD3" and "UR8" in one.operands]
    high = [one for one in body if one.name == "IADD3" and "UR4" in one.operands]
    assert len(low) == len(high) >= 15


# ---- estimates and records ----


def test_both_estimates_of_naive_at_2048_are_about_2_ms():
    by_instructions = course.counting.one_per_cycle_ms(7.75 / 4, "2048")
    by_lines = course.estimated_ms(watched(NAIVE), "2048")
    assert (round(by_instructions), round(by_lines)) == (2, 2)


def test_unrolling_leaves_two_cache_lines_for_a_multiply_add():
    assert course.cache_lines_per_multiply_add(watched(NAIVE)) == 2
    assert course.cache_lines_per_multiply_add(watched(BY_FOUR)) == 2
    assert [course.per_request(watched(BY_FOUR), name, "cache_lines") for name in "ab"] == [1, 1]


def test_at_2048_the_time_falls_by_2_percent():
    assert 0.02 <= 1 - 1 / gain("2048") < 0.025


def test_the_estimates_are_shown_with_three_digits():
    shown = course.two_estimates("2048", naive=NAIVE, unrolled=BY_FOUR)
    assert [row[-1] for row in shown.rows] == ["2.46 ms", "2.40 ms"]


def test_at_4096_both_are_far_above_both_estimates_and_the_gain_is_larger():
    for step in (NAIVE, BY_FOUR):
        by_instructions = course.counting.one_per_cycle_ms(loop(step).per_multiply_add / 4, "4096")
        most = max(by_instructions, course.estimated_ms(watched(step), "4096"))
        assert course.recorded_ms(step) > 1.3 * most
    assert gain("4096") > 1.15


def test_unrolled_by_1_is_compiled_to_one_instruction_more_with_the_same_work():
    one, naive = loop(WAYS[1]), loop(NAIVE)
    assert (len(one.opcodes), len(naive.opcodes)) == (32, 31)
    assert one.multiply_adds == naive.multiply_adds
    assert kinds(WAYS[1], 4)["load"] == kinds(NAIVE, 4)["load"]


def test_multiply_adds_of_a_turn_are_not_the_number_of_the_source():
    assert [loop(way).multiply_adds for way in WAYS.values()] == [4, 32, 16, 16, 16]


def test_from_2_to_16_the_instructions_are_almost_the_same():
    counts = [loop(WAYS[count]).per_multiply_add for count in COUNTS[1:]]
    assert max(counts) < 1.1 * min(counts)


def test_blue_squares_before_the_first_green_one_are_8_and_5():
    for step, loads in ((NAIVE, 8), (WAYS[1], 5)):
        first = list(map(kind_of, loop(step).opcodes)).index("multiply-add")
        before = Counter(map(kind_of, loop(step).opcodes[:first]))
        assert before["load"] == loop(step).loads_first == loads


def test_loads_before_the_first_wait_separate_5_from_8_from_9_and_more():
    steps = (NAIVE, *WAYS.values())
    loads = [loop(step).loads_first for step in steps]
    times = [round(course.recorded_ms(step), 1) for step in steps]
    assert loads == [8, 5, 9, 11, 14, 13]
    assert times == [27.5, 47.4, 23.5, 22.8, 24.7, 23.4]


def test_between_8_and_9_loads_the_instructions_become_fewer_too():
    assert loop(WAYS[2]).loads_first == 9
    assert loop(WAYS[2]).per_multiply_add < loop(NAIVE).per_multiply_add


def test_lesson_09_has_copies_with_1_2_4_or_8_loads_under_way():
    curves = pd.read_csv(records.file_of(course.device_shown().name, "latency_curves"))
    copies = curves[curves["experiment"] == "copy"]["what"]
    assert {f"{count} float" for count in (1, 2, 4, 8)} <= set(copies)


def test_only_at_4096_are_other_numbers_than_4_recorded():
    frame = records.measured(course.device_shown().name, "gemm")
    others = frame[(frame["step"] == "unrolled") & (frame["params"] != "UNROLL=4")]
    assert set(others["params"]) == {f"UNROLL={count}" for count in COUNTS if count != 4}
    assert set(others["n"]) == {4096}


def test_the_published_instruction_cache_holds_1024_instructions_and_our_longest_loop_fits(
    compiler,
):
    claims = records.published("claims").set_index("claim")
    kib = claims.loc["maxas: size of the instruction cache", "value"]
    assert kib * 1024 / 8 == 1024
    body = machine_code(WAYS[2]).hot.body
    assert len(body) == max(len(loop(step).opcodes) for step in (NAIVE, *WAYS.values())) == 169
    bytes_each = {two.address - one.address for one, two in pairwise(body)}
    assert bytes_each == {16}
    assert 16 * len(body) < 3 * 1024


def test_a_load_can_take_hundreds_of_cycles():
    curves = pd.read_csv(records.file_of(course.device_shown().name, "latency_curves"))
    latency = curves[curves["experiment"] == "latency"].set_index("what")["value"]
    assert latency["L2"] > 200
    assert latency["DRAM"] > 200


def test_each_multiply_add_has_two_loads_however_it_is_unrolled():
    for step in (NAIVE, *WAYS.values()):
        assert kinds(step, 32)["load"] == 64


# ---- range, factories, arguments ----


def test_a_range_takes_36_instructions_most_of_them_for_its_indices(compiler):
    step = edited(NAIVE.file, *RANGE).STEP
    body = machine_code(step.variant()).hot.body
    names = Counter(one.name for one in body)
    assert (names["FFMA"], len(body) / names["FFMA"]) == (4, 36)
    assert names["SEL"] >= 8
    assert not any("SEL" in one.name for one in machine_code(NAIVE.variant()).hot.body)


def test_by_its_instructions_alone_the_range_takes_longer_than_the_while_loop_did(compiler):
    step = edited(NAIVE.file, *RANGE).STEP
    (_, row) = course.two_estimates("4096", while_loop=NAIVE, for_loop=step).rows
    assert row[1:] == ("73.9 ms", "16.4 ms", "–")
    assert round(73.9 / course.recorded_ms(NAIVE), 1) == 2.7


def test_without_uint32_an_index_may_be_negative_too(compiler):
    step = edited(NAIVE.file, Edit("uint32(y), uint32(x)", "y, x")).STEP
    assert len(machine_code(step.variant()).code) > len(machine_code(NAIVE.variant()).code)


def test_of_a_range_up_to_an_argument_the_compiler_chooses_how_far_it_unrolls(compiler):
    module = edited(
        UNROLLED.file,
        Edit("def unrolled(a, b, c):", "def unrolled(a, b, c, TURNS):"),
        Edit("whole = k - k % UNROLL", "whole = k - k % TURNS"),
        Edit("range(UNROLL)", "range(TURNS)"),
        Edit("i += UNROLL", "i += TURNS"),
    )
    signature = types.void(*UNROLLED.signature.args, types.int64)
    hot = xray(module.build(4), signature, "sm_90").hot
    assert (hot.ffma, len(hot.body)) == (4, 144)
    assert sum(one.name == "SEL" for one in hot.body) >= 8


# ---- sizes and bounds ----


def test_unrolling_gains_most_at_256_and_almost_nothing_at_2048():
    gains = {size: f"{gain(size):.2f}" for size in SIZES}
    assert gains == dict(zip(SIZES, ("1.29", "1.21", "1.06", "1.02", "1.21", "1.03"), strict=True))


@pytest.mark.parametrize("size, fewest, most", [("256", 1, 2), ("512", 7, 8)])
def test_blocks_of_an_sm_which_could_hold_eight(size, fewest, most):
    device = course.device_shown()
    blocks = BY_FOUR.launch(LADDER.parse(size)).blocks
    assert (blocks // device.sms, cdiv(blocks, device.sms)) == (fewest, most)
    capability = device.compute_capability
    assert occupancy(capability, threads=256, registers=32).blocks == 8


def test_two_loads_feed_a_multiply_add():
    for step in (NAIVE, BY_FOUR):
        assert course.loads_per_multiply_add(watched(step)) == 2


def test_the_bounds_were_almost_the_same_and_are_not_any_more():
    assert f"{1 / 7.75:.1%}" == "12.9%"
    assert f"{1 / (4 * 2):.1%}" == "12.5%"
    assert 1 / loop(BY_FOUR).per_multiply_add > 0.17
    for size in ("2048", "4096"):
        assert course.share_of_peak(BY_FOUR, size) < 1 / (4 * 2)


# ---- the exercises at the end ----


def test_a_sum_in_the_test_keeps_the_turn_as_it_is(compiler):
    verdict = check("unroll", changed("unroll", ("i < whole", "i + 4 <= k")))
    assert verdict.passed
    assert verdict.counts["turns per multiply-add"] == 0.25
    assert verdict.counts["instructions per multiply-add"] == 7.75


@pytest.mark.parametrize("test", ["i < whole", "i + 3 < k"])
def test_other_tests_let_the_compiler_unroll_four_times_more(test, compiler):
    verdict = check("unroll", changed("unroll", ("i < whole", test)))
    assert verdict.counts["instructions per multiply-add"] == loop(BY_FOUR).per_multiply_add


def test_four_totals_are_nearer_to_the_exact_sum():
    terms = np.random.default_rng(6).random(4096, dtype=np.float32)
    one = np.add.accumulate(terms)[-1]
    four = sum(np.add.accumulate(terms[u::4])[-1] for u in range(4))
    exact = terms.sum(dtype=np.float64)
    assert abs(four - exact) < abs(one - exact)
    assert one != four


def test_by_32_a_turn_has_8_multiply_adds_and_36_instructions_for_each(compiler):
    far = edited(UNROLLED.file, Edit("(4, 16, 2, 8, 1)", "(32,)")).STEP
    far_loop = loop(far)
    assert (far_loop.multiply_adds, round(far_loop.per_multiply_add)) == (8, 36)
    assert far_loop.per_multiply_add > 6 * loop(WAYS[16]).per_multiply_add
    assert any("SEL" in opcode for opcode in far_loop.opcodes)
