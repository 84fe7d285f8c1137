"""Ask pip whether the pins suit each Python version: `python -m utils.machine.check_pythons`.

For each version that is found here, pip resolves what `make setup` would install, and installs
nothing. The exit code is 0 if every version resolves and 1 if one does not.
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
NEEDED = "COURSE_NEEDS_EVERYTHING"  # if this is set, a version that is not found is a failure
SECONDS = 600  # the time limit of pip for one version
AT_ONCE = 2
DRY = ("--dry-run", "--quiet", "--disable-pip-version-check",
       "--constraint", str(ROOT / "constraints.txt"))  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """The result for one Python version.

    `version` is the release that was found, such as "3.12.3", or "3.12" if none was. `fits` is True
    if the pins resolve for it, False if not, and None if no such Python was found. `message` says
    so in words, with pip's errors.
    """

    version: str
    fits: bool | None
    message: str


def requirements(extras: tuple[str, ...] = EXTRAS) -> list[str]:
    """Return the dependencies and those of the extras in pyproject.toml, such as "numba>=0.61".

    They are in the order of the file, the extras' after the others.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][name] for name in extras)]
    return [line for group in groups for line in group]


def find(version: str) -> Path | None:
    """Return the path of an interpreter of a version such as "3.12", or None if there is none.

    It is the running interpreter, or one from PATH or pyenv. Of several, it is the one with the
    lowest patch release: a package may need a newer patch release than a distribution offers, and
    only the lowest one shows that.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = [Path(folder) / f"python{version}" for folder in os.get_exec_path()]
    possible = [Path(sys.executable), *on_path, *pyenv.glob(f"{version}.*/bin/python3")]
    releases = {python: release(python) for python in possible}
    matches = [python for python in possible if releases[python][:2] == _numbers(version)]
    return min(matches, key=releases.get, default=None)


def release(python: Path) -> tuple[int, ...]:
    """Return the version of an interpreter, such as (3, 11, 2), or () if it does not run."""
    if shutil.which(python) is None:
        return ()
    command = [str(python), "-c", "import platform; print(platform.python_version())"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return _numbers(run.stdout) if run.returncode == 0 else ()


def _numbers(version: str) -> tuple[int, ...]:
    """Return the first three numbers in a text, such as (3, 12, 1), or fewer if it has fewer."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:3])


def check(version: str) -> Answer:
    """Let pip resolve the requirements under the pins for one Python version; return the answer.

    version: such as "3.12". `fits` is also False if pip takes more than `SECONDS` or if no
    environment can be made.
    """
    python = find(version)
    if python is None:
        return Answer(version, None, "not found, not checked")
    version = ".".join(map(str, release(python)))
    try:
        done = _resolve(python)
    except subprocess.TimeoutExpired:
        return Answer(version, False, f"pip did not finish within {SECONDS} seconds")
    if done.returncode == 0:
        return Answer(version, True, "the pins resolve")
    lines = done.stderr.strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")] + lines[-1:]
    return Answer(version, False, "\n  ".join(dict.fromkeys(errors)))


def _resolve(python: Path) -> subprocess.CompletedProcess:
    """Run pip as `make setup` does; return the process that failed, or else pip's.

    This Python makes a temporary environment, whose pip resolves the requirements and installs
    nothing. Raises subprocess.TimeoutExpired if one of the two takes more than `SECONDS`.
    """
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
    """Check all versions, print a sentence per version, and return the exit code.

    It is 1 if the pins do not resolve for a version, else 0. If COURSE_NEEDS_EVERYTHING is set, it
    is also 1 if a version is not found.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(check, VERSIONS))
    for answer in answers:
        print(f"Python {answer.version}: {answer.message}.")
    missing_fails = bool(os.environ.get(NEEDED))
    return int(any(not a.fits and (a.fits is False or missing_fails) for a in answers))


if __name__ == "__main__":
    sys.exit(main())
