"""Run a check in a virtual environment below `build/`, whose packages must not enter `.venv`.

`python utils/machine/side_environment.py NAME --requirements FILE --pythons 3.11 3.12 -- -m pytest`
makes one environment for each of these Python versions that is found, once, and runs it with the
arguments after `--`. The course and its dependencies are installed there, too, but with `--apart`,
which is for other versions of them. This file imports only the standard library, so that any Python
can run it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
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
    """Return the path of an interpreter of a version such as "3.12", or None if none is found.

    The running interpreter is preferred to one from PATH, and that to one from pyenv.
    """
    for python in _candidates(version):
        if _output([str(python), "-c", VERSION]) == version:
            return python
    return None


def _candidates(version: str) -> Iterator[Path]:
    """Yield the paths of interpreters that may have this version.

    This interpreter comes first, then those on the search path, and then those of pyenv. A path may
    be repeated.
    """
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield Path(sys.executable)
    for folder in os.get_exec_path():
        program = shutil.which(f"python{version}", path=folder)
        if program:
            yield Path(program)
    if shutil.which("pyenv"):
        for line in _output(["pyenv", "versions", "--bare"]).split():
            if line.startswith(f"{version}."):
                yield Path(_output(["pyenv", "prefix", line])) / "bin" / "python"


def _output(command: list[str]) -> str:
    """Return the stripped output of a command, or "" if it fails or takes too long."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_ASK)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def made(
    name: str, version: str, python: Path, requirements: Path, apart: bool = False
) -> Path:
    """Make the environment `build/NAME-VERSION`, print that it is made, and return its folder.

    python: the interpreter that makes it. requirements: the file of pip requirements to install,
    relative to the course's folder. apart: True to install the requirements and pytest alone,
    without the course. An environment that was made by the same interpreter from the same pins is
    left unchanged, and nothing is printed. Raises CalledProcessError if the environment cannot be
    made or pip cannot install the packages, and TimeoutExpired if one of them takes too long.
    """
    folder = ROOT / "build" / f"{name}-{version}"
    stamp_file, stamp = folder / "installed.txt", _stamp(python, requirements)
    if stamp_file.exists() and stamp_file.read_text(encoding="utf-8") == stamp:
        return folder
    print(f"Installing into {folder.relative_to(ROOT)}. This takes a few minutes.", flush=True)
    subprocess.run(
        [python, "-m", "venv", "--clear", folder], check=True, timeout=SECONDS_TO_INSTALL
    )
    constraints = folder / "constraints.txt"
    constraints.write_text(_constraints(requirements), encoding="utf-8")
    course = [] if apart else ["--editable", ".[compiler]"]
    packages = ["pytest", *course, "--requirement", str(requirements)]
    quiet = ["--quiet", "--disable-pip-version-check", "--constraint", str(constraints)]
    subprocess.run(
        [_own_python(folder), "-m", "pip", "install", *quiet, *packages],
        cwd=ROOT, check=True, timeout=SECONDS_TO_INSTALL,
    )  # fmt: skip
    stamp_file.write_text(stamp, encoding="utf-8")
    return folder


def _constraints(requirements: Path) -> str:
    """Return the text of constraints.txt without the packages that the requirements pin."""
    pinned = re.findall(r"^([\w-]+)(?:\[\w+\])?==", (ROOT / requirements).read_text("utf-8"), re.M)
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.partition("==")[0] not in pinned)


def _stamp(python: Path, requirements: Path) -> str:
    """Return a text that changes if the interpreter, the folder or the pins change."""
    files = (ROOT / "pyproject.toml", ROOT / "constraints.txt", ROOT / requirements)
    texts = [str(python), str(ROOT), *(file.read_text(encoding="utf-8") for file in files)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _own_python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(folder: Path, arguments: Sequence[str]) -> int:
    """Run the environment's Python with arguments in the course's folder; return its exit code.

    The environment's own programs are first on PATH. Raises TimeoutExpired after 1,800 seconds.
    """
    python = _own_python(folder)
    path = os.pathsep.join([str(python.parent), *os.get_exec_path()])
    return subprocess.run(
        [python, *arguments], cwd=ROOT, env={**os.environ, "PATH": path}, timeout=SECONDS_TO_CHECK
    ).returncode


def main(arguments: list[str] | None = None) -> int:
    """Run the check in an environment per Python version, and return the greatest exit code.

    The code of a version is that of the check; it is 1 if pip fails. A version that is not found is
    reported; its code is 1 if `COURSE_NEEDS_EVERYTHING` is 1, else 0. Raises TimeoutExpired if an
    installation or a check takes too long. arguments: the words of the command line, by default
    those of this process.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="the environments' name; the Python version is appended")
    parser.add_argument("--requirements", type=Path, required=True, help="packages and their pins")
    parser.add_argument("--apart", action="store_true", help="without the course's dependencies")
    parser.add_argument("--pythons", nargs="+", required=True, metavar="VERSION", help="as 3.12")
    parser.add_argument("arguments", nargs="+", help="what that Python is to run, after --")
    options = parser.parse_args(arguments)
    codes = []
    for version in options.pythons:
        python = python_of(version)
        if python is None:
            print(f"No Python {version} was found: the check of {options.name} is left out there.")
            codes.append(int(os.environ.get(NEEDED) == "1"))
            continue
        try:
            folder = made(options.name, version, python, options.requirements, options.apart)
        except subprocess.CalledProcessError:
            print(f"pip could not install {options.name} for Python {version}: see above.")
            codes.append(1)
            continue
        codes.append(run(folder, options.arguments))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
