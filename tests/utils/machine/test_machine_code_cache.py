"""Machine code on disk: read where nothing has changed, compiled anew where anything has."""

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numba.core.compiler import CompileResult

from utils.machine import machine_code_cache
from utils.machine.machine_code_cache import kept_on_disk
from utils.paths import ROOT

TEXT = """
from numba import njit
SHIFT = {shift}

@njit
def helper(x):
    return x * {factor}

def build(offset):
    @njit
    def function(x):
        return helper(x) + SHIFT + offset
    return function
"""


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CPU_KERNELS_CACHE", str(tmp_path / "code"))
    return tmp_path / "code"


@pytest.fixture
def loaded(monkeypatch):
    """A list that gets an entry for each function that is read from disk."""
    entries = []
    rebuild = CompileResult._rebuild

    def counted(*payload):
        entries.append(payload)
        return rebuild(*payload)

    monkeypatch.setattr(CompileResult, "_rebuild", counted)
    return entries


def made(shift=1, factor=2, offset=3):
    """The function as another process would make it: helper, global and closure are all new."""
    names = {"__name__": "made_for_the_test"}
    exec(TEXT.format(shift=shift, factor=factor), names)
    return kept_on_disk(names["build"](offset))


def test_code_is_read_where_nothing_has_changed(loaded):
    assert made()(10) == 24
    assert not loaded
    assert made()(10) == 24
    assert len(loaded) == 1


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.tuples(*[st.integers(1, 3)] * 3))
def test_a_change_of_a_global_of_a_called_function_or_of_a_closure_gives_the_new_result(edit):
    shift, factor, offset = edit
    assert made(*edit)(10) == 10 * factor + shift + offset


def test_a_key_without_the_called_function_would_give_the_old_result(monkeypatch):
    monkeypatch.setattr(machine_code_cache, "cache_key", lambda function: "the same")
    made(factor=2)(10)
    assert made(factor=5)(10) == 24


def test_other_argument_types_are_compiled_for_themselves(loaded):
    made()(10)
    assert made()(0.5) == 5.0
    assert not loaded


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:-9], lambda raw: b"", lambda raw: raw[:-1] + b"?"]
)
def test_a_damaged_entry_is_made_anew(empty_folder, loaded, damage):
    made()(10)
    (entry,) = empty_folder.iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    assert made()(10) == 24
    assert not loaded
    assert made()(10) == 24
    assert loaded


def test_switched_off_nothing_is_written(empty_folder, monkeypatch):
    monkeypatch.setenv("CPU_KERNELS_CACHE", "off")
    assert made()(10) == 24
    assert not empty_folder.exists()


def test_where_nothing_can_be_written_the_function_still_runs(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CPU_KERNELS_CACHE", str(tmp_path / "file" / "folder"))
    assert made()(10) == 24


def test_what_cannot_be_described_is_not_kept(empty_folder, monkeypatch):
    monkeypatch.setattr(machine_code_cache, "cache_key", lambda function: None)
    assert made()(10) == 24
    assert not empty_folder.exists()


WORKSPACE = """
from numba import njit
from gemm_kernels.cpu.engine.blocks import memory_of, workspace
from utils.machine.machine_code_cache import kept_on_disk
from utils.paths import ROOT
memory = memory_of()

@kept_on_disk
@njit
def address():
    return memory().address

print(address() - workspace(1).ctypes.data)
"""


def test_code_from_another_process_finds_the_workspace_of_this_one(tmp_path, empty_folder):
    script = tmp_path / "script.py"
    script.write_text(WORKSPACE)
    for _ in range(2):
        command = [sys.executable, script]
        run = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": "."}, stdout=-1)
        assert run.stdout == b"0\n"
    assert len(list(empty_folder.iterdir())) == 1
