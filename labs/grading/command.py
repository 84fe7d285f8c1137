"""The sub-commands of `python -m labs`: grade, handout, list, selftest."""

from __future__ import annotations

import argparse
import hashlib
import hmac
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import nbformat
from tqdm import tqdm

from labs.grading import feedback
from labs.grading.batch import graded
from labs.grading.feedback import shown
from labs.grading.grade import Graded
from labs.grading.handout import notebook
from labs.grading.labs import LABS, Lab, find
from labs.grading.private import SECRET, outside, secret_of
from labs.grading.reading import Submission, collected
from labs.grading.selftest import summaries, tried
from utils.errors import CourseError

SELFTEST_SECRET = "the secret of the self-test"  # its shapes are no secret


def add_to(commands) -> None:
    """The sub-commands, in a parser's list of them."""
    _add_grade(commands.add_parser("grade", help="give marks for a folder, by the text"))
    handout = commands.add_parser("handout", help="write the notebooks that students get")
    handout.add_argument("labs", nargs="+", metavar="LAB", help=f"all, or {', '.join(LABS)}")
    handout.add_argument("--out", type=Path, required=True, help="folder for the notebooks")
    handout.set_defaults(run=write_handouts)
    listed = commands.add_parser("list", help="the labs, with their minutes and points")
    listed.set_defaults(run=list_labs)
    selftest = commands.add_parser("selftest", help="grade solutions, starters and mutants")
    selftest.add_argument("labs", nargs="*", metavar="LAB", help="default: all")
    _add_workers(selftest)
    selftest.set_defaults(run=run_selftest)


def _add_workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, metavar="N",
        help="processes at a time (default: one for each core)",
    )  # fmt: skip


def _add_grade(parser: argparse.ArgumentParser) -> None:
    parser.description = "Give marks for submissions. Their Python never runs."
    parser.add_argument("lab", metavar="LAB", help=f"one of {', '.join(LABS)}")
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH",
        help="folders and files: .py, .ipynb, .zip; a folder within a folder is one student's",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, help="folder for marks and feedback")
    parser.add_argument(
        "--secret", type=Path,
        help=f"file with the secret of this class, outside of the course; or the variable {SECRET}",
    )  # fmt: skip
    _add_workers(parser)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of Dask, to grade there")
    parser.add_argument(
        "--hash-names", action="store_true", help="write hashes of names in place of names"
    )
    parser.set_defaults(run=run)


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
    print(f"{len(labs)} notebooks: {arguments.out}")
    return 0


def list_labs(arguments: argparse.Namespace) -> int:
    """The labs, one a line."""
    for lab in LABS.values():
        lessons = ", ".join(lab.lessons)
        print(f"{lab.name:16} {lab.minutes:3} min  {lab.points:3} points  {lessons:7} {lab.title}")
    return 0


def run_selftest(arguments: argparse.Namespace) -> int:
    """The table of what the grader gives to right and wrong work; 1 where it is wrong."""
    labs = [find(name) for name in arguments.labs or LABS]
    print(f"{'exercise':20} solution starter  right, all points  mutants, caught  told nothing")
    good = True
    for lab in labs:
        for line in summaries(lab, list(tried(lab, SELFTEST_SECRET, arguments.workers))):
            print(
                f"{line.part:20} {shown(line.solution):>8} {shown(line.starter):>7}"
                f" {line.right:6} {line.full:11} {line.mutants:9} {line.caught:7}"
                f" {len(line.unsaid):13}"
            )
            for what in line.kept:
                print(f"    keeps all points: {what}")
            good &= line.solution == line.of and line.full == line.right and not line.unsaid
    return 0 if good else 1


def run(arguments: argparse.Namespace) -> int:
    """Grade, and say where the marks are. Raises CourseError."""
    lab, secret = find(arguments.lab), secret_of(arguments.secret)
    outside(arguments.out, "--out")
    missing = [path for path in arguments.paths if not path.exists() and not path.is_symlink()]
    if missing:
        raise CourseError(f"There is no {missing[0]}: give folders and files of submissions.")
    if arguments.workers < 1:
        raise CourseError(f"--workers is {arguments.workers}, and at least 1 is needed.")
    submissions = collected(arguments.paths)
    if not submissions:
        raise CourseError(
            f"No .py, .ipynb or .zip was found in {', '.join(map(str, arguments.paths))}."
        )
    if arguments.hash_names:
        submissions = [replace(one, student=_hashed(one.student, secret)) for one in submissions]
    found = _graded(lab, submissions, secret, arguments)
    table = arguments.out / f"{lab.name}.csv"
    table.write_text(feedback.as_csv(lab, found), encoding="utf-8")
    best = sum(one.points == one.of for one in found)
    print(f"{len(found)} submissions, {best} with all {lab.points} points: {table}")
    return 0


def _graded(
    lab: Lab, submissions: Sequence[Submission], secret: str, arguments: argparse.Namespace
) -> list[Graded]:
    """All of them, with a bar; pages are written as they come."""
    found = []
    every = graded(lab, submissions, secret, arguments.out, arguments.workers, arguments.scheduler)
    for one in tqdm(every, total=len(submissions), unit="submission", file=sys.stderr):
        feedback.write(arguments.out / "feedback", lab, one)
        found.append(one)
    return found


def _hashed(student: str, secret: str) -> str:
    return hmac.new(secret.encode(), student.encode(), hashlib.sha256).hexdigest()[:16]
