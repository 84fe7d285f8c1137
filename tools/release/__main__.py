"""Build the wheel of the virtual GPU and the x-ray into build/release, and check it.

The check compares its files with the repository's, and uses it in an environment that has nothing
else of this project. The exit code is 0, or 1 with a sentence.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.release.contents import changes, left_out, too_much, version
from utils.paths import ROOT

BUILD = ROOT / "build" / "release"
CHECK = Path(__file__).with_name("installed.py")
STRANGER = ROOT / "virtual_gpu" / "tests" / "stranger"  # with a file `utils.py` of its own
SECONDS = 600  # for one program


def main() -> int:
    """Build the wheel and check it; return 0, or 1 after a sentence on stderr.

    It is 1 if CHANGELOG.md has no entry for the version, or the wheel has too few or too many
    files. If the installed wheel does not work, the process exits with the output of what failed.
    """
    expected = version()
    if not changes(expected, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        print(f"CHANGELOG.md says nothing of {expected}: write what changes.", file=sys.stderr)
        return 1
    shutil.rmtree(BUILD, ignore_errors=True)
    run([sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", BUILD, "./virtual_gpu"], ROOT)
    (wheel,) = BUILD.glob("*.whl")
    tracked = run(["git", "ls-files"], ROOT).splitlines()
    for what, names in (
        ("leaves out", left_out(wheel, tracked)),
        ("holds, besides its files,", too_much(wheel, tracked)),
    ):
        if names:
            print(f"The wheel {what} {', '.join(names)}.", file=sys.stderr)
            return 1
    with tempfile.TemporaryDirectory() as folder:
        # Folder names with spaces and non-ASCII letters, as users have them.
        stranger = Path(folder) / "möbius strip" / "日本"
        stranger.mkdir(parents=True)
        check(wheel, stranger, expected)
    print(f"{wheel.relative_to(ROOT)} holds everything, and works in a fresh environment.")
    return 0


PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def check(wheel: Path, place: Path, expected: str) -> None:
    """Install the wheel in a new environment with the project's pins, and use it from a folder.

    place: an empty folder for the environment and the programs. expected: the wheel's version.
    Exits with the output of a program that fails.
    """
    run([sys.executable, "-m", "venv", place / "fresh"], place)
    python = place / "fresh" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pins = ROOT / "constraints.txt"
    run([python, *PIP, "install", "--constraint", pins, f"{wheel}[compiler]", "pytest"], place)
    shutil.copytree(STRANGER, place / "work", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECK, place)
    run([python, place / CHECK.name, expected], place / "work")


def run(command: list, folder: Path) -> str:
    """Run a program in a folder and return its stdout; if it fails, exit with its output.

    Environment variables with PYTHON in their name are not passed on.
    """
    environment = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
    environment["XRAY_CACHE"] = str(BUILD / "xray")
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    if result.returncode:
        raise SystemExit(
            f"{' '.join(map(str, command[:5]))} failed:\n{result.stdout}{result.stderr}"
        )
    return result.stdout


if __name__ == "__main__":
    sys.exit(main())
