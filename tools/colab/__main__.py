"""Run every lesson as in Colab, and list the packages that the course changes there.

``python -m tools.colab`` uses the newest list of packages in data/platforms/; ``--list FILE`` uses
another one, the output of ``pip freeze`` in Colab. The exit code is 0 on success, 1 if a lesson
fails or NumPy or IPython change, and 2 if Colab cannot be reproduced although
COURSE_NEEDS_EVERYTHING is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tools.colab import replay
from tools.colab.image import NoImage, build_image, hard_link_copy, packages_of
from tools.colab.replay import Replay
from utils.paths import DATA, ROOT, lessons

BUILD = ROOT / "build" / "colab"
NEVER = ("numpy", "ipython")
NEEDED = "COURSE_NEEDS_EVERYTHING"  # if 1, the exit code is 2 when Colab cannot be reproduced
SECONDS = 2400  # for half of the lessons, on a machine that may be busy


def main() -> int:
    """Replay Colab without a driver and with a T4, and return the exit code.

    It is 1 if a lesson fails or a package changes that must not. If the image cannot be made, it is
    2 if the environment variable COURSE_NEEDS_EVERYTHING is "1". Otherwise it is 0.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.colab", description=__doc__)
    newest = max((DATA / "platforms").glob("colab_*.txt"))
    parser.add_argument("--list", type=Path, default=newest, help="Colab's packages")
    parser.add_argument("--python", default="3.13", help="Colab's version of Python")
    parser.add_argument("--lessons", nargs="*", default=[], help="such as 07; default: all")
    options = parser.parse_args()
    try:
        original = build_image(options.list, options.python, BUILD)
    except NoImage as reason:
        print(reason, file=sys.stderr)
        return 2 if os.environ.get(NEEDED) == "1" else 0
    print(f"Replaying {options.list.name} on Python {options.python}.", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        course = replay.fork(Path(folder))
        failed = run_lessons(
            Replay(hard_link_copy(original, BUILD / "cpu"), course), options.lessons
        )
        failed |= changes(original, BUILD / "cpu", "Without a driver")
        t4 = Replay(hard_link_copy(original, BUILD / "t4"), course)
        print(replay.with_a_t4(t4), end="")
        failed |= changes(original, t4.python, "With a T4 and a driver for CUDA 12.4")
    return 1 if failed else 0


def run_lessons(environment: Replay, numbers: list[str]) -> bool:
    """Run lessons in an environment and return True if a lesson fails.

    numbers: the lessons' numbers, such as "07"; if empty, all lessons run. The first lesson runs
    alone, because it installs packages; the others run in two halves. Raises
    subprocess.TimeoutExpired if one of these runs takes more than `SECONDS`.
    """
    first, *others = numbers or lessons()
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder)
        codes = [replay.lessons(environment, content, [first]).wait(SECONDS)]
        halves = [half for half in (others[::2], others[1::2]) if half]
        running = [replay.lessons(environment, content, half) for half in halves]
        try:
            codes += [half.wait(SECONDS) for half in running]
        finally:
            for half in running:
                half.terminate()
    return any(codes)


def changes(before: Path, after: Path, where: str) -> bool:
    """Print the packages that differ between two environments; return True if one of `NEVER` does.

    before, after: the folders of the environments. where: the beginning of the printed sentence.
    """
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
