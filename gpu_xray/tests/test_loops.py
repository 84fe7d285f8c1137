"""The x-ray's loops and register banks, which bound the rate of multiply-adds."""

import pytest
from numba import cuda

import gemm_kernels
import latency_kernels
from gpu_xray import xray
from gpu_xray.loops import distances_to_use, find_loops, hot_loop
from gpu_xray.register_banks import bank_conflicts
from gpu_xray.sass import Instruction, parse
from gpu_xray.source_lines import _sass_lines
from tools.records.resources import VECTORS
from utils.measuring import records

pytestmark = pytest.mark.usefixtures("compiler")

NAIVE = gemm_kernels.LADDER.step("naive")
TILED = gemm_kernels.LADDER.step("tiled")
FMA_LOOP = latency_kernels.LADDER.step("fma_loop")
COPY = latency_kernels.LADDER.step("copy")


def test_the_hot_loop_is_the_one_with_the_multiply_adds():
    result = xray(NAIVE.build(), NAIVE.signature)
    assert len(result.loops) == 2  # four k at a time, and what is left over
    assert result.hot.instructions["LDG"] == 2 * result.hot.ffma == 8
    assert result.ffma_share == 4 / len(result.hot.body)


@pytest.mark.slow
def test_the_loop_of_the_arithmetic_ceiling_holds_two_outer_products_and_no_memory():
    result = xray(FMA_LOOP.build(), FMA_LOOP.signature)
    assert (result.hot.ffma, result.hot.memory) == (2 * 64, 0)
    assert result.ffma_share > 0.97


def test_every_second_instruction_suffices_if_a_scheduler_has_16_lanes():
    step = TILED.build(TILE=32), TILED.signature
    ampere, hopper = xray(*step, "sm_80"), xray(*step, "sm_90")
    assert ampere.bound == 2 * ampere.ffma_share
    assert hopper.bound == hopper.ffma_share
    assert xray(FMA_LOOP.build(), FMA_LOOP.signature, "sm_75").bound == 1


def test_no_measured_rate_is_above_the_bound():
    for step, ladder in ((NAIVE, "gemm"), (TILED, "gemm"), (FMA_LOOP, "latency")):
        frame = records.measured("NVIDIA H200", ladder)
        for params, rows in frame[frame["step"].eq(step.name)].groupby("params"):
            bound = xray(step.named(params).kernel, step.signature).bound
            assert 0 < rows["efficiency"].max() <= bound


@pytest.mark.slow
def test_without_a_loop_the_share_is_that_of_all_the_code():
    @cuda.jit
    def once(x, out):
        out[0] = cuda.fma(x[0], x[1], x[2])

    result = xray(once, VECTORS)
    assert result.hot is None
    assert result.ffma_share == 1 / len(result.code)


def branch(name, target=None, predicate="", *operands):
    return Instruction(0, predicate, name, operands or ("x",), 0, target)


def test_a_loop_excludes_the_loop_inside_it():
    code = [
        branch("MOV"),
        branch("FADD"),
        branch("FFMA"),
        branch("BRA", 2, "@P0"),
        branch("BRA", 1, "@P1"),
        branch("EXIT"),
    ]
    outer, inner = find_loops(code)
    assert [one.opcode for one in outer.body] == ["FADD", "BRA"]
    assert [one.opcode for one in inner.body] == ["FFMA", "BRA"]
    assert (outer.inner, inner.inner) == (False, True)
    assert hot_loop((outer, inner)) is inner


def test_a_rare_case_behind_the_end_that_jumps_back_is_no_loop():
    code = [
        branch("BRA", 4, "@P0"),
        branch("FADD"),
        branch("FFMA"),
        branch("EXIT"),
        branch("MUFU"),
        branch("BRA", 2),
    ]
    assert find_loops(code) == ()


def ffma(*operands):
    return Instruction(0, "", "FFMA", operands, 0)


def conflicts(*code, **options):
    result = bank_conflicts(code, **options)
    return result.conflicts, result.saved


def test_two_different_registers_of_one_parity_conflict_in_a_bank():
    assert conflicts(ffma("R0", "R2", "R4", "R5")) == (1, 0)
    assert conflicts(ffma("R0", "R2", "R2", "R5")) == (0, 0)
    assert conflicts(ffma("R0", "R2", "-R3", "RZ")) == (0, 0)


def test_a_scheduler_with_half_the_lanes_has_time_for_two_reads_of_each_bank():
    assert conflicts(ffma("R0", "R2", "R4", "R5"), cycles_per_ffma=2) == (0, 0)
    assert conflicts(ffma("R0", "R2", "R4", "R6"), cycles_per_ffma=2) == (1, 0)


def test_the_reuse_cache_saves_a_conflict_in_the_same_slot_only():
    first = ffma("R0", "R2.reuse", "R5", "R7")
    assert conflicts(first, ffma("R1", "R2", "R4", "R9")) == (1, 1)
    assert conflicts(first, ffma("R1", "R4", "R2", "R9")) == (2, 0)
    between = ffma("R0", "R1", "R5", "R6")
    assert conflicts(first, between, ffma("R1", "R2", "R4", "R9")) == (3, 0)


def test_only_reads_that_neighbours_do_not_make_up_for_cost_cycles():
    even, odd = ffma("R0", "R2", "R4", "RZ"), ffma("R1", "R3", "R5", "RZ")
    assert bank_conflicts([even, odd] * 50).waits == 0
    # Two reads of one bank in each cycle: every second cycle is lost.
    assert bank_conflicts([even] * 100).waits == pytest.approx(100, abs=3)


@pytest.mark.slow
def test_the_model_of_the_banks_meets_the_recorded_rate_of_the_arithmetic_ceiling():
    result = xray(FMA_LOOP.build(), FMA_LOOP.signature)
    frame = records.measured("NVIDIA H200", "latency").query("step == 'fma_loop'")
    assert 1 / result.cycles_per_ffma == pytest.approx(frame["efficiency"].max(), rel=0.02)


def lds(width, *operands):
    return Instruction(0, "", f"LDS{width}", operands, 0)


def test_a_wide_load_is_used_when_any_of_its_registers_is_read():
    sums = [ffma("R20", "R2", "R3", "R20"), ffma("R20", "R7", "R3", "R20")]
    assert distances_to_use([lds(".128", "R4", "[R0]"), *sums]) == [2]
    assert distances_to_use([lds("", "R4", "[R0]"), *sums]) == []


def test_a_value_that_is_used_in_the_next_iteration_is_counted():
    body = [ffma("R20", "R4", "R3", "R20"), ffma("R21", "R2", "R3", "R21"), lds("", "R4", "[R0]")]
    assert distances_to_use(body) == [1]


def test_a_loop_that_loads_one_iteration_ahead_has_fewer_early_uses():
    shares = {}
    for step in map(gemm_kernels.LADDER.step, ("vectorized", "prefetch")):
        result = xray(step.build(**step.constants(BK=8)), step.signature)
        shares[step.name] = result.early_uses / result.hot.instructions["LDS"]
    assert shares["prefetch"] < shares["vectorized"]


def test_the_scheduling_bits_are_read():
    result = xray(COPY.build(), COPY.signature)
    loads = [one.control for one in result.code if one.name == "LDG"]
    assert all(load.write_barrier is not None for load in loads)
    stores = [one.control for one in result.code if one.name == "STG"]
    assert {load.write_barrier for load in loads} <= {n for store in stores for n in store.waits}
    assert all(one.control.stall > 0 for one in result.code if one.name != "EXIT")


def test_padding_behind_the_end_is_left_out():
    listing = """
.L_x_0:
        /*0000*/                   EXIT ;    /* 0x000000000000794d */
                                             /* 0x000fea0003800000 */
.L_x_1:
        /*0010*/                   BRA `(.L_x_1);  /* 0xfffffffc00fc7947 */
                                                   /* 0x000fc0000383ffff */
        /*0020*/                   NOP;      /* 0x0000000000007918 */
                                             /* 0x000fc00000000000 */
"""
    assert [one.name for one in parse(listing)] == ["EXIT"]


def test_an_instruction_behind_padding_keeps_its_own_line():
    word = "/* 0x000000000000794d */\n                                   /* 0x000fea0003800000 */"
    listing = f"""
	//## File "/f/kernel.py", line 3
        /*0000*/                   NOP;      {word}
	//## File "/f/kernel.py", line 4
        /*0010*/                   RET.REL.NODEC R2 ;  {word}
	//## File "/f/kernel.py", line 5
        /*0000*/                   EXIT ;    {word}
"""
    lines = _sass_lines(listing, lambda marks: int(marks[0][1]))
    assert [one.name for one in parse(listing)] == ["RET", "EXIT"]
    assert lines == [4, 5]
