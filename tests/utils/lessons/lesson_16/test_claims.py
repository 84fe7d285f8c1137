"""Check the claims of lesson 16 against machine code and records."""

import inspect
import math
import re
from collections import Counter
from functools import partial

import pytest
from numba.types import intp

from gemm_kernels import LADDER as GEMM
from gemm_kernels import autotuned
from gpu_xray import xray
from labs.exercises import find as exercise
from labs.exercises.sums_in_registers import starter
from latency_kernels import LADDER as CEILINGS
from tests import quotes
from tools.records import compiled_loops as recording
from tools.records import spill_counters, spills
from tools.records.spills import SIDE, in_32_bits
from utils import lessons as course
from utils.lessons.compiled_loops import (
    COUNTS,
    listed_rows,
    listing,
    recorded_loop,
    recorded_loops,
)
from utils.lessons.lesson_16 import instruction_shares, product_orders, register_banks
from utils.lessons.lesson_16.instruction_shares import kinds
from utils.lessons.lesson_16.reading_machine_code import (
    SPILLS,
    SpillRecord,
    fastest,
    stored_gb,
)
from utils.lessons.load_waits import groups_between_waits, waits_per_8
from utils.machine.devices import REFERENCE
from utils.machine.devices import find as device
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring import profiled_launches, records, rows

NAIVE, TILED = GEMM.step("naive"), GEMM.step("tiled").variant(TILE=32)
MULTI = GEMM.step("multi_output").variant(MULTI=8, APART=32)
AUTOTUNED = GEMM.step("autotuned")
FMA_LOOP = CEILINGS.step("fma_loop")
ROWS, BACK, SPIRAL = (FMA_LOOP.variant(ORDER=order) for order in (0, 1, 2))
NAME = "sums_in_registers"
STARTER, SOLUTION = (course.loop_of_record(f"{NAME} {it}") for it in ("starter", "solution"))
LOOP = listing("naive")
TWO, THREE, FOUR, EIGHT = 2, 3, 4, 8  # numbers that the prose writes as words
says, explains = partial(quotes.says, "16"), quotes.explains


def numbers_of(*names):
    """Return the positions, from 1, of the instructions of naive's loop with these names."""
    return [index for index, one in enumerate(LOOP, start=1) if one.name in names]


# ---- the record of the loops is what the compiler makes ----


@pytest.mark.slow
@pytest.mark.parametrize("one", list(recording.kernels()), ids=lambda one: f"{one[0]} {one[1]}")
def test_a_recorded_loop_is_what_the_compiler_makes(one, compiler):
    name, limit, kernel, signature = one
    compiled = xray(kernel, signature, recording.ARCH)
    assert recording.loop_of(compiled) == recorded_loops()[name, limit]


@pytest.mark.slow
@pytest.mark.parametrize("one", list(recording.listed()), ids=lambda one: one[0])
def test_a_recorded_listing_is_what_the_compiler_makes(one, compiler):
    name, kernel, signature = one
    made = list(recording.instructions(name, kernel, signature))
    words = [(row.instruction.text_to(""), row.instruction.word) for row in listed_rows(name)]
    body = xray(kernel, signature, recording.ARCH).hot.body
    assert words == [(one.text_to(""), one.word) for one in body]
    assert [row.line for row in made] == [row.line for row in listed_rows(name)]


def test_every_step_with_a_record_and_every_order_has_its_loop():
    assert {str(variant) for variant in recording.variants()} <= {
        name for name, _ in recorded_loops()
    }
    assert COUNTS.exists()


# ---- one loop ----


def test_the_loop_of_naive_has_31_instructions_of_four_kinds():
    by_kind = kinds(Counter(one.name for one in LOOP))
    assert by_kind["multiply-add"] == FOUR
    others = len(LOOP) - FOUR
    says("Only four of the {} instructions in the loop", len(LOOP))
    says("what are the other {} for?", others)
    assert (by_kind["load or store"], by_kind["test, jump or barrier"]) == (EIGHT, THREE)
    says(
        "The other {} instructions are eight loads, three that test and jump, and {} that compute",
        others,
        by_kind["address or counter"],
    )
    stride = {"R2", "R25"}  # the two halves of the distance from a row of b to the next
    moves = [one for one in LOOP if stride & {source[0] for source in one.sources if source}]
    assert len(moves) == TWO * FOUR == by_kind["address or counter"] / TWO
    says("Half of these {} only move the address of `b` to the next row", len(moves) * TWO)


def test_a_register_has_half_of_the_bits_of_an_address():
    bits = 32
    assert LOOP[4].text_to("").split()[1] == "R20,"
    says("A register has {} bits and an address has {}.", bits, TWO * bits)
    offset = next(one for one in LOOP if "+0x4]" in one.text_to(""))
    assert offset.operands[1] == "desc[UR6][R10.64+0x4]"
    behind = int(offset.operands[1].rpartition("+")[2].rstrip("]"), base=16)
    says("`desc[UR6][R10.64+0x4]` is the word {} bytes behind", behind)
    assert {one.opcode for one in LOOP if ".X" in one.opcode} == {"IMAD.X", "IADD3.X", "UIADD3.X"}


def test_the_example_is_not_the_first_multiply_add():
    _, second, *_ = numbers_of("FFMA")
    assert LOOP[second - 1].text_to("").strip() == "FFMA R12, R12, R28, R27"
    says("`FFMA R12, R12, R28, R27` multiplies R12 and R28, adds R27")


def test_the_control_codes_that_the_lesson_explains():
    _, second, third, _ = numbers_of("FFMA")
    assert LOOP[second - 1].operands[0] == "R12"
    assert "R12" in LOOP[third - 1].operands[1:]
    stalls = [LOOP[at - 1].control.stall for at in range(second, third)]
    says("{} cycles from one `FFMA` to the next that reads its result.", sum(stalls))
    says("Instruction {} computes R12, and instruction {} reads it.", second, third)
    assert third == second + TWO
    says(
        "{} cycle after instruction {} and {} cycles after instruction {}.",
        stalls[0], second, stalls[1], second + 1,
    )  # fmt: skip
    (jump,), *_, last = numbers_of("BRA"), *numbers_of("ISETP")
    assert LOOP[last - 1].operands[0] == LOOP[jump - 1].predicate.lstrip("@") == "P1"
    says("the number of a load that instruction {} waits for", third)
    says("at least from instruction {}, which computes P1, to the jump", last)


def test_the_flags_that_the_lesson_explains():
    _, second, *_ = numbers_of("FFMA")
    read = {source[0] for source in LOOP[second - 1].sources if source}
    loads = [index for index in numbers_of("LDG") if LOOP[index - 1].loaded & read]
    loads = [index for index in loads if LOOP[index - 1].loaded & {"R28", "R12"}]
    (flag,) = {LOOP[index - 1].control.write_barrier for index in loads}
    assert LOOP[second - 1].control.waits == (flag,)
    says("Instructions {} and {} bring R28 and R12, and both set flag {}.", *loads, flag)
    says("Instruction {} waits for both, and the scheduler", second)
    reader = min(at for at in numbers_of("LDG") if LOOP[at - 1].control.read_barrier is not None)
    second_flag = LOOP[reader - 1].control.read_barrier
    (writer,) = [at for at, one in enumerate(LOOP, start=1) if second_flag in one.control.waits]
    assert "R10" in LOOP[reader - 1].operands[1]
    assert LOOP[writer - 1].operands[0] == "R10"
    own_flag = LOOP[reader - 1].control.write_barrier
    flags = own_flag, second_flag
    says("Instruction {} has `set {} {}`: it sets flag {} until its value has arrived, and "
         "flag {} until its address is read", reader, *flags, *flags)  # fmt: skip
    says("because instruction {} overwrites R10.", writer)


def test_the_three_instructions_to_find():
    (first, *_), (jump,) = numbers_of("FFMA"), numbers_of("BRA")
    for load in (5, 9):
        assert course.find_in_loop(NAIVE, first, load, jump).kind == "good"
    for wrong in ((first + 1, 5, jump), (first, 4, jump), (first, 5, 1), (None, 5, jump)):
        assert course.find_in_loop(NAIVE, *wrong).kind == "ask"


def test_the_two_waits_to_find():
    (jump,) = numbers_of("BRA")
    for load in (8, 15):
        assert course.find_wait(NAIVE, load, 13).kind == "good"
    for wrong in ((4, 13), (8, 12), (8, None), (None, 13), (21, 13), (99, 13), (jump, 13)):
        assert course.find_wait(NAIVE, *wrong).kind == "ask"
    assert "sets flag 2, and instruction 28 waits for flag 4" in str(course.find_wait(NAIVE, 4))
    assert "1 + 1 + 3 + 2 + 2 + 4 = 13" in str(course.find_wait(NAIVE, cycles=13))
    assert "instructions 25 to 30" in str(course.find_wait(NAIVE, cycles=12))
    assert "from 1 to 31" in str(course.find_wait(NAIVE, load=99))


def test_a_predicate_is_ready_after_13_cycles():
    cycles = set()
    for name in ("naive", f"{NAME} starter"):
        code = listing(name)
        for at, one in enumerate(code):
            if one.opcode.startswith("ISETP") and ".EX" in one.opcode:
                user = next(user for user in range(at, len(code))
                            if code[user].predicate
                            and code[user].predicate.lstrip("@!") == one.operands[0])  # fmt: skip
                cycles.add(sum(each.control.stall for each in code[at:user]))
    (distance,) = cycles
    card = str(course.find_wait(NAIVE, cycles=distance))
    assert f"only {distance} cycles after the instruction that computes it" in card


def test_the_load_and_the_store_of_a_sum_to_find():
    names = [row.instruction.name for row in listed_rows("sums_in_registers starter")]
    _, second = [at for at, name in enumerate(names, start=1) if name == "FFMA"][:TWO]
    says("Instruction {} is the second multiply-add, and it adds to the sum in R50.", second)
    assert course.find_sum(starter, 13, 20).kind == "good"
    for wrong in ((4, 20), (13, 12), (2, 20), (13, None), (None, 20), (13, 75)):
        assert course.find_sum(starter, *wrong).kind == "ask"
    assert "Which load of R50 is the last one before" in str(course.find_sum(starter, 4, 20))
    assert "from the address in R0" in str(course.find_sum(starter, 13, 20))
    loads = [row.instruction for row in listed_rows("sums_in_registers starter")]
    places = [[one.operands[at] for one in loads if one.name == name]
              for name, at in (("LDL", 1), ("STL", 0))]  # fmt: skip
    assert places[0] == places[1]  # "stored at the same address"


# ---- float64 ----


def test_the_loop_with_float64_has_three_instructions_for_a_multiply_add():
    mix = Counter(row.instruction.name for row in listed_rows("single_precision starter"))
    assert mix["FFMA"] == 0
    assert mix["FMUL"] == mix["F2F"] == mix["DADD"] == FOUR


# ---- the share as a bound ----


def test_what_one_iteration_of_tiled_has():
    mix = course.loop_of_record(TILED).mix
    wide, narrow = mix["LDS.128"], mix["LDS.32"]
    named = ("FFMA", "LDS.128", "LDS.32", "LDG.32", "STS.32", "BAR")
    rest = sum(mix.values()) - sum(mix[name] for name in named)
    side = dict(TILED.constants)["TILE"]
    says("with tiles of {}×{}.", side, side)
    says("- {} multiply-adds, `FFMA`", mix["FFMA"])
    says("- {} reads of shared memory.", wide + narrow)
    says("A column of `sb` needs {}, one for each word. A row of `sa` needs {}", narrow, wide)
    says(
        "- {} loads from global memory, {} stores to shared memory, and {} barriers",
        mix["LDG.32"],
        mix["STS.32"],
        mix["BAR"],
    )
    says("- {} instructions that compute addresses, test and jump", rest)
    total = sum(mix.values())
    explains(
        "16.tiled",
        "{} + {} + {} + {} + {} + {} = {} instructions, and {} of them are multiply-adds. "
        "{} ÷ {} = {:.1f} %",
        mix["FFMA"], wide + narrow, mix["LDG.32"], mix["STS.32"], mix["BAR"], rest, total,
        mix["FFMA"], mix["FFMA"], total, 100 * mix["FFMA"] / total,
    )  # fmt: skip
    assert fastest(GEMM.step("tiled")) == TILED
    assert limits_of(device("NVIDIA H200").compute_capability).cycles_per_ffma == 1


def test_the_loads_and_stores_of_tiled_and_naive_set_the_lower_bound():
    limits = limits_of(device(REFERENCE).compute_capability)
    assert limits.sub_partitions == instruction_shares.SCHEDULERS == FOUR
    tiled, naive = (course.loop_of_record(one) for one in (TILED, NAIVE))
    moved = [kinds(one.mix)["load or store"] for one in (tiled, naive)]
    says("`tiled` has {} of them for {} multiply-adds, which take {:.0f} cycles at the peak",
         moved[0], tiled.multiply_adds, tiled.multiply_adds / FOUR)  # fmt: skip
    bounds = [100 * instruction_shares.load_store_bound(one.mix) for one in (tiled, naive)]
    says("at most {:.0f} %, and `naive`, with {} loads for {} multiply-adds, at most {:.1f} %.",
         bounds[0], moved[1], naive.multiply_adds, bounds[1])  # fmt: skip
    assert bounds[0] < 100 * tiled.share
    assert bounds[1] < 100 * naive.share


def test_what_the_warps_of_naive_and_tiled_wait_for():
    naive, tiled = (profiled_launches.counters_of(str(one), "4096x4096x4096", "warm")
                    for one in (NAIVE.variant(), TILED))  # fmt: skip
    says("each instruction of `naive` {:.1f} cycles in which its warp waits for loads",
         naive["long_scoreboard"])  # fmt: skip
    says("for one of `tiled` {:.1f} cycles in the queue for shared memory and {:.1f} at barriers.",
         tiled["mio_throttle"], tiled["barrier"])  # fmt: skip


@pytest.mark.slow
def test_no_kernel_is_above_its_bound_and_fma_loop_almost_touches_it():
    size = 4096
    says("the constants that were fastest at {}×{}.", size, size)
    for step in (*GEMM.steps, FMA_LOOP):
        variant = fastest(step)
        reached = course.share_of_peak(variant, str(size) if step is not FMA_LOOP else "2^30")
        loop = course.loop_of_record(variant)
        assert 0 < reached <= loop.share, variant
        assert reached <= instruction_shares.load_store_bound(loop.mix), variant
    assert course.share_of_peak(BACK, "2^30") > 0.99 * course.loop_of_record(BACK).share


def test_a_t4_has_half_of_the_lanes():
    for name, lanes in (("H200", 32), ("T4", 16)):
        limits = limits_of(device(name).compute_capability)
        assert limits.fp32_lanes_per_sm / limits.sub_partitions == lanes
        assert f"{lanes} on a" in " ".join(exercise("issue_bound").text)


# ---- local memory and spills ----


def test_the_sums_are_loaded_and_stored_in_each_iteration():
    mix = STARTER.mix
    assert mix["LDL.32"] == mix["STL.32"] == STARTER.multiply_adds == EIGHT
    moved = mix["LDL.32"] + mix["STL.32"]
    says("That is {} accesses in the loop beside the {} loads of `a` and", moved, mix["LDG.32"])
    says("All {} accesses are gone", moved)
    assert not {"LDL.32", "STL.32"} & set(SOLUTION.mix)
    assert (STARTER.local_bytes, SOLUTION.local_bytes) == (FOUR * EIGHT, 0)
    assert SOLUTION.multiply_adds == FOUR * EIGHT  # unrolled by four over k


def test_what_a_multiply_add_costs_and_what_is_won():
    costs = [one.instructions / one.multiply_adds for one in (SOLUTION, STARTER)]
    ms = (course.spilled_ms(f"sums_in_registers {name}") for name in ("solution", "starter"))
    says("A multiply-add costs {} instructions instead of {}, and the product at {} takes "
         "{:.0f} ms instead of {:.0f} ms.", *costs, SIDE, *ms)  # fmt: skip
    assert costs[0] < len(LOOP) / FOUR  # "naive, with more instructions"
    assert STARTER.mix["LDG.32"] / STARTER.multiply_adds == SOLUTION.mix["LDG.32"] / (
        SOLUTION.multiply_adds
    )
    assert STARTER.mix["LDG.32"] / EIGHT < TWO  # "and more loads"
    slow, fast = course.recorded_ms(NAIVE), course.recorded_ms(MULTI)
    wide, narrow = (
        records_of_products()[f"sums_in_registers {name}"] for name in ("solution", "in 32 bits")
    )
    says("Yet `naive` takes {:.1f} ms", slow)
    says("the kernel of the solution takes **{:.1f} ms** and needs", narrow.time_ms)
    says("needs {} registers instead of {}", narrow.registers, wide.registers)
    held = [occupancy((9, 0), 256, one.registers).warps for one in (narrow, wide)]
    assert held[0] == TWO * held[1]
    multi = course.loop_of_record(MULTI)
    assert multi.instructions / multi.multiply_adds == pytest.approx(costs[0], rel=0.02)
    assert multi.mix["LDG.32"] / multi.multiply_adds == STARTER.mix["LDG.32"] / EIGHT
    assert narrow.time_ms == pytest.approx(fast, rel=0.01)  # "and takes as long"
    says("in another way, needs {:.2f} instructions", multi.instructions / multi.multiply_adds)


@pytest.mark.slow
def test_the_solution_with_32_bit_indices_is_nearly_multi_output(compiler):
    compiled = xray(in_32_bits, MULTI.step.signature, recording.ARCH)
    loop, multi = recording.loop_of(compiled), course.loop_of_record(MULTI)
    says("ms** and needs {:.2f} instructions per multiply-add.",
         loop.instructions / loop.multiply_adds)  # fmt: skip
    assert loop.registers == multi.registers
    assert loop.mix["LDG.32"] == multi.mix["LDG.32"]
    assert waits_per_8(compiled.hot.body) == waits_per_8(listing(str(MULTI)))


def test_the_waits_explain_the_order_of_the_kernels():
    loops = [listing(name) for name in (str(MULTI), f"{NAME} solution", str(NAIVE.variant()))]
    few, many, own = map(waits_per_8, loops)
    card = course.find_waits(few, many, TWO * many / few)
    assert card.kind == "good"
    assert "2 · 2.75 ÷ 1 = 5.5" in str(card)
    for wrong in ((None, many, 5.5), (few, 11, 5.5), (TWO, many, 5.5), (few, many, 2.75)):
        card = course.find_waits(*wrong)
        assert card.kind == "ask"
        assert "2.75 ÷ 1" not in str(card)
    first = [len(groups_between_waits(loop)[0]) for loop in loops]
    says("`multi_output` starts {} loads before its first wait", first[0])
    says("The solution starts {}.", first[1])
    wide, narrow = (records_of_products()[f"{NAME} {it}"] for it in ("solution", "in 32 bits"))
    held = [occupancy((9, 0), 256, registers).warps
            for registers in (narrow.registers, wide.registers,
                              course.loop_of_record(NAIVE).registers)]  # fmt: skip
    assert held[0] == TWO * held[1] == held[TWO]
    says("needs {} registers instead of {}", narrow.registers, wide.registers)
    of_naive = course.recorded_ms(NAIVE) / narrow.time_ms
    says("Recorded are {:.1f} times, less than the estimate.", wide.time_ms / narrow.time_ms)
    assert own == EIGHT / course.loop_of_record(NAIVE).multiply_adds  # "waits once"
    says("So the estimate is {:.1f} times, and {:.1f} are recorded.", own / few, of_naive)
    reached, bound = course.share_of_peak(MULTI, "4096"), course.loop_of_record(MULTI).share
    says("`multi_output` reaches {:.0f} % of the peak, and its instructions allow at most {:.1f} %",
         100 * reached, 100 * bound)  # fmt: skip
    busy = [profiled_launches.counters_of(str(one), "4096x4096x4096", "warm")["issue_percent"]
            for one in (MULTI, NAIVE.variant())]  # fmt: skip
    says("start an instruction in {:.0f} % of the cycles, those of `naive` in {:.0f} %, and those "
         "of the solution in {:.0f} %.", *busy,
         counters_of_spills(f"{NAME} solution")["issue_percent"])  # fmt: skip


@pytest.mark.slow
def test_the_sign_of_the_indices_decides_and_not_their_width(compiler):
    def compiled(kernel):
        return xray(kernel, MULTI.step.signature, recording.ARCH)

    def tested(kernel):  # the columns that are asked whether their index is negative
        return set(re.findall(r"setp\.lt\.s(?:32|64)\s.*, -(\d+);", compiled(kernel).ptx))

    columns = {str(32 * column) for column in range(1, EIGHT)}
    assert tested(exercise(NAME).solution) == columns == tested(spills.with_a_sign_in_32_bits)
    for kernel in (MULTI.kernel, in_32_bits, spills.without_a_sign_in_64_bits):
        assert not tested(kernel)
    narrow, wide = map(compiled, (spills.with_a_sign_in_32_bits, spills.without_a_sign_in_64_bits))
    says("With `int32(…)` the loop waits {:.0f} times for eight multiply-adds, and a thread needs "
         "{} registers.", waits_per_8(narrow.hot.body), narrow.registers)  # fmt: skip
    says("which leaves {} bits and no negative number, it waits once, and a thread needs {}.",
         intp.bitwidth, wide.registers)  # fmt: skip
    assert waits_per_8(wide.hot.body) == 1  # "it waits once"
    names = (f"{NAME} in 32 bits with a sign", f"{NAME} in 64 bits without a sign")
    says("They take {:.1f} ms and {:.1f} ms.", *(records_of_products()[it].time_ms for it in names))


def test_the_waits_of_an_iteration_are_those_of_each_iteration():
    for name in (str(MULTI), f"{NAME} solution", str(NAIVE.variant())):
        once, thrice = (groups_between_waits(listing(name) * many) for many in (1, THREE))
        assert len(thrice) - 1 == THREE * (len(once) - 1)


def test_one_address_serves_the_columns_of_multi_output_and_not_of_the_solution():
    computed = []
    for name in (str(MULTI), f"{NAME} solution"):
        written: set[str] = set()
        computed.append(0)
        for one in listing(name):
            if one.name == "LDG":
                base = re.search(r"\[(R\d+)", one.operands[1])[1]
                computed[-1] += base in written
                written.discard(base)
            else:
                written.add(one.operands[0])
    of_multi, of_solution = computed
    assert of_multi == TWO + 1  # of a, and of two rows of b
    assert of_solution > 0.85 * SOLUTION.multiply_adds  # one load of b per multiply-add
    assert "[R4.64+0x80]" in str([one.operands for one in listing(str(MULTI))])


def records_of_products():
    """Return name -> row of the record of the products that begin with the exercise's name."""
    return {row.kernel: row for row in spill_rows() if row.max_registers is None}


def spill_rows():
    """Return the rows of the record of kernels whose numbers do not all stay in registers."""
    return rows.read(records.file_of(REFERENCE, SPILLS), SpillRecord)


def counters_of_spills(kernel, limit=None):
    """Return counter -> value of a recorded launch with this limit of registers per thread."""
    table = records.file_of(REFERENCE, "spill_counters")
    return {row.counter: row.value for row in rows.read(table, spill_counters.SpillCounter)
            if (row.kernel, row.max_registers) == (kernel, limit)}  # fmt: skip


def test_three_times_as_many_stores_take_three_times_as_long():
    loops = [recorded_loop("fma_loop ORDER=1", limit) for limit in (80, 72, 64)]
    few, more, most = (one.mix["STL.32"] for one in loops)
    times = [course.spilled_ms("fma_loop", it) for it in (80, 72, 64)]
    assert more == THREE * few
    assert times[1] == pytest.approx(THREE * times[0], rel=0.06)
    says("and with at most {} and {} registers:", loops[0].registers, loops[-1].registers)
    free_ms = course.spilled_ms("fma_loop")
    says("that is with {} registers. **How many ms does it take with {} registers?**",
         loops[0].registers, loops[-1].registers)  # fmt: skip
    line = free_ms + most * (times[0] - free_ms) / few
    explains(
        "16.spill",
        "The stores take the longer time: {:.1f} ms · {} ÷ {} = {:.0f} ms. "
        "Recorded: {:.0f} ms, {:.0f} times {:.2f} ms. "
        "A straight line, {:.2f} + {} · ({:.1f} − {:.2f}) ÷ {} = {:.0f} ms, adds the two times, "
        "which overlap.",
        times[0], most, few, times[0] * most / few, times[2], times[2] / free_ms, free_ms,
        free_ms, most, times[0], free_ms, few, line,
    )  # fmt: skip
    assert abs(times[0] * most / few - times[2]) < abs(line - times[2])


def test_fma_loop_with_and_without_a_limit():
    side, factors = 8, 16
    assert course.loop_of_record(BACK).multiply_adds == TWO * side * side
    says("`fma_loop` has {}×{} sums and {} factors", side, side, factors)
    free, limited = course.loop_of_record(BACK), recorded_loop("fma_loop ORDER=1", 64)
    says("the loop with {} registers would take about twice as long", limited.registers)
    assert free.share / limited.share == pytest.approx(TWO, abs=0.2)
    says("The {} sums of `fma_loop`", side * side)


def test_the_time_follows_the_bytes_that_are_stored():
    rates = [stored_gb(limit) / course.spilled_ms("fma_loop", limit) for limit in (80, 72, 64, 48)]
    assert max(rates) < 1.1 * min(rates)
    says("all threads together store {:.1f} to {:.1f} TB/s", min(rates), max(rates))
    for limit in (80, 72, 64, 48):
        mix = recorded_loop("fma_loop ORDER=1", limit).mix
        assert mix["LDL.32"] == mix["STL.32"]  # "and they load as much"


def test_the_number_of_accesses_does_not_set_the_rate():
    card, pauses = device(REFERENCE), []
    of_limit = {row.max_registers: row for row in spill_rows() if row.kernel == "fma_loop"}
    for limit in (80, 48, 72, 64):
        loop, row = recorded_loop("fma_loop ORDER=1", limit), of_limit[limit]
        stores = stored_gb(limit) * 1e9 / (32 * 4)  # a warp stores 32 words at once
        cycles = card.sms * row.sm_clock_mhz * 1e6 * row.time_ms / 1e3
        pauses.append(cycles / (stores * (1 + loop.mix["LDL.32"] / loop.mix["STL.32"])))
    says("an SM starts one of them every {:.1f} to {:.1f} cycles", min(pauses), max(pauses))


def test_each_store_goes_on_to_l2_and_most_loads_end_in_l1():
    limits, sector = (80, 72, 64, 48), 32  # bytes
    counted = [counters_of_spills("fma_loop", limit) for limit in limits]
    stored = [each["local_store_sectors"] for each in counted]
    for limit, sectors in zip(limits, stored, strict=True):
        assert sectors * sector / 1e9 == pytest.approx(stored_gb(limit), rel=0.01)
    found = [each["local_load_sectors_hit_in_l1"] / each["local_load_sectors"] for each in counted]
    says("At least {:.0f} % of the loads find their number in L1", 100 * min(found))
    writes = [each["l2_write_sectors"] / own for each, own in zip(counted, stored, strict=True)]
    of_c = counters_of_spills(f"{NAME} solution")["l2_write_sectors"] / (4 * SIDE**2 / sector)
    assert max(writes) - min(writes) < 0.02
    assert min(writes) < of_c < 1.01 * max(writes)
    says("the profiler counts {:.1f} writes there per store, and as many", of_c)
    in_dram = [each["dram_write_bytes"] / sector / own
               for each, own in zip(counted, stored, strict=True)]  # fmt: skip
    assert in_dram[0] < 0.001  # "almost none of these bytes"
    says("go there with {} registers, and {:.0f} % with {}", limits[0], 100 * in_dram[-1],
         limits[-1])  # fmt: skip
    way, l2 = ([each[name] for each in counted] for name in ("l1_to_l2_percent", "l2_percent"))
    says("is busy in {:.0f} to {:.0f} % of the cycles, and L2 in {:.0f} to {:.0f} %",
         min(way), max(way), min(l2), max(l2))  # fmt: skip


# ---- register banks ----


def test_in_the_picture_four_multiply_adds_wait_then_two_and_then_one():
    crowded = []
    for lines in register_banks.IDEA.values():
        reads = register_banks.reads_of([register_banks._instruction(line) for line in lines])
        crowded.append([max(register_banks.bank_reads(bank, each) for bank in register_banks.BANKS)
                        for _, each in reads])  # fmt: skip
    assert crowded == [[2, 2, 2, 2], [2, 1, 2, 1], [2, 1, 1, 1]]
    says("a bold {} is a wait.", TWO)
    texts = [sorted(line.replace(".reuse", "") for line in lines)
             for lines in register_banks.IDEA.values()]  # fmt: skip
    assert texts[0] == texts[1] == texts[2]


def test_only_row_by_row_has_steps_that_change_row_and_column():
    paths = {name: order(8) for name, order in product_orders.ORDERS.items()}
    assert all(sorted(path) == sorted(paths["row by row"]) for path in paths.values())
    jumps = [63 - product_orders.shared(path) for path in paths.values()]
    assert jumps == [7, 0, 0]
    says("Seven steps of *row by row* keep neither")


def test_the_orders_have_the_same_instructions():
    for variant in (ROWS, BACK, SPIRAL):
        loop = course.loop_of_record(variant)
        assert (loop.multiply_adds, loop.instructions - loop.multiply_adds) == (128, 3)
        assert Counter(loop.mix) == Counter(course.loop_of_record(BACK).mix)


def test_the_even_bank_decides_row_by_row_alone():
    (rows, count), (back, same) = map(course.even_bank_reads, (ROWS, BACK))
    assert back < count == same < rows
    odd = {register_banks.bank_reads_in_loop("odd", listing(str(one))) for one in (ROWS, BACK)}
    says("The odd bank gives {} registers in both orders", *odd)
    assert max(odd) < count
    spiral, marks = course.even_bank_reads(SPIRAL)[0], course.loop_of_record(SPIRAL).kept_share
    assert spiral <= count  # "no more cycles than the instructions"
    assert marks > max(course.loop_of_record(one).kept_share for one in (ROWS, BACK))
    assert course.recorded_cycles(SPIRAL) >= course.recorded_cycles(BACK)
    explains(
        "16.order",
        "Row by row: the even bank needs {} cycles. Back and forth: {} instructions need {}. "
        "{} ÷ {} = {:.2f}",
        rows, count, count, rows, count, rows / count,
    )  # fmt: skip
    recorded = course.recorded_cycles(ROWS) / course.recorded_cycles(BACK)
    assert recorded == pytest.approx(rows / count, rel=0.02)


def test_row_by_row_a_new_row_begins_with_nothing_kept():
    code = register_banks.reads_of(listing(str(ROWS)))
    assert not any(read.kept for read in code[8][1])


def test_the_estimates_are_within_1_percent():
    off = [
        abs(course.recorded_cycles(one) / course.loop_of_record(one).cycles - 1)
        for one in (ROWS, BACK, SPIRAL)
    ]
    says("The records are within {} % of them", math.ceil(100 * max(off)))
    waits = [course.loop_of_record(one).waits for one in (ROWS, BACK, SPIRAL)]
    assert waits[1] == waits[TWO]
    says("{} cycles for an iteration of {} instructions in *row by row*, and {} in the other",
         waits[0], course.loop_of_record(ROWS).instructions, waits[1])  # fmt: skip


def test_every_order_of_autotuned_goes_back_and_forth():
    says("`autotuned`, always goes back and forth.")
    kernel = inspect.getsource(autotuned.kernel_of)
    assert "back_and_forth(TM, TN, ORDER)" in kernel


def test_autotuned_stays_below_its_bound():
    loop = course.loop_of_record(fastest(AUTOTUNED))
    assert course.share_of_peak(AUTOTUNED, "4096") < 1 / loop.cycles < loop.share
    says("estimated as in the table of the three orders, lower this bound to {:.1f} %.",
         100 / loop.cycles)  # fmt: skip
