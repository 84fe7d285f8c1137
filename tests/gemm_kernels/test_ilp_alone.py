"""The experiment that times independent sums alone, beside the kernels that also read less."""

import ast
import inspect
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32

from gemm_kernels import ilp_alone
from gemm_kernels.__main__ import COMMANDS
from utils.errors import CourseError
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.measuring import experiment, kernel_times, rows
from utils.measuring.command_line import main
from utils.measuring.timing import Timing
from utils.paths import ROOT

OWN = [v for v in ilp_alone.variants() if v.step.module == ilp_alone.__name__]
NAMES = [str(variant) for variant in ilp_alone.variants()]


@settings(max_examples=4, deadline=None)
@given(st.integers(1, 70), st.integers(1, 70), st.integers(1, 70))
def test_the_products_are_right_at_any_shape(m, k, n):
    verdicts = verify_all(ilp_alone.LADDER, OWN, GemmShape(m, k, n), kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


def kernel_in(source: str) -> ast.FunctionDef:
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    return [node for node in found if node.decorator_list][-1]


@pytest.mark.parametrize(("used", "file"), [(1, "starter"), (4, "solution")])
def test_the_chains_are_those_of_the_exercise(used, file):
    exercise = Path(ROOT, "labs/exercises/four_chains", f"{file}.py").read_text()
    source = inspect.getsource(ilp_alone.build_chains.__wrapped__)
    own = source.replace("i % USED", "0" if used == 1 else "i % 4")
    assert ast.dump(kernel_in(own)) == ast.dump(kernel_in(exercise))


def test_the_plain_rows_are_the_solution_of_the_exercise():
    exercise = Path(ROOT, "labs/exercises/independent_sums/solution.py").read_text()
    own = inspect.getsource(ilp_alone.build_rows.__wrapped__)
    assert ast.dump(kernel_in(own)) == ast.dump(kernel_in(exercise))


@cuda.jit
def zeros(a, b, c):
    row, col = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = a[0, 0] * b[0, 0] * float32(0)


def test_a_wrong_kernel_is_not_timed():
    wrong = ilp_alone._step("wrong", lambda: zeros, threads=32)
    with pytest.raises(CourseError, match="wrong is wrong at 35×36×44, so it is not timed"):
        kernel_times.require_right(ilp_alone.LADDER, [wrong], GemmShape(35, 36, 44))


def test_the_command_records_what_the_timer_says(monkeypatch, tmp_path):
    file = tmp_path / "data/measured/x/ilp_alone.csv"
    monkeypatch.setattr(experiment, "DATA", tmp_path / "data")
    monkeypatch.setattr(ilp_alone.measured, "__defaults__", ((64,),))
    monkeypatch.setattr(experiment, "device_for", lambda command: type("Device", (), {"name": "x"}))
    monkeypatch.setattr(ilp_alone, "VERIFIED", (GemmShape(33, 34, 35),))
    monkeypatch.setattr(kernel_times, "time_gpu", turns)
    assert main("", COMMANDS, ["ilp-alone", "--record"]) == 0
    recorded = rows.read(file, kernel_times.ProductTime)
    assert [(row.kernel, row.n) for row in recorded] == [(name, 64) for name in NAMES]
    assert [row.time_ms for row in recorded] == list(range(1, len(NAMES) + 1))


def turns(executions):
    for execution in executions:
        execution()
    return [Timing(ms, ms / 2, ms * 2, 7, 1, 1980.0) for ms in range(1, len(executions) + 1)]


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["ilp-alone"]) == 2
    assert "ilp-alone needs a CUDA device" in capsys.readouterr().err


def test_each_recorded_run_has_all_kernels_at_each_size():
    for device in {row.device for row in ilp_alone.recorded_times()}:
        timed = [row for row in ilp_alone.recorded_times() if row.device == device]
        assert {(row.kernel, row.n) for row in timed} == {
            (name, n) for name in NAMES for n in ilp_alone.SIZES
        }
