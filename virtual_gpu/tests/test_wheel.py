"""The folder's own wheel, in an empty environment, in a folder with another ``utils``."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from utils.paths import ROOT

FOLDER = ROOT / "utils" / "virtual_gpu"
STRANGER = Path(__file__).parent / "stranger"
TESTS = """
import pytest
from numba import cuda
from puzzles import PUZZLES
import numpy as np

@pytest.mark.parametrize("puzzle", PUZZLES)
def test_puzzle(puzzle):
    puzzle.check()

@cuda.jit
def past_the_end(x):
    x[cuda.threadIdx.x + 1] = 1

def test_wrong():
    past_the_end[1, 4](np.zeros(4))
"""
MOVIE = """
import numpy as np
from numba import cuda
from virtual_gpu import trace

@cuda.jit
def fill(x):
    x[cuda.threadIdx.x] = 1

shown = trace(fill, 1, 32, np.zeros(32), record=0).movie()._repr_html_()
print("function play(root, data)" in shown and ".vm-stage" in shown)
"""


def run(*words, cwd, code=0) -> str:
    """Runs a command without this project on Python's path; returns its output."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    words = [str(word) for word in words]
    ended = subprocess.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=500
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout


def empty_environment(folder: Path) -> Path:
    """The Python of a new environment with the wheel, its dependencies and pytest."""
    pip = (sys.executable, "-m", "pip")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, FOLDER, cwd=folder)
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    (wheel,) = folder.glob("*.whl")
    pinned = ("--constraint", ROOT / "constraints.txt")
    run(*pip, "--python", python, "install", *pinned, wheel, "pytest", cwd=folder)
    return python


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "darwin", reason="numba-cuda is not published for macOS")
def test_a_stranger_runs_puzzles_with_the_wheel_alone(tmp_path):
    python = empty_environment(tmp_path)
    work = tmp_path / "work"
    shutil.copytree(STRANGER, work)
    where = run(python, "-c", "import virtual_gpu; print(virtual_gpu.__file__)", cwd=work)
    assert Path(where.strip()).is_relative_to(tmp_path / "venv")

    (work / "movie.py").write_text(MOVIE)
    assert run(python, "movie.py", cwd=work) == "True\n"

    said = run(python, "-m", "virtual_gpu", "--json", "report.json", "puzzles.py", cwd=work)
    assert said.count("solved") == 9
    kernels = json.loads((work / "report.json").read_text())["kernels"]
    assert len(kernels) == 9
    assert {kernel["verdict"] for kernel in kernels} == {"no flaw found"}

    (work / "test_puzzles.py").write_text(TESTS)
    said = run(python, "-m", "pytest", "-p", "no:cacheprovider", cwd=work, code=1)
    assert "1 failed, 9 passed" in said
    assert "The virtual GPU found: out_of_bounds" in said


def test_every_package_that_the_folder_imports_is_a_dependency_of_its_wheel():
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    declared = " ".join(project["dependencies"])
    standard = sys.stdlib_module_names | {"pytest"}
    for path in FOLDER.rglob("*.py"):
        for package in imported_packages(path) - standard:
            assert package in declared, f"{path.name} imports {package}"


def imported_packages(path: Path) -> set[str]:
    """The top-level names of the absolute imports of a file."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level]
    return {name.split(".")[0] for name in names}


def test_the_wheel_carries_the_projects_license():
    assert (FOLDER / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
