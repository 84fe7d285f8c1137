"""Grades a class of 200 by the real command line, and says whether every mark is deserved.

`python -m tests.labs.grading.class_of_200`, or `make class`. Right functions in every form, other
right ones, mutants, starters, attacks and broken files; one command is killed and resumed, and one
gets its files in another order.
"""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from labs.grading.equivalents import equivalents
from labs.grading.labs import Lab, find
from labs.grading.mutants import sample
from tests.labs.grading.attacks import ATTACKS
from utils.paths import ROOT

SECRET = "the secret of a class of two hundred"
SIZES = {"tiling": 102, "occupancy": 38, "first_kernel": 32, "latency": 28}
SMALL = "first_kernel"  # what is killed, resumed, and graded in another order
MARKER = "CLASS_OF_200"  # in the environment of every process that a command starts
PATIENCE = 900  # seconds of one command
MUTANTS = 40  # of a lab at most
LOSING = 0.75  # of all mutants so many must lose points; the others change no result and no count


@dataclass(frozen=True)
class Student:
    """One submission. ending, raw: of its file. least, most: percents that it deserves."""

    kind: str
    ending: str
    raw: bytes
    least: int
    most: int


def students(lab: Lab) -> Iterator[Student]:
    """More than a class has; mutants come last."""
    solution = whole(lab)
    yield from (Student("right", *form, 100, 100) for form in forms(solution))
    yield Student("starter", ".py", whole(lab, "starter").encode(), 0, 33)
    yield from (Student("broken", *one, 0, 0) for one in broken(solution))
    if lab.name == "tiling":
        yield from (Student("attack", ".py", raw, 0, 0) for raw in ATTACKS.values())
    for _, text in equivalents(solution):
        yield Student("equivalent", ".py", text.encode(), 100, 100)
    for text in (one.text for one in sample(solution, MUTANTS)):
        yield Student("mutant", ".py", text.encode(), 0, 100)


def whole(lab: Lab, kind: str = "solution") -> str:
    """The text of all parts."""
    return "\n\n".join(getattr(part.asked, f"{kind}_text") for part in lab.parts)


def forms(text: str) -> Iterator[tuple[str, bytes]]:
    """A right text as it may come: also as Colab's notebook without metadata, and from Windows."""
    yield ".py", text.encode()
    yield ".py", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    cells = [{"cell_type": "code", "source": ["%pip install numba\n", *text.splitlines(True)]}]
    yield ".ipynb", json.dumps({"cells": cells}).encode()
    yield ".zip", zipped("folder/work.ipynb", json.dumps({"cells": cells}).encode())


def broken(text: str) -> Iterator[tuple[str, bytes]]:
    """Files that hold no text of Python."""
    yield ".py", b""
    yield ".py", text.encode("utf-16")
    yield ".py", b"def " + text.encode()[:300]
    yield ".ipynb", text.encode()
    yield ".ipynb", b'{"cells": [{"cell_type": "code"}]}'
    yield ".zip", zipped("work.py", text.encode())[:-40]
    yield ".zip", zipped("work.txt", text.encode())


def zipped(name: str, raw: bytes) -> bytes:
    """A zip with one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, raw)
    return file.getvalue()


def written(lab: Lab, count: int, folder: Path) -> dict[str, Student]:
    """The submissions of a lab as files, by the names of their students."""
    folder.mkdir(parents=True)
    every = {}
    for number, one in enumerate(islice(students(lab), count)):
        name = f"Žofie {one.kind} {number:03}"
        (folder / f"{name}{one.ending}").write_bytes(one.raw)
        every[name] = one
    return every


@dataclass(frozen=True)
class Place:
    """Where commands work. marker: tells their processes from all others."""

    root: Path
    marker: str

    def command(self, lab: str, paths: list[Path], out: str, workers: int) -> subprocess.Popen:
        """`python -m labs grade`, in a folder that must stay empty."""
        here = self.root / "here"
        here.mkdir(exist_ok=True)
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {
            **os.environ, MARKER: self.marker, "COURSE_SECRET": SECRET, "PYTHONPATH": path,
        }  # fmt: skip
        arguments = ["grade", lab, *map(str, paths), "--out", str(self.root / out)]
        with self.told.open("wb") as told:
            return subprocess.Popen(
                [sys.executable, "-m", "labs", *arguments, "--workers", str(workers)],
                cwd=here, env=environment, stdout=subprocess.DEVNULL, stderr=told,
            )  # fmt: skip

    @property
    def told(self) -> Path:
        """What the last command told besides its result."""
        return self.root / "told.txt"

    def graded(self, lab: str, paths: list[Path], out: str, workers: int) -> dict[str, dict]:
        """The rows of a command that ended by itself, by student."""
        code = self.command(lab, paths, out, workers).wait(PATIENCE)
        if code:
            told = self.told.read_text(encoding="utf-8", errors="replace")[-500:]
            raise SystemExit(f"The command for {lab} ended with {code}: {told}")
        with (self.root / out / f"{lab}.csv").open(encoding="utf-8", newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def left(self) -> list[int]:
        """Processes of a command that still run; of Linux."""
        wanted, found = f"{MARKER}={self.marker}".encode(), []
        for file in Path("/proc").glob("[0-9]*/environ"):
            try:
                if wanted in file.read_bytes().split(b"\0"):
                    found.append(int(file.parent.name))
            except OSError:
                continue
        return [pid for pid in found if pid != os.getpid()]

    def killed_half_way(self, lab: str, paths: list[Path], out: str, half: int) -> int:
        """Kills a command when so many are kept. Gives how many were."""
        process, kept = self.command(lab, paths, out, 2), self.root / out / "graded"
        until = time.monotonic() + PATIENCE
        while len(list(kept.glob("*.json"))) < half and process.poll() is None:
            if time.monotonic() > until:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        return len(list(kept.glob("*.json")))


def wrong_marks(every: dict[str, Student], rows: dict[str, dict], pages: Path) -> Iterator[str]:
    """What is not as it should be, each in a sentence."""
    if set(rows) != set(every):
        yield f"{len(rows)} rows for {len(every)} students."
    for name, one in every.items():
        percent = 100 * float(rows[name]["points"]) / float(rows[name]["of"])
        if not one.least <= percent <= one.most:
            yield f"{name} has {percent:.0f} %, and deserves {one.least} to {one.most} %."
    mutants = [name for name, one in every.items() if one.kind == "mutant"]
    losing = sum(float(rows[name]["points"]) < float(rows[name]["of"]) for name in mutants)
    if losing < LOSING * len(mutants):
        yield f"Only {losing} of {len(mutants)} mutants lose points."
    for kind in ("feedback.md", "feedback.html", "results.json"):
        count = len(list(pages.glob(f"*/{kind}")))
        if count != len(every):
            yield f"{count} pages {kind} for {len(every)} students."


def failures(place: Place, workers: int) -> Iterator[str]:
    """Grades everything, and says what is wrong."""
    total, seconds, rows = 0, 0.0, {}
    for name, count in SIZES.items():
        folder = place.root / "class" / name
        every = written(find(name), count, folder)
        start = time.monotonic()
        rows[name] = place.graded(name, [folder], f"out_{name}", workers)
        took, total = time.monotonic() - start, total + len(every)
        seconds += took
        print(f"{name:16} {len(every):4} submissions {took:6.0f} s", flush=True)
        yield from wrong_marks(every, rows[name], place.root / f"out_{name}" / "feedback")
    rate = f"{60 * total / seconds:.0f} a minute"
    print(f"{'together':16} {total:4} submissions {seconds:6.0f} s, {rate}", flush=True)
    if total != 200:
        yield f"The class has {total} submissions."
    yield from small_failures(place, rows[SMALL], workers)
    if place.left():
        yield f"Processes are left: {place.left()}."
    if list((place.root / "here").iterdir()):
        yield "A submission has written a file."


def small_failures(place: Place, rows: dict[str, dict], workers: int) -> Iterator[str]:
    """One command that is killed and resumed, and one with its files in another order."""
    folder = place.root / "class" / SMALL
    kept = place.killed_half_way(SMALL, [folder], "out_killed", SIZES[SMALL] // 2)
    if not 0 < kept < SIZES[SMALL]:
        yield f"The command was killed with {kept} of {SIZES[SMALL]} graded."
    print(f"{'killed':16} {kept:4} of {SIZES[SMALL]} kept, then resumed", flush=True)
    if place.graded(SMALL, [folder], "out_killed", workers) != rows:
        yield "A command that is killed and resumed gives other marks."
    files = sorted(folder.iterdir(), reverse=True)
    if place.graded(SMALL, files, "out_reversed", 1) != rows:
        yield "Another order gives other marks."


def main() -> int:
    """0 where every mark is deserved."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(failures(Place(Path(folder), uuid.uuid4().hex), os.cpu_count() or 1))
    print("\n".join(found) or "Every mark is deserved.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
