"""Side environments: which Python they use, when they are made anew, and their messages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from utils.machine import side_environment
from utils.paths import ROOT

HERE = "{}.{}".format(*sys.version_info)
OTHER = "3.99"


def program(folder: Path, name: str, lines: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{lines}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return a folder that is all of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def test_the_python_that_runs_is_taken_first(path):
    assert side_environment.python_of(HERE) == Path(sys.executable)


def test_a_python_of_the_path_is_asked_for_its_version(path, tmp_path, monkeypatch):
    program(tmp_path / "shim", f"python{OTHER}", "exit 127")
    program(path, f"python{OTHER}", f"echo {OTHER}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'shim'}{os.pathsep}{path}")
    assert side_environment.python_of(OTHER) == path / f"python{OTHER}"


def test_a_python_of_pyenv_is_found(path, tmp_path):
    program(tmp_path / "3.99.1" / "bin", "python", f"echo {OTHER}")
    listed = f'if [ "$1" = versions ]; then echo 3.9.1; echo 3.99.1; else echo {tmp_path}/$2; fi'
    program(path, "pyenv", listed)
    assert side_environment.python_of(OTHER) == tmp_path / "3.99.1" / "bin" / "python"


@pytest.mark.parametrize(("needed", "code"), [("", 0), ("1", 1)])
def test_a_missing_python_is_named_and_fails_where_everything_is_needed(
    path, monkeypatch, capsys, needed, code
):
    monkeypatch.setenv(side_environment.NEEDED, needed)
    words = ["some", "--requirements", "none.txt", "--pythons", OTHER, "--", "-c", "1"]
    assert side_environment.main(words) == code
    assert capsys.readouterr().out.splitlines() == [
        f"No Python {OTHER} was found: the check of some is left out there."
    ]


@pytest.fixture
def installs(tmp_path, monkeypatch):
    """Record the commands that would install, without running them."""
    calls = []

    def called(command, **options):
        calls.append(list(map(str, command)))
        if "venv" in calls[-1]:
            Path(command[-1]).mkdir(parents=True, exist_ok=True)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(side_environment, "ROOT", tmp_path)
    monkeypatch.setattr(side_environment.subprocess, "run", called)
    for name in ("pyproject.toml", "constraints.txt", "own.txt"):
        (tmp_path / name).write_text("a==1\n")
    return calls


def made():
    return side_environment.made("some", "3.99", Path("python"), Path("own.txt"))


def test_an_environment_is_made_once_and_anew_when_a_pin_changes(tmp_path, installs):
    assert made() == tmp_path / "build" / "some-3.99"
    assert len(installs) == 2
    made()
    assert len(installs) == 2
    (tmp_path / "own.txt").write_text("a==2\n")
    made()
    assert len(installs) == 4


def test_pins_of_the_requirements_take_the_place_of_those_of_the_course(tmp_path, installs):
    (tmp_path / "constraints.txt").write_text("numpy==2.4\npandas==3.1\nnumba-cuda-mlir==1\n")
    own = 'numba-cuda-mlir[cu13]==2\nnumpy==2.5 ; python_version > "3"\n'
    (tmp_path / "own.txt").write_text(own)
    folder = side_environment.made("some", "3.99", Path("python"), Path("own.txt"), apart=True)
    assert (folder / "constraints.txt").read_text() == "pandas==3.1\n"
    assert not any("--editable" in command for command in installs)


def test_an_environment_that_could_not_be_installed_is_made_again(installs, monkeypatch):
    usual = side_environment.subprocess.run

    def fails(command, **options):
        usual(command, **options)
        if "pip" in command:
            raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(side_environment.subprocess, "run", fails)
    for _ in range(2):
        with pytest.raises(subprocess.CalledProcessError):
            made()
    assert len(installs) == 4


def test_a_check_runs_in_its_environment_and_its_exit_code_counts(tmp_path, monkeypatch):
    program(tmp_path / "bin", "python", f"exec {sys.executable} \"$@\"")
    program(tmp_path / "bin", "helper", "exit 0")
    code = "import shutil, sys; sys.exit(7 if shutil.which('helper') else 1)"
    assert side_environment.run(tmp_path, ["-c", code]) == 7


OWN = (*sorted(ROOT.glob("labs/platforms/*/requirements.txt")), ROOT / "site" / "constraints.txt")


@pytest.mark.parametrize("file", OWN, ids=str)
def test_packages_of_an_environment_of_its_own_are_pinned_apart_from_the_course(file):
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("#", "-r "))]
    course = (ROOT / "constraints.txt").read_text()

    def of_the_course(name: str) -> bool:
        return bool(re.search(rf"^{name}==", course, re.MULTILINE))

    own = [line for line in lines if not of_the_course(line)]  # a bare name is pinned there
    assert [line for line in own if not re.fullmatch(r"[a-z0-9-]+==[\w.]+", line)] == []
    assert [line for line in own if of_the_course(line.split("==")[0])] == []
