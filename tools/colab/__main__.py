"""Runs every lesson as in Colab, and says which of its packages the course changes.

``python -m tools.colab`` replays the list in data/platforms/; ``--list FILE`` another one, which is
the output of ``pip freeze`` in Colab. Exit code: 0, 1 where a lesson fails or NumPy or IPython
change, 2 where nothing can be replayed although COURSE_NEEDS_EVERYTHING is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tools.colab import replay
from tools.colab.image import NoImage, copied, image, packages_of
from tools.colab.replay import Replay
from utils.paths import DATA, NOTEBOOKS, ROOT

BUILD = ROOT / "build" / "colab"
NEVER = ("numpy", "ipython")
NEEDED = "COURSE_NEEDS_EVERYTHING"  # where it is 1, what cannot be replayed is a failure
SECONDS = 2400  # for half of the lessons, also where other programs run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.colab", description=__doc__)
    newest = max((DATA / "platforms").glob("colab_*.txt"))
    parser.add_argument("--list", type=Path, default=newest, help="Colab's packages")
    parser.add_argument("--python", default="3.13", help="Colab's version of Python")
    parser.add_argument("--lessons", nargs="*", default=[], help="such as 07; default: all")
    asked = parser.parse_args()
    try:
        original = image(asked.list, asked.python, BUILD)
    except NoImage as reason:
        print(reason, file=sys.stderr)
        return 2 if os.environ.get(NEEDED) == "1" else 0
    print(f"Replaying {asked.list.name} on Python {asked.python}.", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        course = replay.fork(Path(folder))
        failed = run_lessons(Replay(copied(original, BUILD / "cpu"), course), asked.lessons)
        failed |= changes(original, BUILD / "cpu", "Without a driver")
        t4 = Replay(copied(original, BUILD / "t4"), course)
        print(replay.with_a_t4(t4), end="")
        failed |= changes(original, t4.python, "With a T4 and a driver for CUDA 12.4")
    return 1 if failed else 0


def run_lessons(at: Replay, asked: list[str]) -> bool:
    """Whether one fails. The first installs, alone; the others run in two halves."""
    first, *others = asked or sorted(file.name[:2] for file in NOTEBOOKS.glob("[0-9]*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder)
        codes = [replay.lessons(at, content, [first]).wait(SECONDS)]
        halves = [half for half in (others[::2], others[1::2]) if half]
        running = [replay.lessons(at, content, half) for half in halves]
        try:
            codes += [half.wait(SECONDS) for half in running]
        finally:
            for half in running:
                half.terminate()
    return any(codes)


def changes(before: Path, after: Path, where: str) -> bool:
    """Print what the course has changed there; whether it is what it must never change."""
    old, new = packages_of(before), packages_of(after)
    changed = [name for name in sorted(old | new) if old.get(name) != new.get(name)]
    print(f"{where}, {len(changed)} packages change:")
    for name in changed:
        print(f"  {name}: {old.get(name, 'none')} -> {new.get(name, 'none')}")
    forbidden = [name for name in NEVER if name in changed]
    if forbidden:
        print(f"The course must leave {' and '.join(forbidden)} alone.", file=sys.stderr)
    return bool(forbidden)


if __name__ == "__main__":
    sys.exit(main())
