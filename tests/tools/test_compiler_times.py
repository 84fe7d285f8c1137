"""The times of two compilers: what is run before a device is needed, and the sentences without."""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.records import compiler_times
from tools.records.compiler_times import COMMAND, measured
from utils.compilers.choice import NUMBA_CUDA, NUMBA_CUDA_MLIR, Compiler
from utils.lessons.lesson_16.compiler_times import TIMES, CompilerTime
from utils.measuring import rows
from utils.measuring.command_line import REFUSED, main
from utils.measuring.rows import Date
from utils.measuring.timing import Timing

SMALL = {"gemm": "40", "reduce": "3000", "latency": "2^12"}
# Compiled by none: the names of `numba.cuda` from another package, which the virtual GPU runs.
OTHER = Compiler("numba", "other_names", "other_names")


@pytest.fixture
def other(tmp_path, monkeypatch):
    folder = tmp_path / OTHER.package
    (folder / "cuda").mkdir(parents=True)
    (folder / "__init__.py").write_text("from numba import cuda, types\n")
    names = "from numba.core import types\nglobals().update(vars(types))\n"
    (folder / "types.py").write_text(names)
    (folder / "cuda" / "__init__.py").write_text("from numba.cuda import *\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield OTHER
    for name in [name for name in sys.modules if name.startswith(OTHER.package)]:
        del sys.modules[name]


@pytest.fixture
def run_once(monkeypatch):
    """Run each kernel once instead of timing it; return the numbers of rivals."""
    rivals = []

    def once(executions):
        rivals.append(len(executions))
        for execute in executions:
            execute()
        return [Timing(1.0, 1.0, 1.0, repetitions=1, launches=1)] * len(executions)

    monkeypatch.setattr(compiler_times, "time_gpu", once)
    return rivals


@pytest.mark.slow  # 25 s: all steps of a ladder on the virtual GPU, three times each
def test_both_compilers_run_the_same_steps_in_turns(other, run_once):
    made = list(measured("a GPU", (7, 5), [NUMBA_CUDA, other], "latency_kernels", SMALL))
    assert set(run_once) == {2}
    assert {row.step for row in made[::2]} == {row.step for row in made[1::2]}
    assert [row.compiler for row in made[:2]] == ["numba-cuda", "numba"]
    assert all(isinstance(row, CompilerTime) for row in made)


def test_without_a_device_or_a_compiler_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr(Compiler, "is_installed", property(lambda self: True))
    assert main("Two compilers", (COMMAND,), ["--compiler", "both", "--record"]) == REFUSED
    assert "needs a CUDA device" in capsys.readouterr().err
    monkeypatch.setattr(Compiler, "is_installed", property(lambda self: self == NUMBA_CUDA))
    assert main("Two compilers", (COMMAND,), ["--compiler", "both"]) == REFUSED
    assert f"{NUMBA_CUDA_MLIR.name} is not installed" in capsys.readouterr().err


def test_a_part_that_is_recorded_anew_leaves_the_others(tmp_path, monkeypatch):
    row = CompilerTime(
        "a GPU", "gemm", "naive", "40", "numba-cuda", "0.30.4", "13.0", 1.0, 1.0, 1.0, None,
        Date("2026-11-27"),
    )  # fmt: skip
    first = [replace(row, ladder="reduce", step="reduce0"), replace(row, step="tiled")]
    rows.write(tmp_path / "a_gpu" / TIMES, first, CompilerTime)
    monkeypatch.setattr(compiler_times, "MEASURED", tmp_path)
    monkeypatch.setattr(compiler_times, "measured", lambda *_: iter([replace(row, time_ms=2.0)]))
    device = SimpleNamespace(name="a GPU", compute_capability=(7, 5))
    monkeypatch.setattr(compiler_times, "device_for", lambda _: device)
    asked = ["--compiler", "numba-cuda", "--of", "gemm", "--record"]
    assert main("Two compilers", (COMMAND,), asked) == 0
    kept = rows.read(tmp_path / "a_gpu" / TIMES, CompilerTime)
    assert [(each.step, each.time_ms) for each in kept] == [("reduce0", 1.0), ("naive", 2.0)]


def test_the_record_is_described():
    text = (Path(__file__).parents[2] / "data" / "README.md").read_text(encoding="utf-8")
    assert TIMES in text
