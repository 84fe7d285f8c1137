"""Build the wheel into build/release, and check it: what it holds, and what it does when installed.

Exit code: 0, or 1 with a sentence.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.release.contents import changes, left_out, version
from utils.paths import ROOT

BUILD = ROOT / "build" / "release"
CHECK = Path(__file__).with_name("installed.py")
SECONDS = 600  # that one program may take


def main() -> int:
    wanted = version()
    if not changes(wanted, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        print(f"CHANGELOG.md says nothing of {wanted}: write what changes.", file=sys.stderr)
        return 1
    shutil.rmtree(BUILD, ignore_errors=True)
    run([sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", BUILD, ROOT], ROOT)
    (wheel,) = BUILD.glob("*.whl")
    tracked = run(["git", "ls-files"], ROOT).splitlines()
    if missing := left_out(wheel, tracked):
        print(f"The wheel leaves out {', '.join(missing)}.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        # Names of folders as people have them.
        place = Path(folder) / "möbius strip" / "日本"
        place.mkdir(parents=True)
        check(wheel, place, wanted)
    print(f"{wheel.relative_to(ROOT)} holds everything, and works in a fresh environment.")
    return 0


PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def check(wheel: Path, place: Path, wanted: str) -> None:
    """Install the wheel with the pins of the project, and use it from an empty folder."""
    run([sys.executable, "-m", "venv", place / "fresh"], place)
    python = place / "fresh" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pins = ROOT / "constraints.txt"
    run([python, *PIP, "install", "--constraint", pins, f"{wheel}[compiler]"], place)
    (place / "empty").mkdir()
    run([python, CHECK, wanted], place / "empty")


def run(command: list, folder: Path) -> str:
    """What a program prints; where it fails, this one ends with all that it said."""
    environment = {**os.environ, "PYTHONPATH": "", "XRAY_CACHE": str(BUILD / "xray")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command[:5]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
