"""The sub-commands of `python -m labs`: grade, names, handout, list, selftest."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import hmac
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
from tqdm import tqdm

from labs.checking.phrasing import counted
from labs.grading import feedback, speed
from labs.grading.batch import graded
from labs.grading.feedback import shown
from labs.grading.grade import Graded
from labs.grading.handout import notebook
from labs.grading.labs import LABS, Lab, find
from labs.grading.private import SECRET, outside, secret_of
from labs.grading.reading import Submission, collected, neutral, own
from labs.grading.sandbox import require_sandbox
from labs.grading.selftest import LEAST_MUTANTS, LEAST_RIGHT, Summary, summaries, tried
from utils.errors import CourseError
from utils.measuring.command_line import device_for

MUTANTS = 24  # of each exercise, in a self-test of usual length
CORES = str(os.cpu_count() or 1)
PROCESSES = "processes at a time (default: one for each core)"
INTERRUPTED = 130  # the exit code of what Ctrl-C ended
SELFTEST_SECRET = "the secret of the self-test"  # its shapes are no secret


def add_to(commands) -> None:
    """The sub-commands, in a parser's list of them."""
    _add_grade(commands.add_parser("grade", help="give marks for a folder, by the text"))
    _add_names(commands.add_parser("names", help="show whose name `grade --hash-names` hashes"))
    handout = commands.add_parser("handout", help="write the notebooks that students get")
    handout.add_argument("labs", nargs="+", metavar="LAB", help=f"all, or {', '.join(LABS)}")
    handout.add_argument("--out", type=Path, required=True, help="folder for the notebooks")
    handout.set_defaults(run=write_handouts)
    listed = commands.add_parser("list", help="the labs, with their minutes and points")
    listed.set_defaults(run=list_labs)
    selftest = commands.add_parser("selftest", help="grade solutions, starters and mutants")
    selftest.add_argument("labs", nargs="*", metavar="LAB", help="default: all")
    selftest.add_argument(
        "--all", action="store_true",
        help=f"every mutant, in place of {MUTANTS} of each exercise, spread over the rules",
    )  # fmt: skip
    selftest.add_argument("--workers", default=CORES, metavar="N", help=PROCESSES)
    selftest.set_defaults(run=run_selftest)


def _add_grade(parser: argparse.ArgumentParser) -> None:
    parser.description = "Give marks for submissions, by their text."
    parser.add_argument("lab", metavar="LAB", help=f"one of {', '.join(LABS)}")
    _add_submissions(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder for marks and feedback")
    parser.add_argument(
        "--workers", default=CORES, metavar="N|ADDRESS",
        help=f"{PROCESSES}; or the address of a Dask scheduler, whose workers then grade",
    )  # fmt: skip
    parser.add_argument(
        "--speed", action="store_true",
        help="on a GPU: report beside the marks how fast the right kernels are there",
    )  # fmt: skip
    parser.add_argument(
        "--hash-names", action="store_true", help="write hashes of names in place of names"
    )
    parser.set_defaults(run=run)


def _add_names(parser: argparse.ArgumentParser) -> None:
    parser.description = "For each submission its hash and its name: keep them to yourself."
    _add_submissions(parser)
    parser.set_defaults(run=list_names)


def _add_submissions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH",
        help="folders and files: .py, .ipynb, .zip; a folder within a folder is one student's",
    )  # fmt: skip
    parser.add_argument(
        "--secret", type=Path,
        help=f"file with the secret of this class, outside of the course; or the variable {SECRET}",
    )  # fmt: skip


def write_handouts(arguments: argparse.Namespace) -> int:
    """One notebook for each lab. Raises CourseError."""
    names = list(LABS) if arguments.labs == ["all"] else arguments.labs
    labs = [find(name) for name in names]
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        for lab in labs:
            nbformat.write(notebook(lab), arguments.out / f"{lab.name}.ipynb")
    except OSError as error:
        raise CourseError(f"{arguments.out} cannot be written: {error.strerror}.") from None
    print(f"{counted(len(labs), 'notebook')}: {arguments.out}")
    return 0


def list_labs(arguments: argparse.Namespace) -> int:
    """The labs, one a line."""
    rows = [(lab, ", ".join(lab.lessons)) for lab in LABS.values()]
    name, lessons = max(len(lab.name) for lab in LABS.values()), max(len(row[1]) for row in rows)
    for lab, needed in rows:
        print(
            f"{lab.name:{name}}  {lab.minutes:3} min  {lab.points:3} points  {needed:{lessons}}"
            f"  {lab.title}"
        )
    return 0


def run_selftest(arguments: argparse.Namespace) -> int:
    """The table of what the grader gives to right and wrong work; 1 where it is wrong."""
    labs = [find(name) for name in arguments.labs or LABS]
    _hold_sandbox_ready(labs)
    most, workers = None if arguments.all else MUTANTS, _processes(arguments.workers)
    print(
        "Needed: all points for the solution and for other right functions, at least "
        f"{LEAST_RIGHT}; a third at most for the starter; and {LEAST_MUTANTS} mutants that lose "
        "points and are told the cause."
    )
    print(f"{'exercise':20} solution  starter  right  all points  mutants  caught  cause  seconds")
    wrong = []
    for lab in labs:
        found = list(tried(lab, SELFTEST_SECRET, workers, most))
        for line in summaries(lab, found):
            _print_line(line)
            wrong += [f"{line.part}: {one}" for one in line.wrong]
    print("\n".join(wrong) or "All of this holds.")
    return 1 if wrong else 0


def _print_line(line: Summary) -> None:
    (solution,), (starter,) = line.of_kind("solution"), line.of_kind("starter")
    right, caught = line.of_kind("right"), line.caught
    print(
        f"{line.part:20} {shown(solution.points):>8} {shown(starter.points):>8} {len(right):>6}"
        f" {sum(one.full for one in right):>11} {len(line.of_kind('mutant')):>8} {len(caught):>7}"
        f" {sum(one.named for one in caught):>6} {line.seconds:>8.0f}",
        flush=True,
    )
    for one in line.kept:
        print(f"    keeps all points: {one.what}")


def run(arguments: argparse.Namespace) -> int:
    """Grade, and say where the marks are. Raises CourseError."""
    lab, secret = find(arguments.lab), secret_of(arguments.secret)
    outside(arguments.out, "--out")
    address = "://" in arguments.workers
    workers = arguments.workers if address else _processes(arguments.workers)
    submissions = _submissions(arguments.paths, neutral if arguments.hash_names else own)
    if not address:  # workers beyond this machine refuse by themselves
        _hold_sandbox_ready([lab])
    if arguments.hash_names:
        submissions = [replace(one, student=_hashed(one.student, secret)) for one in submissions]
    every = graded(lab, submissions, secret, arguments.out, workers)
    try:
        found = _shown_as_graded(lab, every, len(submissions), arguments.out)
    except KeyboardInterrupt:
        print("Stopped. What was graded is kept: run the command again to go on.", file=sys.stderr)
        return INTERRUPTED
    table = arguments.out / f"{lab.name}.csv"
    _write(table, feedback.as_csv(lab, found))
    best = sum(one.points == one.of for one in found)
    print(f"{counted(len(found), 'submission')}, {best} with all {lab.points} points: {table}")
    if arguments.speed:
        _report_speed(lab, submissions, found, arguments.out)
    return 0


def list_names(arguments: argparse.Namespace) -> int:
    """Each hash with the name that it stands for. Raises CourseError."""
    secret = secret_of(arguments.secret)
    for one in _submissions(arguments.paths, own):
        print(f"{_hashed(one.student, secret)}  {one.student}")
    return 0


def _submissions(paths: list[Path], called: Callable[[str], str]) -> list[Submission]:
    """What was handed in. Raises CourseError where there is nothing."""
    missing = [path for path in paths if not path.exists() and not path.is_symlink()]
    if missing:
        raise CourseError(f"There is no {missing[0]}: give folders and files of submissions.")
    submissions = collected(paths, called)
    if not submissions:
        raise CourseError(f"No .py, .ipynb or .zip was found in {', '.join(map(str, paths))}.")
    return submissions


def _report_speed(lab: Lab, submissions: list, found: list[Graded], out: Path) -> None:
    device = device_for("--speed", "Grade without it, or on a machine with a GPU.")
    report = speed.speeds(lab, submissions, found, device)
    table = out / f"{lab.name}_speed.csv"
    _write(table, speed.as_csv(tqdm(report, unit="kernel", file=sys.stderr)))
    print(f"Beside the marks, without points, the speed on this {device.name}: {table}")


def _shown_as_graded(lab: Lab, every: Iterator[Graded], count: int, out: Path) -> list[Graded]:
    """All of them, with a bar; pages are written as they come."""
    found = []
    with contextlib.closing(every):  # processes end here, also where the loop is left
        for one in tqdm(every, total=count, unit="submission", file=sys.stderr):
            try:
                feedback.write(out / "feedback", lab, one)
            except OSError as error:
                raise _not_written(out / "feedback", error) from None
            found.append(one)
    return found


def _write(file: Path, text: str) -> None:
    """All of it or nothing: a full disk leaves the table of the last run."""
    beside = file.with_suffix(".part")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, file)
    except OSError as error:
        raise _not_written(file, error) from None


def _not_written(what: Path, error: OSError) -> CourseError:
    return CourseError(
        f"{what} cannot be written ({error.strerror}): what was graded before is kept; make room, "
        "and run the command again."
    )


def _processes(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise CourseError(
            f"--workers is {text}, and a number of at least 1 is needed, or for `grade` the "
            "address of a Dask scheduler, such as tcp://10.0.0.1:8786."
        )
    return int(text)


def _hold_sandbox_ready(labs: Iterable[Lab]) -> None:
    """Where the sandbox is missing, nothing is graded; labs that need none are graded anywhere."""
    if any(lab.needs_sandbox for lab in labs):
        require_sandbox()


def _hashed(student: str, secret: str) -> str:
    return hmac.new(secret.encode(), student.encode(), hashlib.sha256).hexdigest()[:16]
