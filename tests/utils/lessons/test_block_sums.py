"""Tests of the counts and costs of one block of a reduction, against numbers known by hand."""

import pytest

from gpu_xray import xray
from reduce_kernels import LADDER
from tools.records.block_instructions import ARCH, variants
from utils.errors import CourseError
from utils.lessons import block_sums
from utils.lessons.block_sums import (
    bandwidths,
    block_cycles,
    block_of,
    compiled_instructions,
    draw_step,
    instructions_of_block,
    loads_by_step,
    recorded_cycles,
    recorded_instructions,
    skipped_with_accesses,
    turns_and_busy,
)
from utils.lessons.counting import watch
from utils.lessons.edits import Edit, edited


def of_64(name, **constants):
    return LADDER.step(name).variant(**{"BLOCK": 64, **constants})


def test_a_block_of_two_warps_counted_by_hand():
    block = block_of(of_64("reduce0"))
    # The store of each element; six levels of two loads and a store; the last load.
    additions = 2 + 2 + 2 + 2 + 2 + 1
    assert block.requests == block.wavefronts == 2 + 3 * additions + 1
    assert block.lanes == pytest.approx((64 + 3 * 63 + 1) / block.requests)
    assert (block.elements, block.barriers, block.iterations) == (64, 7, 6)
    assert block_of(of_64("reduce3")).elements == 128


def test_loads_by_step_are_those_of_all_warps_together():
    trace = watch(of_64("reduce0"), "64", record=0)
    loads = loads_by_step(trace, "shared")
    assert [load.lanes for load in loads] == [32, 16, 8, 4, 2, 1]
    assert [load.requests for load in loads] == [2, 2, 2, 2, 2, 1]
    assert [load.wavefronts for load in loads] == [2, 2, 2, 2, 2, 1]


def test_conflicts_by_step_are_as_many_as_words_of_one_bank():
    trace = watch(of_64("reduce1"), "64", record=0)
    loads = loads_by_step(trace, "shared")
    assert [load.requests for load in loads] == [1, 1, 1, 1, 1, 1]
    assert [load.wavefronts for load in loads] == [2, 2, 2, 2, 2, 1]
    assert "reduce1, step 1, load of shared: 2 wavefronts" in draw_step(trace, "shared", 1).alt
    assert turns_and_busy(trace, "shared") == (12, 6)


def test_a_warp_more_starts_all_instructions_but_those_of_the_first(compiler):
    step = LADDER.step("reduce2")
    first_warp_only = _between_the_exits(step)
    for size, iterations in ((64, 6), (128, 7), (256, 8)):
        instructions = instructions_of_block(step.variant(BLOCK=size))
        per_warp = (instructions - first_warp_only) / (size // 32)
        assert per_warp == 34 + 13 * iterations + 1  # before the loop, per iteration, the exit


def _between_the_exits(step):
    """Return the instructions after the first EXIT, up to the second; only one warp runs them."""
    code = xray(step.build(BLOCK=64), step.signature, "sm_90").code
    exits = [index for index, instruction in enumerate(code) if instruction.name == "EXIT"]
    return exits[1] - exits[0]


def test_cycles_of_a_block_are_its_share_of_the_recorded_time():
    reduce2 = of_64("reduce2", BLOCK=256)
    cycles = recorded_cycles(reduce2, "2^30")
    assert cycles * 2**22 / 132 / 1980e3 == pytest.approx(5.7461, rel=0.05)


@pytest.mark.slow
def test_an_edited_copy_has_no_record():
    step = LADDER.step("reduce2")
    copy = edited(step.file, Edit("tid == 0", "tid < 1"))
    rows = block_cycles("2^30", course=step, copy=copy.STEP).rows
    assert rows[0][-1] != "–"
    assert rows[1][-1] == "–"


@pytest.mark.slow
@pytest.mark.parametrize("name, loops", [("reduce4", 2), ("reduce6", 2)])
def test_instructions_of_code_with_several_loops_are_not_counted(compiler, name, loops):
    shown = block_cycles("2^30", step=LADDER.step(name).variant(BLOCK=256))
    assert shown.rows[0][3] == "–"
    assert f"The instructions of {name} are not counted" in shown.note
    assert f"has {loops} loops" in shown.note


@pytest.fixture
def no_compiler(monkeypatch):
    def missing(*_):
        raise CourseError("There is no compiler.")

    monkeypatch.setattr(block_sums, "xray", missing)


def test_without_a_compiler_the_record_takes_its_place(no_compiler):
    step = LADDER.step("reduce2")
    copy = edited(step.file, Edit("tid == 0", "tid < 1"))
    shown = block_cycles("2^30", reduce2=step.variant(BLOCK=256), copy=copy.STEP)
    assert [row[3] for row in shown.rows] == ["282", "–"]
    assert shown.note == "There is no compiler."


@pytest.mark.slow
def test_the_record_is_what_the_compiler_makes(compiler):
    for variant in variants():
        assert recorded_instructions()[ARCH, str(variant)] == compiled_instructions(variant, ARCH)


def test_rates_are_bytes_over_time():
    rows = bandwidths("2^30", one=of_64("reduce2", BLOCK=256), two=of_64("reduce3", BLOCK=256)).rows
    assert float(rows[0][2].replace(",", "")) == pytest.approx(747, rel=0.05)
    assert rows[0][3] == ""
    assert rows[1][3].endswith("×")


def test_only_jumps_over_shared_memory_are_skipped():
    arithmetic = [Instruction("BRA", 12), Instruction("MUFU"), Instruction("BRA", 15)]
    body = [*arithmetic, Instruction("LDS"), Instruction("FADD"), Instruction("BRA", 10)]
    assert skipped_with_accesses(body, 10) == 2
    assert skipped_with_accesses(arithmetic[:2], 10) == 0


class Instruction:
    def __init__(self, name, target=None):
        self.name, self.target = name, target


@pytest.mark.slow
def test_instructions_of_code_without_a_loop_have_an_upper_bound(compiler):
    shown = block_cycles("2^30", reduce5=LADDER.step("reduce5").variant(BLOCK=256))
    assert shown.rows[0][3].startswith("≤ ")
    with pytest.raises(CourseError, match="are not counted exactly"):
        compiled_instructions(LADDER.step("reduce5").variant(BLOCK=256), ARCH)
