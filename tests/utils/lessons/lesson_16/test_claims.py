"""Check the claims of lesson 16 against machine code, records and the profiler."""

from collections import Counter

import pytest
from numba import cuda

from gemm_kernels import LADDER as GEMM
from gpu_xray import ARCHITECTURES, xray
from labs import EXERCISES, check
from latency_kernels import LADDER as CEILINGS
from tests.labs.versions import changed
from tools.records import compiled_loops as recording
from utils import lessons as course
from utils.lessons import profiler
from utils.lessons.compiled_loops import COUNTS, listing, recorded_loop, recorded_loops
from utils.lessons.lesson_16 import product_orders, register_banks
from utils.lessons.lesson_16.reading_machine_code import fastest, stored_gb
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring import records

NAIVE, TILED = GEMM.step("naive"), GEMM.step("tiled")
AUTOTUNED = GEMM.step("autotuned")
FMA_LOOP = CEILINGS.step("fma_loop")
ROWS, BACK, SPIRAL = (FMA_LOOP.variant(ORDER=order) for order in (0, 1, 2))
EXERCISE = EXERCISES["sums_in_registers"]
STARTER, SOLUTION = (
    course.loop_of_record(f"{EXERCISE.name} {it}") for it in ("starter", "solution")
)


def row_of(table, begin):
    (row,) = (row for row in table.rows if row[0].strip("`").startswith(begin))
    return row


# ---- the record of the loops is what the compiler makes ----


@pytest.mark.slow
@pytest.mark.parametrize("one", list(recording.kernels()), ids=lambda one: f"{one[0]} {one[1]}")
def test_a_recorded_loop_is_what_the_compiler_makes(one, compiler):
    name, limit, kernel, signature = one
    compiled = xray(kernel, signature, recording.ARCH)
    assert recording.loop_of(compiled) == recorded_loops()[name, limit]


@pytest.mark.slow
@pytest.mark.parametrize("variant", recording.listed(), ids=str)
def test_a_recorded_listing_is_what_the_compiler_makes(variant, compiler):
    body = xray(variant.kernel, variant.step.signature, recording.ARCH).hot.body
    recorded = [(one.opcode, one.operands, one.word) for one in listing(str(variant))]
    assert recorded == [(one.opcode, one.operands, one.word) for one in body]


def test_every_step_with_a_record_and_every_order_has_its_loop():
    assert {str(variant) for variant in recording.variants()} <= {
        name for name, _ in recorded_loops()
    }
    assert COUNTS.exists()


# ---- the picture ----


def test_in_the_picture_all_four_ask_too_much_and_then_only_the_first():
    (first, then) = register_banks.IDEA.values()
    crowded = []
    for lines in (first, then):
        code = [register_banks._instruction(line) for line in lines]
        crowded.append(
            [
                max(register_banks.bank_reads(bank, reads) for bank in register_banks.BANKS) > 1
                for _, reads in register_banks.reads_of(code)
            ]
        )
    assert crowded == [[True] * 4, [True, False, False, False]]
    assert sorted(line.replace(".reuse", "") for line in first) == sorted(
        line.replace(".reuse", "") for line in then
    )


# ---- from Python to machine code ----


@pytest.mark.slow
def test_the_line_of_the_product_has_5_multiply_adds_and_10_loads_and_the_while_the_most(compiler):
    table = course.line_by_line(NAIVE)
    product = row_of(table, "total +=")
    assert product[1].startswith("10 ld, 5 fma")
    assert "10 LDG, 5 FFMA" in product[2]
    compiled = xray(NAIVE.build(), NAIVE.signature)
    assert (compiled.instructions["FFMA"], compiled.hot.ffma) == (5, 4)
    assert (compiled.instructions["LDG"], compiled.hot.instructions["LDG"]) == (10, 8)
    by_line = {row.source.strip(): len(row.sass) for row in compiled.listing().rows}
    assert max(by_line, key=by_line.get) == "while i < k:"
    assert by_line["while i < k:"] > sum(by_line.values()) / 2
    assert "fma.rn.f32 %f14, %f13, %f12, %f29" in " ".join(compiled.ptx.split())
    assert any(one.text_to("").strip() == "FFMA R27, R20, R27, R29" for one in compiled.hot.body)


def test_the_multiply_add_waits_for_the_flag_of_the_second_and_the_fourth_load():
    *loads, multiply_add = course.control_codes(NAIVE).rows
    assert "FFMA R27, R20, R27, R29" in multiply_add[0]
    brought = [load[0].split()[1].rstrip(",") for load in loads]
    assert (brought[1], brought[3]) == ("R20", "R27")
    assert [load[2] == multiply_add[3] for load in loads] == [False, True, False, True]


# ---- the share as a bound ----


def test_less_than_a_third_of_the_loop_of_tiled_are_multiply_adds():
    loop = course.loop_of_record(TILED.variant(TILE=32))
    assert f"{loop.share:.1%}" == "24.1%"
    assert (loop.mix["LDG.32"], loop.mix["BAR"], loop.mix["LDS.128"]) == (2, 2, 8)
    assert fastest(TILED) == TILED.variant(TILE=32)


@pytest.mark.slow
def test_no_kernel_is_above_its_bound_and_fma_loop_almost_touches_it():
    for step in (*GEMM.steps, FMA_LOOP):
        variant = fastest(step)
        size = "4096" if step is not FMA_LOOP else "2^30"
        reached = course.share_of_peak(variant, size)
        assert 0 < reached <= course.loop_of_record(variant).share, variant
    assert course.share_of_peak(BACK, "2^30") > 0.99 * course.loop_of_record(BACK).share


@pytest.mark.slow
def test_vectorized_feeds_256_multiply_adds_with_16_loads_and_is_not_the_fastest():
    loop = course.loop_of_record(fastest(GEMM.step("vectorized")))
    assert (loop.multiply_adds, loop.mix["LDS.128"]) == (256, 16)
    products = {step.name: course.loop_of_record(fastest(step)).share for step in GEMM.steps}
    assert max(products, key=products.get) == "vectorized"
    assert course.recorded_ms(GEMM.step("vectorized")) > course.recorded_ms(AUTOTUNED)


def test_naive_and_tiled_wait_for_memory_and_autotuned_takes_nine_of_ten_issue_slots():
    assert profiler.most_frequent_wait(NAIVE)[0] == "long_sb"
    assert profiler.most_frequent_wait(TILED)[0] == "mio"
    for step in (NAIVE, TILED):
        assert 40 < 100 - profiler.figure(step, "One or More Eligible") < 52
    assert profiler.figure(GEMM.step("vectorized"), "L1/TEX Cache Throughput") > 90
    assert 89 < profiler.figure(AUTOTUNED, "Issue Slots Busy") < 91


# ---- local memory and spills ----


def test_the_sums_leave_local_memory_the_share_grows_five_times_and_the_time_falls_by_a_fifth():
    assert (STARTER.local_bytes, SOLUTION.local_bytes) == (64, 0)
    assert 4.8 < SOLUTION.share / STARTER.share < 5.2
    before, after = (course.spilled_ms(f"{EXERCISE.name} {it}") for it in ("starter", "solution"))
    assert 0.19 < 1 - after / before < 0.22
    assert f"{course.recorded_ms(NAIVE):.1f}" == "27.5"
    assert after > 3 * course.recorded_ms(NAIVE)


def test_with_64_registers_instructions_explain_a_factor_of_2_and_the_record_has_16():
    assert 2 < course.loop_of_record(BACK).share / recorded_loop("fma_loop ORDER=1", 64).share < 2.2
    assert round(course.spilled_ms("fma_loop", 64) / course.spilled_ms("fma_loop")) == 16


def test_the_time_follows_the_bytes_that_are_stored():
    rates = [stored_gb(limit) / course.spilled_ms("fma_loop", limit) for limit in (80, 72, 64, 48)]
    assert max(rates) < 1.1 * min(rates)


def test_fma_loop_takes_86_registers_for_64_sums_and_16_factors():
    assert course.loop_of_record(BACK).registers == 86
    shares = [float(row[2].rstrip("%")) for row in course.spills().rows]
    assert shares == sorted(shares, reverse=True)
    at_64 = course.spills().rows[3]
    assert at_64[0] == "64 registers"
    assert float(at_64[2].rstrip("%")) < 50


def test_the_steps_promise_zero_bytes_of_local_memory():
    assert {step.budget.spill_bytes for step in (*GEMM.steps, *CEILINGS.steps)} == {0}
    assert len(ARCHITECTURES) > 1


# ---- the order of the multiply-adds ----


def test_only_row_by_row_has_steps_that_change_row_and_column():
    paths = {name: order(8) for name, order in product_orders.ORDERS.items()}
    assert all(sorted(path) == sorted(paths["row by row"]) for path in paths.values())
    jumps = [63 - product_orders.shared(path) for path in paths.values()]
    assert jumps == [7, 0, 0]


def test_the_orders_have_the_same_instructions():
    for variant in (ROWS, BACK, SPIRAL):
        loop = course.loop_of_record(variant)
        assert (loop.multiply_adds, loop.instructions - loop.multiply_adds) == (128, 3)
        assert Counter(loop.mix) == Counter(course.loop_of_record(BACK).mix)


def test_row_by_row_a_new_row_begins_with_two_reads_of_the_even_bank():
    rows, back = (register_banks.reads_of(listing(str(one)))[8] for one in (ROWS, BACK))
    assert register_banks.bank_reads("even", rows[1]) == 2
    assert not any(read.kept for read in rows[1])
    assert [read.kept for read in back[1]] == [False, True, False]
    assert [register_banks.bank_reads(bank, back[1]) for bank in ("even", "odd")] == [1, 1]


def test_at_the_next_multiply_add_back_and_forth_asks_the_even_bank_for_two():
    _, reads = register_banks.reads_of(listing(str(BACK)))[9]
    assert register_banks.bank_reads("even", reads) == 2


def test_only_row_by_row_the_even_bank_gives_more_registers_than_there_are_instructions():
    even_reads = [row[2] for row in course.orders(a=ROWS, b=BACK, c=SPIRAL).rows]
    assert even_reads == ["145", "130", "131"]
    assert {course.loop_of_record(one).instructions for one in (ROWS, BACK, SPIRAL)} == {131}


def test_the_model_is_within_1_percent_and_no_bound():
    for variant in (ROWS, BACK, SPIRAL):
        estimated, recorded = course.loop_of_record(variant).cycles, course.recorded_cycles(variant)
        assert recorded == pytest.approx(estimated, rel=0.01)
    assert course.recorded_cycles(BACK) < course.loop_of_record(BACK).cycles


def test_the_spiral_has_the_most_marks_and_is_not_faster():
    kept = [course.loop_of_record(one).kept_share for one in (ROWS, BACK, SPIRAL)]
    assert kept == sorted(kept)
    assert course.recorded_cycles(SPIRAL) > course.recorded_cycles(BACK)


def test_the_source_published_39_and_47_percent_on_maxwell():
    claims = records.published("claims").set_index("claim")
    for order, share in (("back and forth", 39), ("in a spiral", 47)):
        row = claims.loc[f"maxas: operands reused, rows {order}"]
        assert (row["value"], row["unit"], "Maxwell" in row["device"]) == (share, "%", True)


# ---- the exercises at the end ----


def test_a_scheduler_of_a_t4_or_an_a100_has_16_lanes(compiler):
    for capability in ((7, 5), (8, 0)):
        limits = limits_of(capability)
        assert limits.fp32_lanes_per_sm / limits.sub_partitions == 16
    assert f"{2 * course.loop_of_record(TILED.variant(TILE=32)).share:.0%}" == "48%"


@pytest.mark.slow
def test_five_blocks_of_fma_loop_fit_beside_each_other_and_six_spill(compiler):
    assert occupancy((9, 0), threads=128, registers=86).blocks == 5
    assert f"{65536 / (88 * 128):.1f}" == "5.8"
    python = FMA_LOOP.build().py_func
    spilled = [
        xray(cuda.jit(launch_bounds=(128, blocks))(python), FMA_LOOP.signature) for blocks in (5, 6)
    ]
    assert [one.spill_bytes for one in spilled] == [0, 80]
    assert (spilled[1].registers, spilled[1].local_bytes) == (80, 48)


@pytest.mark.slow
def test_without_a_test_in_the_loop_the_share_is_higher(compiler):
    clamped = changed(
        EXERCISE.name,
        ("            if col + 32 * j < n:\n                totals", "            totals"),
        ("b[i, col + 32 * j]", "b[i, min(col + 32 * j, n - 1)]"),
    )
    verdict = check(EXERCISE.name, clamped)
    assert verdict.passed
    assert verdict.counts["instructions per multiply-add"] == 4.625
    assert (f"{1 / 4.625:.1%}", f"{SOLUTION.share:.1%}") == ("21.6%", "16.3%")


def test_register_banks_are_named_by_generation_with_the_model_of_the_x_ray_last():
    rows = course.register_files().rows
    assert [row[2] for row in rows] == ["4", "4", "2"]
    assert rows[-1][3] == "number modulo 2"
