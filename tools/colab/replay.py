"""What happens in Colab to somebody who opens a lesson there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.colab.image import python_of
from utils.paths import ROOT

# Colab's own mark, by which the course knows it.
MARKS = {"COLAB_RELEASE_TAG": "replay"}
GIT = ["git", "-c", "user.name=replay", "-c", "user.email=replay@example.org"]
SECONDS = 900  # of one program

# The driver's answer and the image's packages are all that the choice depends on.
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
    """python: the folder of the environment. course: a clone whose notebooks fetch `origin`."""

    python: Path
    course: Path


def fork(folder: Path) -> Path:
    """A clone of this working tree whose notebooks fetch it from a bare repository beside it."""
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
    """Start to run lessons, each alone in an empty folder, in the environment's kernel."""
    alone = []
    for number in numbers:
        (file,) = (replay.course / "notebooks").glob(f"{number}_*.ipynb")
        (folder / number).mkdir()
        alone.append(folder / number / file.name)
        alone[-1].write_bytes(file.read_bytes())
    command = [sys.executable, "-m", "utils.lessons.run_notebooks", "--kernels"]
    command += [_kernels(replay, folder), "--out", folder / "pages", *alone]
    return subprocess.Popen(command, cwd=replay.course, env=_environment(replay.course))


def with_a_t4(replay: Replay) -> str:
    """What is installed where the driver says CUDA 12.4, and a kernel's machine code for a T4."""
    command = [str(python_of(replay.python)), "-c", AS_WITH_A_T4]
    return _run(command, replay.course, {**MARKS, "XRAY_CACHE": str(replay.python / "xray")})


def _kernels(replay: Replay, folder: Path) -> Path:
    """A folder whose kernel "python3" is the environment, in Colab's circumstances."""
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True, exist_ok=True)
    python = str(python_of(replay.python))
    kernel = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Colab",
        "language": "python",
        # What was compiled before would hide that nothing compiles.
        "env": {**MARKS, "PYTHONPATH": "", "XRAY_CACHE": str(replay.python / "xray")},
    }
    (place / "kernel.json").write_text(json.dumps(kernel), encoding="utf-8")
    return place.parent


def _environment(course: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(course)}


def _run(command: list, folder: Path, more: dict[str, str] | None = None) -> str:
    """What a program prints; its errors are shown, and end the replay."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": "", **(more or {})},
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command[:4]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
