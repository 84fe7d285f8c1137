"""Grade a class of 200 by the real command line, and check that every mark is deserved.

`python -m tests.labs.grading.class_of_200`, or `make class`. The class hands in right functions in
every file format, other right functions, mutants, starters, attacks and broken files. Twenty of the
attacks come from a review, and four of these are hungry. All must be graded with at most
MOST_CORE_SECONDS of processor time, which is five minutes of two cores. One command is killed and
resumed, and one gets its files in another order.
"""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import resource
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

from labs.checking.exercise import KernelExercise
from labs.checking.variants import wrong_versions
from labs.grading import class_page
from labs.grading.equivalents import equivalents
from labs.grading.grade import grade
from labs.grading.labs import Lab, find
from labs.grading.mutants import sample
from labs.grading.submissions import Submission
from tests.labs.grading.attacks import ATTACKS
from tests.labs.grading.review_attacks import Attack, attacks_on
from utils.paths import ROOT

SECRET = "the secret of a class of two hundred"
SIZES = {"tiling": 94, "occupancy": 38, "first_kernel": 40, "latency": 28}
REVIEWED, HUNGRY = 20, 4  # attacks of the review, and the hungry ones among them
MOST_CORE_SECONDS = 2 * 300  # of the processor, for all four labs; a busy machine takes longer
SMALL = "first_kernel"  # what is killed, resumed, and graded in another order
MARKER = "CLASS_OF_200"  # in the environment of every process that a command starts
PATIENCE = 3600  # seconds of one command; a busy machine may be ten times slower
MUTANTS = 40  # of a lab at most
CAUSES, RESPELLED = 3, 4  # planted mistakes of a lab, and the submissions with each of them
# What two submissions with one cause need not share: code, elements, and which of two barriers a
# race lacks, which depends on the threads that are named.
OWN = r"<code>.*?</code>|`[^`]*`|<[^>]*>|\w+\[[^\]]*\]|syncwarp\(\) or "
LOSING = 0.75  # the share of mutants that must lose points; others change no result and no count


@dataclass(frozen=True)
class Student:
    """One submission.

    ending, raw: the suffix and the content of its file. least, most: the percentage of points that
    it deserves. attack: an attack whose files are written instead. says: of a planted mistake, its
    sentence in `wrong.py`; "" for other submissions.
    """

    kind: str
    ending: str
    raw: bytes
    least: int
    most: int
    attack: Attack | None = None
    says: str = ""


def students(lab: Lab) -> Iterator[Student]:
    """Yield more submissions than a class has; mutants come last."""
    solution = whole(lab)
    yield from (Student("right", *form, 100, 100) for form in forms(solution))
    yield Student("starter", ".py", whole(lab, "starter").encode(), 0, 33)
    yield from (Student("broken", *file, 0, 0) for file in broken(solution))
    for one in attacks_on(lab):
        yield Student("reviewed", "", b"", one.least, one.most, one)
    if lab.name == "tiling":
        yield from (Student("attack", ".py", raw, 0, 0) for raw in ATTACKS.values())
    yield from planted(lab)
    for _, text in equivalents(solution):
        yield Student("equivalent", ".py", text.encode(), 100, 100)
    for text in (file.text for file in sample(solution, MUTANTS)):
        yield Student("mutant", ".py", text.encode(), 0, 100)


def planted(lab: Lab) -> Iterator[Student]:
    """Yield, for a lab of kernels, RESPELLED spellings of each of CAUSES known mistakes."""
    first, *others = (part.definition for part in lab.parts)
    if not isinstance(first, KernelExercise):
        return
    rest = "\n\n".join(one.solution_text for one in others)
    known = {one.says: one.text for one in wrong_versions(first)}
    spelled = {
        says: texts
        for says, text in known.items()
        if len(texts := [each for _, each in islice(equivalents(text), RESPELLED)]) == RESPELLED
    }
    for says in islice(spelled, CAUSES):
        for text in spelled[says]:
            raw = f"{text}\n\n{rest}".encode()
            yield Student("planted", ".py", raw, 0, 100, says=says)


def whole(lab: Lab, kind: str = "solution") -> str:
    """Return the text of all parts of a lab."""
    return "\n\n".join(getattr(part.definition, f"{kind}_text") for part in lab.parts)


def forms(text: str) -> Iterator[tuple[str, bytes]]:
    """Yield a right text in several formats, also as Colab's notebook and as a Windows file."""
    yield ".py", text.encode()
    yield ".py", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    yield ".py", text.encode("utf-16")
    cells = [{"cell_type": "code", "source": ["%pip install numba\n", *text.splitlines(True)]}]
    yield ".ipynb", json.dumps({"cells": cells}).encode()
    yield ".zip", zipped("folder/work.ipynb", json.dumps({"cells": cells}).encode())


def broken(text: str) -> Iterator[tuple[str, bytes]]:
    """Yield files that hold no Python text."""
    yield ".py", b""
    yield ".py", text.encode("utf-16-le")  # without the mark that says so
    yield ".py", b"def " + text.encode()[:300]
    yield ".ipynb", text.encode()
    yield ".ipynb", b'{"cells": [{"cell_type": "code"}]}'
    yield ".zip", zipped("work.py", text.encode())[:-40]
    yield ".zip", zipped("work.txt", text.encode())


def zipped(name: str, raw: bytes) -> bytes:
    """Return the content of a zip with one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, raw)
    return file.getvalue()


def written(lab: Lab, count: int, folder: Path) -> dict[str, Student]:
    """Write a lab's submissions into a folder; return them by student name."""
    folder.mkdir(parents=True)
    class_list = {}
    for number, student in enumerate(islice(students(lab), count)):
        if student.attack:
            class_list[student.attack.student] = student
            for path, raw in student.attack.files:
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_bytes(raw)
            continue
        name = f"Žofie {student.kind} {number:03}"
        (folder / f"{name}{student.ending}").write_bytes(student.raw)
        class_list[name] = student
    return class_list


@dataclass(frozen=True)
class Workspace:
    """A folder in which commands run.

    marker: the value of an environment variable that identifies their processes.
    """

    root: Path
    marker: str

    def command(self, lab: str, paths: list[Path], out: str, workers: int) -> subprocess.Popen:
        """Start `python -m labs grade` in a folder that must stay empty."""
        folder = self.root / "here"
        folder.mkdir(exist_ok=True)
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {
            **os.environ, MARKER: self.marker, "COURSE_SECRET": SECRET, "PYTHONPATH": path,
        }  # fmt: skip
        arguments = ["grade", lab, *map(str, paths), "--out", str(self.root / out)]
        with self.errors_file.open("wb") as stream:
            return subprocess.Popen(
                [sys.executable, "-m", "labs", *arguments, "--workers", str(workers)],
                cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=stream,
            )  # fmt: skip

    @property
    def errors_file(self) -> Path:
        """The file with the last command's standard error."""
        return self.root / "told.txt"

    def grade(self, lab: str, paths: list[Path], out: str, workers: int) -> dict[str, dict]:
        """Run a command to its end and return its table's rows by student."""
        code = self.command(lab, paths, out, workers).wait(PATIENCE)
        if code:
            errors = self.errors_file.read_text(encoding="utf-8", errors="replace")[-500:]
            raise SystemExit(f"The command for {lab} ended with {code}: {errors}")
        with (self.root / out / f"{lab}.csv").open(encoding="utf-8", newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def processes_left(self) -> list[int]:
        """Return the process numbers of commands that still run, on Linux."""
        marker, pids = f"{MARKER}={self.marker}".encode(), []
        for file in Path("/proc").glob("[0-9]*/environ"):
            try:
                if marker in file.read_bytes().split(b"\0"):
                    pids.append(int(file.parent.name))
            except OSError:
                continue
        return [pid for pid in pids if pid != os.getpid()]

    def kill_half_way(self, lab: str, paths: list[Path], out: str, half: int) -> int:
        """Kill a command once it has stored `half` marks; return the number of stored marks."""
        process, kept = self.command(lab, paths, out, 2), self.root / out / "graded"
        deadline = time.monotonic() + PATIENCE
        while len(list(kept.glob("*.json"))) < half and process.poll() is None:
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        return len(list(kept.glob("*.json")))


def wrong_marks(
    class_list: dict[str, Student], rows: dict[str, dict], pages: Path
) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with a lab's marks and pages."""
    if set(rows) != set(class_list):
        yield f"{len(rows)} rows for {len(class_list)} students."
    for name, student in class_list.items():
        percent = 100 * float(rows[name]["points"]) / float(rows[name]["of"])
        if not student.least <= percent <= student.most:
            yield f"{name} has {percent:.0f} %, and deserves {student.least} to {student.most} %."
    mutants = [name for name, student in class_list.items() if student.kind == "mutant"]
    losing = sum(float(rows[name]["points"]) < float(rows[name]["of"]) for name in mutants)
    if losing < LOSING * len(mutants):
        yield f"Only {losing} of {len(mutants)} mutants lose points."
    for kind in ("feedback.md", "feedback.html", "results.json"):
        count = len(list(pages.glob(f"*/{kind}")))
        if count != len(class_list):
            yield f"{count} pages {kind} for {len(class_list)} students."


def missing_groups(lab: Lab, class_list: dict[str, Student], page: str) -> Iterator[str]:
    """Yield a sentence for every planted mistake that is no group of the instructor's page.

    The sentence of a group is that of one submission, marked here with the secret of the class.
    """
    planted_ones = {one.says: one for one in class_list.values() if one.says}
    shown = [words_of(one) for one in page.split('<div class="group">')[1:]]
    for says, one in planted_ones.items():
        count = sum(other.says == says for other in class_list.values())
        mark = grade(lab, Submission("Žofie", (("work.py", one.raw),)), SECRET)
        (group,) = class_page.groups([mark], lab.parts[0])
        told = words_of(f"first {html.escape(group.sentence, quote=False)}").removeprefix("first ")
        if not any(told in each and int(each.split()[0]) >= count for each in shown):
            yield f"No group of {count} has the cause of: {says}"


def words_of(text: str) -> str:
    """Return the words of a sentence or an HTML fragment, without OWN; numbers become 0.

    The first word, which is the count of a group, stays as it is.
    """
    first, *words = re.sub(OWN, " ", text).split()
    return " ".join([first, *(re.sub(r"\d[\d,]*", "0", word) for word in words)])


def failures(workspace: Workspace, workers: int) -> Iterator[str]:
    """Grade everything and yield a sentence for every failure."""
    total, seconds, worked, rows, reviewed = 0, 0.0, 0.0, {}, []
    for name, count in SIZES.items():
        folder = workspace.root / "class" / name
        class_list = written(find(name), count, folder)
        reviewed += [one.attack for one in class_list.values() if one.attack]
        start, before = time.monotonic(), core_seconds()
        rows[name] = workspace.grade(name, [folder], f"out_{name}", workers)
        took, total = time.monotonic() - start, total + len(class_list)
        seconds, worked = seconds + took, worked + core_seconds() - before
        print(
            f"{name:16} {len(class_list):4} submissions {took:6.0f} s, "
            f"{core_seconds() - before:.0f} s of a core",
            flush=True,
        )
        out = workspace.root / f"out_{name}"
        yield from wrong_marks(class_list, rows[name], out / "feedback")
        page = (out / f"{name}_causes.html").read_text(encoding="utf-8")
        yield from missing_groups(find(name), class_list, page)
    rate = f"{60 * total / seconds:.0f} a minute"
    print(f"{'together':16} {total:4} submissions {seconds:6.0f} s, {rate}", flush=True)
    print(f"{'processor time':16} {worked:.0f} s of a core, {worked / 2:.0f} s on two", flush=True)
    if worked > MOST_CORE_SECONDS:
        yield f"The class took {worked:.0f} s of a core; {MOST_CORE_SECONDS} s are allowed."
    if total != 200:
        yield f"The class has {total} submissions."
    hungry = sum("hungry" in one.what for one in reviewed)
    if (len(reviewed), hungry) != (REVIEWED, HUNGRY):
        yield f"The class has {len(reviewed)} attacks of the review, {hungry} of them hungry."
    yield from small_failures(workspace, rows[SMALL], workers)
    if workspace.processes_left():
        yield f"Processes are left: {workspace.processes_left()}."
    if list((workspace.root / "here").iterdir()):
        yield "A submission has written a file."


def core_seconds() -> float:
    """Return the processor time of all processes that were started here and have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def small_failures(workspace: Workspace, rows: dict[str, dict], workers: int) -> Iterator[str]:
    """Yield failures of a command that is resumed, and of one with reversed files."""
    folder = workspace.root / "class" / SMALL
    kept = workspace.kill_half_way(SMALL, [folder], "out_killed", SIZES[SMALL] // 2)
    if not 0 < kept < SIZES[SMALL]:
        yield f"The command was killed with {kept} of {SIZES[SMALL]} graded."
    print(f"{'killed':16} {kept:4} of {SIZES[SMALL]} kept, then resumed", flush=True)
    if workspace.grade(SMALL, [folder], "out_killed", workers) != rows:
        yield "A command that is killed and resumed gives other marks."
    files = sorted(folder.iterdir(), reverse=True)
    if workspace.grade(SMALL, files, "out_reversed", 1) != rows:
        yield "Another order gives other marks."


def main() -> int:
    """Return 0 if every mark is deserved, else 1."""
    with tempfile.TemporaryDirectory() as folder:
        sentences = list(failures(Workspace(Path(folder), uuid.uuid4().hex), os.cpu_count() or 1))
    print("\n".join(sentences) or "Every mark is deserved.")
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
