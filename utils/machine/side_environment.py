"""Run a check in an environment of its own below `build/`: its packages must not enter `.venv`.

`python utils/machine/side_environment.py NAME --requirements FILE --pythons 3.11 3.12 -- -m pytest`
makes an environment for each of these Pythons that is found, once, and runs it with the arguments
behind `--`. It knows only the standard library, so that any Python can run it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NEEDED = "COURSE_NEEDS_EVERYTHING"
VERSION = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
SECONDS_TO_ASK, SECONDS_TO_INSTALL, SECONDS_TO_CHECK = 20, 1800, 1800


def python_of(version: str) -> Path | None:
    """A Python of this version, such as "3.12": of PATH, or one that pyenv has; None without."""
    for found in _candidates(version):
        told = _told([str(found), "-c", VERSION])
        if told == version:
            return found
    return None


def _candidates(version: str) -> Iterator[Path]:
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield Path(sys.executable)
    for folder in os.get_exec_path():
        found = shutil.which(f"python{version}", path=folder)
        if found:
            yield Path(found)
    if shutil.which("pyenv"):
        for line in _told(["pyenv", "versions", "--bare"]).split():
            if line.startswith(f"{version}."):
                yield Path(_told(["pyenv", "prefix", line])) / "bin" / "python"


def _told(command: list[str]) -> str:
    """What a command prints; nothing where it fails, or does not answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_ASK)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def made(name: str, version: str, python: Path, requirements: Path) -> Path:
    """The folder of an environment that is ready: made once, and anew when its pins change.

    Raises CalledProcessError where pip cannot install it.
    """
    folder = ROOT / "build" / f"{name}-{version}"
    stamp, asked = folder / "installed.txt", _stamp(python, requirements)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == asked:
        return folder
    print(f"Installing into {folder.relative_to(ROOT)}. This takes a few minutes.", flush=True)
    subprocess.run(
        [python, "-m", "venv", "--clear", folder], check=True, timeout=SECONDS_TO_INSTALL
    )
    packages = ["pytest", "--editable", ".[compiler]", "--requirement", str(requirements)]
    quiet = ["--quiet", "--disable-pip-version-check", "--constraint", "constraints.txt"]
    subprocess.run(
        [_own_python(folder), "-m", "pip", "install", *quiet, *packages],
        cwd=ROOT, check=True, timeout=SECONDS_TO_INSTALL,
    )  # fmt: skip
    stamp.write_text(asked, encoding="utf-8")
    return folder


def _stamp(python: Path, requirements: Path) -> str:
    files = (ROOT / "pyproject.toml", ROOT / "constraints.txt", ROOT / requirements)
    texts = [str(python), str(ROOT), *(file.read_text(encoding="utf-8") for file in files)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _own_python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(folder: Path, arguments: Sequence[str]) -> int:
    """The exit code of the environment's Python, which finds its own programs before all others."""
    python = _own_python(folder)
    path = os.pathsep.join([str(python.parent), *os.get_exec_path()])
    return subprocess.run(
        [python, *arguments], cwd=ROOT, env={**os.environ, "PATH": path}, timeout=SECONDS_TO_CHECK
    ).returncode


def main(arguments: list[str] | None = None) -> int:
    """0 where every check passed; a Python that is missing is named, and fails only if needed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="of the environments, which is followed by the version")
    parser.add_argument("--requirements", type=Path, required=True, help="packages and their pins")
    parser.add_argument("--pythons", nargs="+", required=True, metavar="VERSION", help="as 3.12")
    parser.add_argument("arguments", nargs="+", help="what that Python is to run, after --")
    given = parser.parse_args(arguments)
    codes = []
    for version in given.pythons:
        python = python_of(version)
        if python is None:
            print(f"No Python {version} was found: the check of {given.name} is left out there.")
            codes.append(int(os.environ.get(NEEDED) == "1"))
            continue
        try:
            folder = made(given.name, version, python, given.requirements)
        except subprocess.CalledProcessError:
            print(f"pip could not install {given.name} for Python {version}: see above.")
            codes.append(1)
            continue
        codes.append(run(folder, given.arguments))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
