"""Ask pip whether the pins suit each Python: `python -m utils.machine.check_pythons`.

For each version that is found here pip resolves what `make setup` would install there, and
installs nothing. Exit code: 0 when all resolve, 1 when one does not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from utils.paths import ROOT

VERSIONS = ("3.11", "3.12", "3.13")
EXTRAS = ("compiler", "test")
NEEDED = "COURSE_NEEDS_EVERYTHING"  # a version that is not found is a failure where this is set
SECONDS = 600  # that pip may take for one version
AT_ONCE = 2
DRY = ("--dry-run", "--quiet", "--disable-pip-version-check",
       "--constraint", str(ROOT / "constraints.txt"))  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What became of one version. fits: None where no such Python was found. told: in words."""

    version: str
    fits: bool | None
    told: str


def requirements(extras: tuple[str, ...] = EXTRAS) -> list[str]:
    """What pyproject.toml asks for, with these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][name] for name in extras)]
    return [line for group in groups for line in group]


def find(version: str) -> Path | None:
    """The interpreter of a version, such as "3.12", from PATH or pyenv; None without one.

    Of several the oldest release: packages may ask for a newer one than a distribution has.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    beside = [Path(folder) / f"python{version}" for folder in os.get_exec_path()]
    possible = [Path(sys.executable), *beside, *pyenv.glob(f"{version}.*/bin/python3")]
    releases = {python: release(python) for python in possible}
    found = [python for python in possible if releases[python][:2] == _numbers(version)]
    return min(found, key=releases.get, default=None)


def release(python: Path) -> tuple[int, ...]:
    """What it says of itself, such as (3, 11, 2); () where it does not run."""
    if shutil.which(python) is None:
        return ()
    asked = [str(python), "-c", "import platform; print(platform.python_version())"]
    told = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    return _numbers(told.stdout) if told.returncode == 0 else ()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:3])


def check(version: str) -> Answer:
    """Resolve the requirements under the pins for one version."""
    python = find(version)
    if python is None:
        return Answer(version, None, "not found, not checked")
    version = ".".join(map(str, release(python)))
    try:
        done = _resolve(python)
    except subprocess.TimeoutExpired:
        return Answer(version, False, f"pip has not ended within {SECONDS} seconds")
    if done.returncode == 0:
        return Answer(version, True, "the pins resolve")
    lines = done.stderr.strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")] + lines[-1:]
    return Answer(version, False, "\n  ".join(dict.fromkeys(errors)))


def _resolve(python: Path) -> subprocess.CompletedProcess:
    """As `make setup` does it: by the pip that this Python puts into a new environment."""
    with tempfile.TemporaryDirectory() as folder:
        steps = (
            [str(python), "-m", "venv", folder],
            [str(Path(folder) / "bin" / "python"), "-m", "pip", "install", *DRY, *requirements()],
        )
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, timeout=SECONDS)
            if done.returncode:
                break
    return done


def main() -> int:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(check, VERSIONS))
    for answer in answers:
        print(f"Python {answer.version}: {answer.told}.")
    missing_fails = bool(os.environ.get(NEEDED))
    return int(any(not a.fits and (a.fits is False or missing_fails) for a in answers))


if __name__ == "__main__":
    sys.exit(main())
