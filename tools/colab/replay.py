"""Reproduce what happens when somebody opens a lesson in Colab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.colab.image import python_of
from utils import paths
from utils.paths import ROOT

# The environment variable by which the course recognises Colab.
MARKS = {"COLAB_RELEASE_TAG": "replay"}
GIT = ["git", "-c", "user.name=replay", "-c", "user.email=replay@example.org"]
SECONDS = 900  # for one program

# The choice depends only on the driver's CUDA version and the image's packages.
AS_WITH_A_T4 = """
import runpy, sys
prepare = runpy.run_path("utils/machine/prepare.py")
what = prepare["missing"]((12, 4), prepare["installed"]())
print("asks for", *what.requirements)
prepare["prepare_colab"]((12, 4))
sys.path.insert(0, "")
from gemm_kernels import LADDER
from gpu_xray import xray
step = LADDER.step("tiled")
seen = xray(step.build(**step.constants()), step.signature, "sm_75")
print(f"A kernel for sm_75, the T4: {seen.registers} registers.")
"""


@dataclass(frozen=True)
class Replay:
    """An environment in which lessons run, and a copy of the course.

    python: the folder of the environment. course: a clone whose notebooks fetch the course from a
    local repository.
    """

    python: Path
    course: Path


def fork(folder: Path) -> Path:
    """Copy the working tree into `folder` and return the copy, a git repository.

    The first cells of its notebooks fetch the course from a bare clone of it, also in `folder`.
    """
    course, origin = folder / "course", folder / "origin.git"
    tracked = _run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT)
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).is_file():
            (course / name).parent.mkdir(parents=True, exist_ok=True)
            (course / name).write_bytes((ROOT / name).read_bytes())
    stamp = [sys.executable, "-m", "utils.lessons.first_cell", "--repo", origin.as_uri()]
    _run(stamp, course, {"PYTHONPATH": str(course)})
    _run(["git", "init", "--quiet", "--initial-branch", "main"], course)
    _run(["git", "add", "--all"], course)
    _run([*GIT, "commit", "--quiet", "--message", "The course"], course)
    _run(["git", "clone", "--quiet", "--bare", str(course), str(origin)], folder)
    return course


def lessons(replay: Replay, folder: Path, numbers: list[str]) -> subprocess.Popen:
    """Start a process that runs lessons in the environment's kernel, and return the process.

    Each lesson runs alone in an empty folder. folder: for copies of the lessons and for their
    pages. numbers: the lessons' numbers, such as "07".
    """
    copies = []
    for number in numbers:
        file = replay.course / paths.lessons()[number].relative_to(ROOT)
        (folder / number).mkdir()
        copies.append(folder / number / file.name)
        copies[-1].write_bytes(file.read_bytes())
    command = [sys.executable, "-m", "utils.lessons.run_notebooks", "--kernels"]
    command += [_kernels(replay, folder), "--out", folder / "pages", *copies]
    return subprocess.Popen(command, cwd=replay.course, env=_environment(replay.course))


def with_a_t4(replay: Replay) -> str:
    """Prepare Colab for CUDA 12.4, compile a kernel for a T4, and return the printed text.

    Exits with the output if this program fails.
    """
    command = [str(python_of(replay.python)), "-c", AS_WITH_A_T4]
    return _run(command, replay.course, {**MARKS, "XRAY_CACHE": str(replay.python / "xray")})


def _kernels(replay: Replay, folder: Path) -> Path:
    """Make a Jupyter kernel "python3" that runs the environment as in Colab.

    Returns the folder of kernels, which is below `folder`.
    """
    folder_of_kernel = folder / "kernels" / "python3"
    folder_of_kernel.mkdir(parents=True, exist_ok=True)
    python = str(python_of(replay.python))
    kernel = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Colab",
        "language": "python",
        # An empty cache, because cached code would hide that nothing compiles.
        "env": {**MARKS, "PYTHONPATH": "", "XRAY_CACHE": str(replay.python / "xray")},
    }
    (folder_of_kernel / "kernel.json").write_text(json.dumps(kernel), encoding="utf-8")
    return folder_of_kernel.parent


def _environment(course: Path) -> dict[str, str]:
    """Return this process's environment variables, with PYTHONPATH set to the course's folder."""
    return {**os.environ, "PYTHONPATH": str(course)}


def _run(command: list, folder: Path, more: dict[str, str] | None = None) -> str:
    """Run a program in a folder and return its stdout; if it fails, exit with its output.

    more: environment variables to set.
    """
    result = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": "", **(more or {})},
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    if result.returncode:
        raise SystemExit(
            f"{' '.join(map(str, command[:4]))} failed:\n{result.stdout}{result.stderr}"
        )
    return result.stdout
