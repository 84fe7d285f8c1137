"""The choice of interpreters, and how pip's answers are handled. pip: `make check-pythons`."""

import subprocess
import sys
from pathlib import Path

import pytest

from utils.machine import check_pythons
from utils.machine.check_pythons import Answer, check, find, main, requirements


@pytest.fixture
def pythons(tmp_path, monkeypatch):
    """Return a function that makes interpreters in folders of PATH; others are hidden."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))

    def make(folder, name, says):
        file = tmp_path / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", str(file.parent), prepend=":")
        return file

    return make


def test_of_several_releases_the_oldest_is_asked(pythons):
    pythons("b", "python3.11", "echo 3.11.12")
    oldest = pythons("a", "python3.11", "echo 3.11.2")
    pythons("c", "python3.11", "echo 3.11.7")
    assert find("3.11") == oldest


def test_pyenv_has_pythons_that_are_not_on_the_path(pythons):
    file = pythons("pyenv/versions/3.12.1/bin", "python3", "echo 3.12.1")
    assert find("3.12") == file


def test_a_file_that_is_no_such_python_is_passed_over(pythons):
    pythons("shims", "python3.12", "echo 'command not found' >&2; exit 127")
    pythons("other", "python3.12", "echo 3.13.0")
    assert find("3.12") is None


def test_what_make_setup_installs_without_a_gpu_is_asked_for():
    names = {line.split("=")[0].split(">")[0].split("[")[0] for line in requirements()}
    assert {"numba", "jupyterlab", "nvidia-cuda-nvdisasm", "pytest"} <= names


def test_pips_reason_is_told(monkeypatch):
    stderr = "WARNING: a mirror is slow\nERROR: soupsieve needs 3.11.5\n"
    failed = subprocess.CompletedProcess((), 1, "", stderr)
    monkeypatch.setattr(check_pythons, "find", lambda version: Path("python"))
    monkeypatch.setattr(check_pythons, "release", lambda python: (3, 11, 2))
    monkeypatch.setattr(check_pythons.subprocess, "run", lambda *command, **options: failed)
    assert check("3.11") == Answer("3.11.2", False, "ERROR: soupsieve needs 3.11.5")


def test_what_is_no_error_of_pips_is_told_by_its_last_line(monkeypatch, tmp_path):
    broken = tmp_path / "python3.12"
    broken.write_text("#!/bin/sh\necho 'No module named venv' >&2; exit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setattr(check_pythons, "find", lambda version: broken)
    monkeypatch.setattr(check_pythons, "release", lambda python: (3, 12, 1))
    assert check("3.12") == Answer("3.12.1", False, "No module named venv")


@pytest.mark.parametrize("needed,code", [("", 0), ("1", 1)])
def test_a_python_that_is_missing_is_said_and_fails_where_everything_is_needed(
    pythons, monkeypatch, capsys, needed, code
):
    monkeypatch.setenv(check_pythons.NEEDED, needed)
    assert main() == code
    assert capsys.readouterr().out.splitlines()[0] == "Python 3.11: not found, not checked."


def test_a_python_that_the_pins_do_not_suit_fails(monkeypatch):
    monkeypatch.setattr(check_pythons, "check", lambda version: Answer(version, False, "no"))
    assert main() == 1
