"""Check the figures and comparisons in lesson 08 against counts and records."""

import csv
import math

import numpy as np
import pytest
from numba import cuda, uint32, void

from gemm_kernels import LADDER
from gpu_xray import xray
from labs import EXERCISES
from labs.exercises.required_shared.solution import required_shared
from labs.exercises.resident_blocks.formula import BY_RULE
from utils import lessons as course
from utils.division import cdiv
from utils.lessons.lesson_08.resident_blocks import SMALL, blocks_that_fit
from utils.machine import devices
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import best_block_size, limits_of, occupancy
from utils.measuring import records
from utils.measuring.roofline import recorded
from utils.paths import DATA

H200 = (9, 0)
DYNAMIC, TILED = LADDER.step("tiled_dynamic"), LADDER.step("tiled")
SIDES = (8, 16, 32)


def recorded_ms(side):
    """Return the H200's time of `tiled_dynamic` at 4096, regardless of this machine's records."""
    rows = records.measured(REFERENCE, "gemm")
    rows = rows[(rows["step"] == "tiled_dynamic") & (rows["params"] == f"TILE={side}")]
    return rows[(rows[["m", "n", "k"]] == 4096).all(axis=1)]["time_ms"].item()


def estimated_ms(side):
    return course.estimated_ms(course.watch(DYNAMIC.variant(TILE=side)), "4096")


def best_and_square(registers, per_thread=8):
    best = best_block_size(H200, registers, lambda threads: per_thread * threads)
    return best, 4 ** math.floor(math.log(best, 4))


def warps(threads, registers, shared=0):
    return occupancy(H200, threads, registers, shared).warps


@pytest.fixture(scope="module")
def shares():
    """Return occupancy and share of the peak at 4096, as fractions, by step."""
    shape = LADDER.parse("4096")
    return {
        variant.step.name: (
            occupancy(H200, variant.launch(shape).threads, int(row.registers),
                      int(row.shared_bytes)).fraction,
            row.efficiency,
        )
        for variant, row in recorded(LADDER, shape, REFERENCE)
    }  # fmt: skip


def test_three_blocks_fit_the_rack_and_three_shelves_have_room_for_a_fourth():
    room = blocks_that_fit({"warp slots": 2, "registers": 5, "shared memory": 2})
    assert min(room.values()) == room["registers"] == 3
    assert sum(count >= 4 for count in room.values()) == 3
    assert 3 * 2 / SMALL["warp slots"] == 0.75


def test_more_registers_for_a_block_make_a_staircase():
    blocks = [
        blocks_that_fit({"warp slots": 2, "registers": count, "shared memory": 2})
        for count in range(2, 9)
    ]
    assert [min(by_resource.values()) for by_resource in blocks] == [4, 4, 4, 3, 2, 2, 2]
    assert all(room["warp slots"] == 4 <= room["registers"] for room in blocks[:3])
    assert all(min(room, key=room.get) == "registers" for room in blocks[3:])


def test_the_shelves_have_the_sizes_that_the_text_says():
    assert list(SMALL.values()) == [8, 6, 16, 12]


def test_the_answer_by_hand_is_three_blocks():
    room = blocks_that_fit({"warp slots": 2, "registers": 3, "shared memory": 4})
    assert room == {"warp slots": 4, "block slots": 6, "registers": 5, "shared memory": 3}


def test_the_case_by_hand_runs_out_of_shared_memory():
    result = occupancy(H200, 128, 32, 30 * 1024)
    assert list(result.room.values()) == [16, 32, 16, 7]
    assert (result.blocks, result.warps, result.limit) == (7, 28, ("shared memory",))
    assert 30 * 1024 + 1024 == 31_744 == 248 * 128


def test_the_prediction_meets_the_rounding_of_registers():
    assert 32 * 41 == 1312 <= 6 * 256 == 1536
    assert (16_384 // 1536, 16_384 // (32 * 40)) == (10, 12)
    assert occupancy(H200, 256, 40).blocks == 6
    assert occupancy(H200, 256, 41).blocks == occupancy(H200, 256, 48).blocks == 5
    assert warps(256, 40) - warps(256, 41) == 8
    limits = limits_of(H200)
    assert (limits.warps_per_sm, limits.blocks_per_sm) == (64, 32)
    assert limits.registers_per_sm // limits.sub_partitions == 16_384


def test_from_41_to_48_registers_nothing_changes():
    for registers in range(41, 49):
        assert warps(256, registers) == warps(256, 41) == 40


def test_a_block_of_160_threads_is_a_tooth():
    result = occupancy(H200, 160, 40)
    assert (result.blocks, result.warps) == (9, 45)
    assert max(warps(threads, 40) for threads in range(1, 1025)) == 48


def test_the_check_has_the_answers_that_the_text_counts():
    cases = EXERCISES["resident_blocks"].all_cases
    assert (len(cases), len(BY_RULE)) == (897, 15)
    assert 897 - 15 + 112 == 994


def test_the_calculator_gives_all_answers_of_the_driver():
    with (DATA / "measured" / "nvidia_h200" / "occupancy.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 994
    for row in rows:
        shared = int(row["static_bytes"]) + int(row["dynamic_bytes"])
        carveout = int(row["carveout"]) if row["carveout"] else None
        result = occupancy(H200, int(row["threads"]), int(row["registers"]), shared, carveout)
        assert result.blocks == int(row["blocks"])


def test_the_formula_of_the_lab_needs_blocks_of_the_same_thing():
    assert limits_of(H200).threads_per_sm == 64 * 32 == 2048
    assert devices.find(REFERENCE).sms == 132
    assert 6 * 256 / 2048 == occupancy(H200, 256, 40).fraction == 0.75
    assert f"{6 * 256 / (2048 * 132):.2%}" == "0.57%"


def test_blocks_of_up_to_32_threads_run_out_of_block_slots():
    for threads in range(1, 1025):
        slots = occupancy(H200, threads, 40).limit == ("block slots",)
        assert slots == (threads <= 32)


def test_a_square_may_cost_nothing_or_a_fifth():
    assert best_and_square(32) == (1024, 1024)
    assert best_and_square(40) == (768, 256)
    assert warps(768, 40, 8 * 768) == warps(256, 40, 8 * 256) == 48
    assert best_and_square(96) == (640, 256)
    assert (warps(640, 96, 8 * 640), warps(256, 96, 8 * 256)) == (20, 16)


def test_the_three_squares_of_tiled_dynamic_fill_the_sm():
    rows = records.measured(REFERENCE, "gemm")
    assert set(rows[rows["step"] == "tiled_dynamic"]["registers"]) == {32}
    for side in SIDES:
        assert occupancy(H200, side * side, 32, required_shared(side)).fraction == 1
        launch = DYNAMIC.variant(TILE=side).launch(LADDER.parse("4096"))
        assert launch.shared_bytes == required_shared(side)


def test_the_compiler_gives_tiled_dynamic_and_tiled_32_registers(compiler):
    for step in (DYNAMIC, TILED):
        assert xray(step.variant().kernel, step.signature, "sm_90").registers == 32


def test_at_the_same_occupancy_the_times_differ_and_the_estimate_has_the_direction():
    assert recorded_ms(8) / recorded_ms(32) == pytest.approx(1.45, abs=0.005)
    steps = [(8, 16), (16, 32)]
    estimated = [estimated_ms(one) - estimated_ms(other) for one, other in steps]
    differences = [recorded_ms(one) - recorded_ms(other) for one, other in steps]
    assert estimated == pytest.approx([6.2, 1.5], abs=0.05)
    assert differences == pytest.approx([9.7, 0.8], abs=0.05)


@cuda.jit
def by_argument(x, size, out):
    out[cuda.grid(1)] = x[cuda.grid(1)] * size


SIZE = np.array([16], np.uint32)


@cuda.jit
def by_array(x, size, out):
    out[cuda.grid(1)] = x[cuda.grid(1)] * cuda.const.array_like(SIZE)[0]


def test_an_argument_lies_in_constant_memory_and_a_constant_array_in_the_instruction(compiler):
    signature = void(uint32[::1], uint32, uint32[::1])
    argument, array = (
        [f"{one.opcode} {', '.join(one.operands)}" for one in xray(kernel, signature, "sm_90").code]
        for kernel in (by_argument, by_array)
    )
    assert "ULDC UR6, c[0x0][0x248]" in argument
    assert any(one.startswith("IMAD") and "UR6" in one for one in argument)
    assert any(one.startswith("IMAD") and "0x10" in one for one in array)


def test_the_block_size_lies_in_constant_memory_too(compiler):
    code = xray(DYNAMIC.variant().kernel, DYNAMIC.signature, "sm_90").code
    assert any("c[0x0][0x0]" in one.operands for one in code)  # blockDim.x, as CUDA has it there


def test_full_occupancy_stays_low_and_the_fast_steps_have_little(shares):
    full = [share for fraction, share in shares.values() if fraction == 1]
    fast = [fraction for fraction, share in shares.values() if share >= 0.5]
    assert len(shares) > 20
    assert shares["naive"][0] == shares["tiled"][0] == 1
    assert len(full) == 12
    assert max(full) < 0.25
    assert fast
    assert max(fast) <= 0.25


def test_the_fastest_has_the_occupancy_that_is_revealed(shares):
    fastest = max(shares.values(), key=lambda pair: pair[1])
    assert 100 * fastest[0] == 18.75


def test_published_libraries_became_faster_with_smaller_blocks_and_half_the_occupancy():
    rows = records.published("occupancy_paradox").to_dict("records")
    for before, after in (rows[:2], rows[2:]):
        assert after["threads_per_block"] < before["threads_per_block"]
        assert after["occupancy_pct"] / before["occupancy_pct"] == pytest.approx(0.5, abs=0.02)
        assert after["gflops"] > before["gflops"]


def test_the_guide_and_its_answer_are_as_published():
    rows = records.published("claims").query("claim.str.startswith('threads per SM that hide')")
    assert sorted(float(value) for value in rows["value"]) == [64, 192, 192, 384]
    against = rows[rows["note"].str.startswith("against")]
    notes = {int(row.value): row.note for row in against.itertuples()}
    assert notes == {64: "against the 192 of the guide", 192: "against the 384 of the guide"}


def test_the_record_lies_below_the_bound_of_shared_memory():
    bound = 1 / (4 * course.profiled_wavefronts(DYNAMIC.variant(TILE=32)))
    assert course.share_of_peak(DYNAMIC.variant(TILE=32)) < 0.9 * bound


def test_exercise_1_an_older_gpu_has_fewer_block_slots():
    old = [occupancy((3, 5), side * side, 32, required_shared(side)) for side in SIDES]
    assert [one.fraction for one in old] == [0.5, 1, 1]
    assert old[0].limit == ("block slots",)
    assert old[1].warps == old[2].warps == 2 * old[0].warps
    assert (limits_of((3, 5)).warps_per_sm, limits_of((3, 5)).blocks_per_sm) == (64, 16)


def test_exercise_2_occupancy_counts_warps_and_not_work():
    one, two = occupancy(H200, 32, 40), occupancy(H200, 33, 40)
    assert (one.blocks, one.fraction, one.limit) == (32, 0.5, ("block slots",))
    assert (two.blocks, two.fraction) == (24, 0.75)
    assert two.blocks * 33 == 792 < one.blocks * 32 == 1024


def test_exercise_3_the_largest_block_has_at_most_64_registers():
    assert [occupancy(H200, 1024, count).blocks for count in (64, 65)] == [1, 0]
    assert 16_384 // 8 == 2048 == 64 * 32
    assert cdiv(65 * 32, 256) * 256 == 2304


def test_the_exercises_are_those_of_the_lesson():
    exercises = {name for name, one in EXERCISES.items() if one.lesson == "08"}
    # The lesson contains the first two and names the next two at its end; the others are only in
    # a lab.
    named = {"resident_blocks", "best_block", "required_shared", "square_side"}
    assert exercises == named | {"device_occupancy", "dynamic_tiles", "launch_best"}
