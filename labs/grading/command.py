"""The sub-commands grade, names, handout, list and selftest of `python -m labs`."""

from __future__ import annotations

import argparse
import contextlib
import errno
import hashlib
import hmac
import os
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import nbformat
from tqdm import tqdm

from labs.grading import class_page, feedback, roster, speed, tables
from labs.grading.batch import graded, plan
from labs.grading.feedback import to_stderr
from labs.grading.grade import Mark
from labs.grading.handout import notebook
from labs.grading.labs import LABS, Lab, all_labs, find
from labs.grading.private import SECRET, require_outside, secret_of
from labs.grading.sandbox import require_sandbox
from labs.grading.selftest import LEAST_MUTANTS, LEAST_RIGHT, PartSummary, apart, summaries
from labs.grading.submissions import (
    Submission,
    as_bytes,
    gather,
    neutral_name,
    printable,
    unchanged_name,
)
from labs.grading.which_files import LeftOut
from labs.student_copy.write import write_copy
from utils.errors import CourseError
from utils.measuring.command_line import device_for

MUTANTS = 24  # per exercise, unless --all is given
CORES = str(os.cpu_count() or 1)
PROCESSES = "number of processes (default: one per core)"
PAGE = "feedback.html"  # in a student's folder
INTERRUPTED = 130  # the exit code after Ctrl-C, as in a shell
# Errors of the operating system that concern one file's name, and no other file.
OF_ONE_NAME = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR)
SELFTEST_SECRET = "the secret of the self-test"  # its shapes need not be secret


def add_to(commands) -> None:
    """Add the sub-commands grade, names, handout, list and selftest to an argparse parser.

    commands: the object that `add_subparsers` returned.
    """
    _add_grade(commands.add_parser("grade", help="grade a folder of submissions by their text"))
    _add_names(commands.add_parser("names", help="show whose name `grade --hash-names` hashes"))
    _add_handout(commands.add_parser("handout", help="write what students get"))
    listed = commands.add_parser("list", help="the labs, with their minutes and points")
    listed.set_defaults(run=list_labs)
    selftest = commands.add_parser("selftest", help="grade solutions, starters and mutants")
    selftest.add_argument("labs", nargs="*", metavar="LAB", help="default: all")
    selftest.add_argument(
        "--all", action="store_true",
        help=f"every mutant, instead of {MUTANTS} per exercise, spread over the rules",
    )  # fmt: skip
    selftest.add_argument("--workers", default=CORES, metavar="N", help=PROCESSES)
    selftest.set_defaults(run=run_selftest)


def _add_handout(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `handout` to its parser, and make `hand_out` its function."""
    parser.description = "Write the notebooks of labs, or a copy of the course for students."
    parser.add_argument("labs", nargs="*", metavar="LAB", help=f"all, or {', '.join(LABS)}")
    parser.add_argument("--out", type=Path, help="folder for the notebooks")
    parser.add_argument(
        "--course", type=Path, metavar="FOLDER",
        help="new folder for a copy of the course without solutions and answers",
    )  # fmt: skip
    parser.add_argument("--no-hints", action="store_true", help="leave out the hints of all tasks")
    parser.set_defaults(run=hand_out)


def _add_grade(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `grade` to its parser, and make `run` its function."""
    parser.description = "Grade submissions by their text, and write marks and feedback."
    parser.add_argument("lab", metavar="LAB", help=f"one of {', '.join(LABS)}")
    _add_submissions(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder for marks and feedback")
    parser.add_argument(
        "--workers", default=CORES, metavar="N|ADDRESS",
        help=f"{PROCESSES}, or the address of a Dask scheduler whose workers grade",
    )  # fmt: skip
    parser.add_argument(
        "--speed", action="store_true",
        help="on a GPU: also report how fast the right kernels are there",
    )  # fmt: skip
    parser.add_argument(
        "--hash-names", action="store_true", help="write hashes of names instead of names"
    )
    _add_roster(parser)
    parser.set_defaults(run=run)


def _add_roster(parser: argparse.ArgumentParser) -> None:
    """Add to a parser the options on the roster, on several tries and on late work."""
    group = parser.add_argument_group("the class, and work that is late or handed in again")
    group.add_argument(
        "--roster", type=Path, metavar="CSV",
        help="the class, one row for each student: also who handed in nothing gets a row",
    )  # fmt: skip
    group.add_argument(
        "--columns", choices=tables.COLUMNS, default=tables.PLAIN,
        help="also write a table that Canvas or Moodle imports; the roster is its export",
    )  # fmt: skip
    group.add_argument("--item", help="heading of the points there (default: the lab's title)")
    group.add_argument(
        "--tries", choices=roster.TRIES, help="which of several tries counts (default: last)"
    )
    group.add_argument("--due", metavar="DATE", help="2026-11-20, or 2026-11-20T18:30")
    group.add_argument(
        "--late", type=int, metavar="PERCENT", help="of the lab's points, for each day that began"
    )


def _add_names(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `names` to its parser, and make `list_names` its function."""
    parser.description = "Print each submission's hash and student name: keep this list private."
    _add_submissions(parser)
    parser.set_defaults(run=list_names)


def _add_submissions(parser: argparse.ArgumentParser) -> None:
    """Add to a parser the paths of submissions and the option for the secret."""
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH",
        help="folders and files: .py, .ipynb, .zip; an inner folder belongs to one student",
    )  # fmt: skip
    parser.add_argument(
        "--secret", type=Path,
        help=f"file with the secret of this class, outside of the course; or the variable {SECRET}",
    )  # fmt: skip


def hand_out(arguments: argparse.Namespace) -> int:
    """Write one notebook per lab, a copy of the course for students, or both; return exit code 0.

    It prints the number of notebooks, and the number of files of the copy. arguments: those of the
    sub-command `handout`. Raises CourseError if options are missing, a lab is unknown, a folder
    cannot be written, or the copy would be in the folder of the course itself.
    """
    if bool(arguments.labs) != bool(arguments.out) or not (arguments.labs or arguments.course):
        raise CourseError("Give labs and --out FOLDER for notebooks, or --course FOLDER, or both.")
    if arguments.labs:
        _write_handouts(arguments.labs, arguments.out, not arguments.no_hints)
    if arguments.course:
        _write_course(arguments.course, not arguments.no_hints)
    return 0


def _write_handouts(names: list[str], folder: Path, hints: bool) -> None:
    """Write the notebooks of the named labs to a folder, which is created, and print their number.

    names: lab names, or ["all"]. hints: True to include hints. Raises CourseError if a lab is
    unknown or the folder cannot be written.
    """
    labs = [find(name) for name in (LABS if names == ["all"] else names)]
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for lab in labs:
            nbformat.write(notebook(lab, hints=hints), folder / f"{lab.name}.ipynb")
    print(f"{_counted(len(labs), 'notebook')}: {folder}")


def _write_course(folder: Path, hints: bool) -> None:
    """Write a copy of the course for students to a folder, and print the number of its files.

    hints: True to include hints. Raises CourseError if the folder is in the folder of the course
    itself or cannot be written.
    """
    require_outside(folder, "--course")
    with _writing(folder):
        count = write_copy(folder, hints)
    print(f"{_counted(count, 'file')} of the course, without solutions and answers: {folder}")


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Return a context manager that turns an OSError in its block into a CourseError.

    The error's message says that `folder` cannot be written, and why.
    """
    try:
        yield
    except OSError as error:
        raise CourseError(f"{folder} cannot be written: {error.strerror}.") from None


def list_labs(arguments: argparse.Namespace) -> int:
    """Print a line per lab: name, minutes, points, lessons to do before, and title; return 0.

    0 is the exit code. arguments: not used.
    """
    labs = all_labs().values()
    name, after = (max(len(getattr(lab, what)) for lab in labs) for what in ("name", "after"))
    for lab in labs:
        print(
            f"{lab.name:{name}}  {lab.minutes:3} min  {lab.points:3} points  {lab.after:{after}}"
            f"  {lab.title}"
        )
    return 0


def run_selftest(arguments: argparse.Namespace) -> int:
    """Grade solutions, starters and mutants; print the results and the grader's errors.

    Returns the exit code: 1 if the grader misjudges something, else 0. Raises CourseError if a lab
    is unknown or needs a sandbox that this machine cannot start.
    """
    labs = [find(name) for name in arguments.labs or LABS]
    _hold_sandbox_ready(labs)
    most, workers = None if arguments.all else MUTANTS, _processes(arguments.workers)
    print(
        "Needed: all points for the solution and for other right functions, at least "
        f"{LEAST_RIGHT}; a third at most for the starter; and {LEAST_MUTANTS} mutants that lose "
        "points and are told the cause."
    )
    print(f"{'exercise':20} solution  starter  right  all points  mutants  caught  cause  seconds")
    failures = []
    for line in summaries(apart(labs), SELFTEST_SECRET, workers, most):
        _print_line(line)
        failures += [f"{line.part}: {one}" for one in line.wrong]
    print("\n".join(failures) or "All of this holds.")
    return 1 if failures else 0


def _print_line(line: PartSummary) -> None:
    """Print one exercise's row of the self-test's table, and the mutants that kept all points."""
    (solution,), (starter,) = line.of_kind("solution"), line.of_kind("starter")
    right, caught = line.of_kind("right"), line.caught
    print(
        f"{line.part:20} {solution.points:>8} {starter.points:>8} {len(right):>6}"
        f" {sum(one.full for one in right):>11} {len(line.of_kind('mutant')):>8} {len(caught):>7}"
        f" {sum(one.named for one in caught):>6} {line.seconds:>8.0f}",
        flush=True,
    )
    for one in line.kept:
        print(f"    keeps all points: {one.what}")


def run(arguments: argparse.Namespace) -> int:
    """Grade submissions, write tables and feedback pages, and print where the marks are.

    Return the exit code: 0, or 130 after Ctrl-C. arguments: those of the sub-command `grade`.
    Raises CourseError for bad arguments, a missing secret or sandbox, and files that cannot be
    written.
    """
    lab, secret = find(arguments.lab), secret_of(arguments.secret)
    listed, rule = _class_of(arguments)
    require_outside(arguments.out, "--out")
    address = "://" in arguments.workers
    workers = arguments.workers if address else _processes(arguments.workers)
    called = neutral_name if arguments.hash_names else unchanged_name
    submissions, left = _submissions(arguments.paths, called)
    if not address:  # workers on other machines check their own sandbox
        _hold_sandbox_ready([lab])
    if arguments.hash_names:
        submissions = [replace(one, student=_hashed(one.student, secret)) for one in submissions]
        left = [replace(one, student=_hashed(one.student, secret)) for one in left]
    planned = plan(lab, submissions, secret, arguments.out)
    if planned.old:
        print(
            f"{_counted(planned.old, 'mark')} here came from another version of the exercises or "
            "of the grader, and will be given anew.",
            file=sys.stderr,
        )
    rows = {one.student: roster.owner(one, listed) for one in submissions}
    names = {student: row.name for student, row in rows.items() if row}
    write_pages = partial(_write_pages, lab, arguments.out / "feedback", names)
    try:
        marks = _shown_as_graded(graded(planned, workers), len(submissions), write_pages)
    except KeyboardInterrupt:
        print("Stopped. What was graded is kept: run the command again to go on.", file=sys.stderr)
        return INTERRUPTED
    table = arguments.out / f"{lab.name}.csv"
    if rule is None:
        _write(table, feedback.as_csv(lab, marks))
    else:
        _write_class(arguments, lab, submissions, marks, listed, rule)
    best = sum(mark.points == mark.of for mark in marks)
    print(f"{_counted(len(marks), 'submission')}, {best} with all {lab.points} points: {table}")
    causes = arguments.out / f"{lab.name}_causes.html"
    _write(causes, class_page.as_html(lab, marks))
    print(f"What the class got wrong, by cause and without names: {causes}")
    for mark in marks:
        if mark.failed:
            to_stderr(f"{mark.student}: {mark.failed}")
    _report_left_out(left, arguments.out / f"{lab.name}_not_read.txt")
    if arguments.speed:
        _report_speed(lab, submissions, marks, arguments.out)
    return 0


def _class_of(
    arguments: argparse.Namespace,
) -> tuple[tuple[roster.Listed, ...], roster.LateRule | None]:
    """Return (rows of the roster, rule for several tries and late days) for the options of `grade`.

    The rows are () if no roster is given. The rule is None if no option asks for a roster, for
    tries or for a date. Raises CourseError for options that do not fit together.
    """
    if arguments.columns != tables.PLAIN and not arguments.roster:
        raise CourseError(f"--columns {arguments.columns} needs --roster: an export of its grades.")
    if (arguments.late is None) != (arguments.due is None):
        raise CourseError("Give --due and --late together: a date, and the percent of each day.")
    if arguments.late is not None and not 0 <= arguments.late <= 100:
        raise CourseError(f"--late is {arguments.late}: give a percentage from 0 to 100.")
    if not (arguments.roster or arguments.due or arguments.tries):
        return (), None
    if arguments.hash_names:
        raise CourseError("A roster, tries and late days need names: leave out --hash-names.")
    due = roster.date_of(arguments.due, "--due") if arguments.due else None
    rule = roster.LateRule(due, arguments.late or 0, arguments.tries or roster.TRIES[0])
    return roster.read_roster(arguments.roster) if arguments.roster else (), rule


def _write_class(
    arguments: argparse.Namespace,
    lab: Lab,
    submissions: list[Submission],
    marks: list[Mark],
    listed: tuple[roster.Listed, ...],
    rule: roster.LateRule,
) -> None:
    """Write the plain table and, if asked for, that of Canvas or Moodle.

    It also prints how many students of the roster handed in nothing and, to standard error, the
    submissions whose name and number belong to different rows, the students who are not in the
    roster, and the number of marks without a date. For Moodle, it writes a zip of the pages, too.
    listed: the rows of the roster. rule: how several tries and late days count. Raises CourseError
    if a table cannot be written, if the roster does not fit it, or if a date cannot be read.
    """
    by_student = {mark.student: mark for mark in marks}
    results = roster.results(listed, submissions, by_student, rule)
    _write(arguments.out / f"{lab.name}.csv", tables.as_plain(lab, results))
    if arguments.columns != tables.PLAIN:
        made = tables.as_canvas if arguments.columns == tables.CANVAS else tables.as_moodle
        table = arguments.out / f"{lab.name}_{arguments.columns}.csv"
        _write(table, made(lab, results, arguments.item or lab.title))
        print(f"For {arguments.columns.capitalize()}: {table}")
    if arguments.columns == tables.MOODLE:
        _write_moodle_pages(arguments.out, lab, submissions, results)
    if listed:
        missing = sum(one.mark is None for one in results)
        print(f"{missing} of {_counted(len(listed), 'student')} handed in nothing.")
    for submission in submissions:
        if len(rows := roster.rows_of(submission, listed)) > 1:
            to_stderr(
                f"{submission.student}: the number is that of {rows[0].name}, who gets the mark, "
                f"and the name is that of {rows[1].name}."
            )
    for one in results:
        if listed and one.listed is None:
            to_stderr(f"{one.student} is in no row of the roster, or in two.")
    if rule.due and (undated := sum(one.mark is not None and one.date is None for one in results)):
        print(f"{_counted(undated, 'mark')} without a date, taken as on time.", file=sys.stderr)


def _write_moodle_pages(
    out: Path, lab: Lab, submissions: list[Submission], results: list[roster.Result]
) -> None:
    """Write a zip of feedback pages for Moodle, and print its path.

    It has the page of the try that counts, for each student of the roster whose file's name is from
    Moodle. If there is no such student, no zip is written. Raises CourseError if the zip cannot be
    written.
    """
    by_student = {one.student: one for one in submissions}
    pages = {}
    for mark in (one.mark for one in results if one.listed and one.mark):
        if name := roster.name_for_moodle(by_student[mark.student], PAGE):
            pages[name] = feedback.folder_of(out / "feedback", mark.student) / PAGE
    if not pages:
        return
    file = out / f"{lab.name}_moodle_pages.zip"
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, page in pages.items():
                archive.write(page, name)
    except OSError as error:
        raise _not_written(file, error) from None
    print(f"{_counted(len(pages), 'page')} for Moodle to give back: {file}")


def list_names(arguments: argparse.Namespace) -> int:
    """Print every hash with the student name that it replaces, and return the exit code 0.

    Raises CourseError if there is no secret or no submission.
    """
    secret = secret_of(arguments.secret)
    for submission in _submissions(arguments.paths, unchanged_name)[0]:
        print(f"{_hashed(submission.student, secret)}  {printable(submission.student)}")
    return 0


def _submissions(
    paths: list[Path], called: Callable[[str], str]
) -> tuple[list[Submission], list[LeftOut]]:
    """Return (submissions found at these paths, files that were not read).

    called: takes a file's name and returns the name that feedback uses for it. Raises CourseError
    if a path is missing or there is no submission.
    """
    missing = [path for path in paths if not path.exists() and not path.is_symlink()]
    if missing:
        raise CourseError(f"There is no {missing[0]}: give folders and files of submissions.")
    submissions, left = gather(paths, called)
    if not submissions:
        others = ", ".join(printable(one.file) for one in left[:3])
        also = f"; not read: {others}" if left else ""
        raise CourseError(
            f"No .py, .ipynb or .zip was found in {', '.join(map(str, paths))}{also}."
        )
    return submissions, left


def _report_left_out(left: list[LeftOut], report: Path) -> None:
    """Write one line per file that was not read into `report`, and print the number of these files.

    If all files were read, remove the report of an older run and print nothing. Raises CourseError
    if the report cannot be written.
    """
    if not left:
        report.unlink(missing_ok=True)
        return
    lines = [f"{one.student}: `{one.file}`. {one.why}" for one in left]
    _write(report, "".join(f"{printable(line)}\n" for line in lines))
    print(f"{_counted(len(left), 'file')} not read, with the reasons: {report}")


def _report_speed(lab: Lab, submissions: list, marks: list[Mark], out: Path) -> None:
    """Time the right kernels on this machine's GPU, write the table, and print its path.

    Raises CourseError if there is no GPU or the table cannot be written.
    """
    device = device_for("--speed", "Grade without it, or on a machine with a GPU.")
    report = speed.speeds(lab, submissions, marks, device)
    table = out / f"{lab.name}_speed.csv"
    _write(table, speed.as_csv(tqdm(report, unit="kernel", file=sys.stderr)))
    print(f"Speeds on this {device.name}, which give no points: {table}")


def _shown_as_graded(
    graded_submissions: Iterator[Mark], count: int, write_pages: Callable[[Mark], None]
) -> list[Mark]:
    """Return all marks in the order in which they are given, and show a progress bar.

    Each student's pages are written as soon as the mark is known. count: the number of submissions.
    """
    marks = []
    with contextlib.closing(graded_submissions):  # ends the processes, also on an early exit
        for mark in tqdm(graded_submissions, total=count, unit="submission", file=sys.stderr):
            write_pages(mark)
            marks.append(mark)
    return marks


def _write_pages(lab: Lab, folder: Path, names: Mapping[str, str], mark: Mark) -> None:
    """Write one student's pages; if that fails, write them without the sentences.

    If that fails too, print the student's name and the reason to standard error. Raises CourseError
    if the folder itself cannot be written. names: a dict from the `student` of a submission to the
    name in the roster, which the page shows; for others it shows `student`.
    """
    name = names.get(mark.student, mark.student)
    for one in (mark, feedback.without_texts(mark, feedback.NO_TEXT)):
        try:
            feedback.write(folder, lab, one, name)
            return
        except OSError as error:
            if error.errno not in OF_ONE_NAME:
                raise _not_written(folder, error) from None
            why = error.strerror
        except Exception as error:
            why = type(error).__name__
    to_stderr(f"{mark.student}: the pages cannot be written ({why}).")


def _counted(number: int, what: str) -> str:
    """Return a number with commas and its English noun, such as "1 file" or "1,200 files"."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def _write(file: Path, text: str) -> None:
    """Write a file completely or not at all, so that a full disk leaves the last run's table.

    Raises CourseError if the file cannot be written.
    """
    unfinished = file.with_suffix(".part")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, file)
    except OSError as error:
        raise _not_written(file, error) from None


def _not_written(what: Path, error: OSError) -> CourseError:
    """Return, without raising it, the CourseError for a file or folder that cannot be written."""
    return CourseError(
        f"{what} cannot be written ({error.strerror}): what was graded before is kept; make room, "
        "and run the command again."
    )


def _processes(text: str) -> int:
    """Return the number of processes in the text of --workers. Raises CourseError if it is none."""
    if not text.isdecimal() or int(text) < 1:
        raise CourseError(
            f"--workers is {text}: give a number of at least 1 or, for `grade`, the address of a "
            "Dask scheduler, such as tcp://10.0.0.1:8786."
        )
    return int(text)


def _hold_sandbox_ready(labs: Iterable[Lab]) -> None:
    """Raise CourseError if one of these labs needs a sandbox that this machine cannot start."""
    if any(lab.needs_sandbox for lab in labs):
        require_sandbox()


def _hashed(student: str, secret: str) -> str:
    """Return 16 hexadecimal digits: a hash of a student's name, with the secret as its key."""
    return hmac.new(secret.encode(), as_bytes(student), hashlib.sha256).hexdigest()[:16]
