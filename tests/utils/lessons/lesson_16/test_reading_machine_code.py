"""Lesson 16's tables and figures with and without a compiler, and the profiler's figures."""

from dataclasses import replace

import pytest

from gemm_kernels import LADDER
from gpu_xray.compile import NO_COMPILER
from labs.exercises.single_precision import starter
from labs.exercises.sums_in_registers import solution
from latency_kernels import LADDER as CEILINGS
from utils import lessons as course
from utils.errors import CourseError
from utils.lessons import compiled_loops, profiler
from utils.lessons.cards import Card
from utils.lessons.lesson_16 import reading_machine_code

NAIVE = LADDER.step("naive")


def refuse(*arguments):
    raise CourseError(NO_COMPILER)


def test_without_a_compiler_a_sentence_takes_the_place_of_the_readers_loop(monkeypatch):
    monkeypatch.setattr(reading_machine_code, "xray", refuse)
    monkeypatch.setattr(reading_machine_code, "is_of_a_ladder", lambda step: False)
    said = course.machine_loop(NAIVE)
    assert isinstance(said, Card)
    assert "The lesson goes on" in str(said)


def test_without_a_compiler_everything_else_comes_from_the_record(monkeypatch):
    monkeypatch.setattr(reading_machine_code, "xray", refuse)
    loop = CEILINGS.step("fma_loop").variant()
    assert "FFMA" in str(course.machine_loop(NAIVE))
    assert "DADD" in str(course.machine_loop(starter))
    assert "naive" in str(course.draw_shares(NAIVE))
    assert course.orders(loop=loop).rows[0][1] == "36.7%"


def test_steps_and_solutions_of_the_lesson_have_their_loops_without_a_compiler(monkeypatch):
    monkeypatch.setattr(reading_machine_code, "xray", refuse)
    assert "FFMA" in str(course.machine_loop(LADDER.step("multi_output")))
    assert "FFMA" in str(course.machine_loop(solution))
    assert "The lesson goes on" in str(course.machine_loop(LADDER.step("tiled")))


def test_without_a_right_kernel_of_the_readers_a_card_asks_for_one(monkeypatch):
    monkeypatch.setattr(reading_machine_code.kept_functions, "kept_text", lambda name: "")
    assert "once check finds it right" in str(course.machine_loop("single_precision"))
    assert [row[0] for row in course.eight_sums().rows] == [
        "the given kernel", "one solution", "multi_output", "naive"
    ]  # fmt: skip


def test_a_kernel_of_the_readers_with_many_instructions_has_a_note(monkeypatch):
    solved = compiled_loops.recorded_loop("sums_in_registers solution")
    dear = replace(solved, mix={**solved.mix, "IADD3": 267})
    loop_of_record = reading_machine_code.loop_of_record
    monkeypatch.setattr(reading_machine_code.kept_functions, "kept_text", lambda name: "…")
    monkeypatch.setattr(reading_machine_code, "mine", lambda name: "mine")
    monkeypatch.setattr(
        reading_machine_code, "loop_of_record",
        lambda one: dear if one == "mine" else loop_of_record(one),
    )  # fmt: skip
    shown = course.eight_sums()
    assert shown.rows[1] == ("your kernel", "0", "1.125", "12", reading_machine_code.NOTHING)
    assert "more instructions per multiply-add than the given one" in shown.note


def test_a_kernel_without_a_recorded_loop_is_named():
    with pytest.raises(CourseError, match="nothing is not among the recorded loops"):
        compiled_loops.recorded_loop("nothing")
    with pytest.raises(CourseError, match="The loop of tiled TILE=8 is not listed"):
        compiled_loops.listing("tiled TILE=8")


def test_a_loop_knows_its_shares_and_its_shared_loads():
    loop = compiled_loops.CompiledLoop(32, 0, 0, 2.0, 3, {"FFMA": 4, "LDS.128": 2, "LDS.32": 1})
    assert (loop.instructions, loop.multiply_adds, loop.share) == (7, 4, 4 / 7)
    assert (loop.kept_share, loop.cycles) == (3 / 12, 9 / 4)
    assert loop.hot_loop.shared_loads == {128: 2, 32: 1}


def test_shares_of_samples_add_up_and_ready_warps_wait_for_nothing():
    shares = profiler.stalls(NAIVE)
    assert sum(shares.values()) == pytest.approx(1)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    reason, share = profiler.most_frequent_wait(LADDER.step("autotuned"))
    assert reason not in profiler.READY
    assert share < shares["long_sb"]
    assert set(shares) <= {*profiler.WORDS, *profiler.READY}


def test_a_step_that_was_not_profiled_is_named():
    with pytest.raises(CourseError, match="no samples of unrolled"):
        profiler.stalls(LADDER.step("unrolled"))
    with pytest.raises(CourseError, match="no 'Speed' for naive"):
        profiler.figure(NAIVE, "Speed")


def test_a_time_that_is_not_recorded_is_named():
    with pytest.raises(CourseError, match="no recorded time of fma_loop with 7 registers"):
        course.spilled_ms("fma_loop", 7)
