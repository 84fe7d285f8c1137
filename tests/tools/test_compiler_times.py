"""The times of two compilers: what is run before a device is needed, and the sentences without."""

import sys
from pathlib import Path

import pytest

from tools.records import compiler_times
from tools.records.compiler_times import COMMAND, measured
from utils.compilers.choice import NUMBA_CUDA, NUMBA_CUDA_MLIR, Compiler
from utils.lessons.lesson_16.compiler_times import TIMES, CompilerTime
from utils.measuring.command_line import REFUSED, main
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
    monkeypatch.setattr(compiler_times, "LADDERS", ("latency_kernels",))
    return rivals


@pytest.mark.slow  # 25 s: all steps of a ladder on the virtual GPU, three times each
def test_both_compilers_run_the_same_steps_in_turns(other, run_once):
    made = list(measured("a GPU", (7, 5), [NUMBA_CUDA, other], SMALL))
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


def test_the_record_is_described():
    text = (Path(__file__).parents[2] / "data" / "README.md").read_text(encoding="utf-8")
    assert TIMES in text
