"""Grade a whole class in parallel, storing each mark at once so that a stopped run can resume."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from labs.grading.dask_workers import grade_on_dask
from labs.grading.digest import digest_of
from labs.grading.grade import Mark, failure, unjudged
from labs.grading.labs import Lab
from labs.grading.marks import MarkRow
from labs.grading.submissions import Submission, as_bytes
from labs.grading.worker import Worker
from utils.errors import CourseError

KEPT = "graded"  # the folder of stored marks, below the results
LOST = (
    "This was not judged, because the grading process was killed twice, the second time while it "
    "ran alone. The machine may be short of memory: grade it again on one that has more."
)


@dataclass(frozen=True)
class Plan:
    """The work of grading a class: what is stored already, and what is to be graded.

    secret: the class's secret, from which hidden shapes are drawn. known: marks that need no work,
    because they are stored or because looking them up failed. waiting: maps each other submission
    to the file in which its mark will be stored. old: how many of these have a stored mark that
    another version of the exercises or of the grader gave. lab: the lab that is graded.
    """

    lab: Lab
    secret: str
    known: tuple[Mark, ...]
    waiting: Mapping[Submission, Path]
    old: int


def plan(lab: Lab, submissions: Sequence[Submission], secret: str, results: Path) -> Plan:
    """Return the plan for grading a class: look up the stored mark of each submission.

    results: a folder, which is created; stored marks are in its folder `graded`. A submission whose
    lookup fails gets no points and does not affect the others. Raises CourseError if the folder
    cannot be created. secret: the class's secret, from which hidden shapes are drawn.
    """
    version, kept = digest_of(lab), results / KEPT
    _make(kept)
    stored_before = {file.name.partition("-")[0] for file in kept.glob("*.json")}
    known, waiting, old = [], {}, 0
    for submission in submissions:
        try:
            key = _key(lab, submission, secret)
            file = kept / f"{key}-{version}.json"
            mark = _read(file)
        except Exception as error:
            known.append(unjudged(lab, submission.student, failure(error)))
            continue
        if mark:
            known.append(replace(mark, student=submission.student))
        else:
            waiting[submission] = file
            old += key in stored_before and not file.exists()
    return Plan(lab, secret, tuple(known), waiting, old)


def grade_class(
    lab: Lab, submissions: Sequence[Submission], secret: str, results: Path, workers: int | str
) -> Iterator[Mark]:
    """Make the plan for a class, and yield the mark of every submission as soon as it is known.

    Stored marks come first. Every new mark is written to the folder `graded` in `results` at once,
    so that a second run resumes. results: a folder, which is created. workers: the number of
    processes on this machine, or the address of a Dask scheduler whose workers grade. Raises
    CourseError if nothing can be written or the scheduler does not answer. secret: the class's
    secret, from which hidden shapes are drawn.
    """
    yield from graded(plan(lab, submissions, secret, results), workers)


def graded(plan: Plan, workers: int | str) -> Iterator[Mark]:
    """Yield the mark of every submission as soon as it is known, stored ones first.

    Every mark is written at once, so that a second run resumes. workers: the number of processes on
    this machine, or the address of a Dask scheduler whose workers grade.

    A submission whose process is killed twice, or on which the grader fails, gets no points. Its
    mark is not stored, so a second run tries it again. Raises CourseError if nothing can be written
    or the scheduler does not answer.
    """
    yield from plan.known
    lab, secret, files, lost = plan.lab, plan.secret, plan.waiting, []
    for submission, mark in _first_tries(lab, [*files], secret, workers):
        if mark is None:
            lost.append(submission)
        else:
            yield _stored(lab, files[submission], mark)
    for submission in lost:
        mark = _tried(lab, submission, partial(_alone, lab, submission, secret))
        if mark is None:
            yield unjudged(lab, submission.student, LOST)
        else:
            yield _stored(lab, files[submission], mark)


def _tried(lab: Lab, submission: Submission, work: Callable[[], Mark | None]) -> Mark | None:
    """Return what `work` returns, or a mark without points if it raises an exception.

    A CourseError is raised again, because it concerns the whole class.
    """
    try:
        return work()
    except CourseError:
        raise
    except Exception as error:
        return unjudged(lab, submission.student, failure(error))


def _stored(lab: Lab, file: Path, mark: Mark) -> Mark:
    """Write a mark to `file` and return it.

    A mark of a submission that was not judged is returned without being written. If a mark cannot
    be written as JSON, return a mark without points instead. Raises CourseError if the file itself
    cannot be written.
    """
    if mark.failed:
        return mark
    try:
        _write(file, mark)
    except CourseError:
        raise
    except Exception as error:
        return unjudged(lab, mark.student, failure(error))
    return mark


def _first_tries(
    lab: Lab, waiting: Sequence[Submission], secret: str, workers: int | str
) -> Iterator[tuple[Submission, Mark | None]]:
    """Yield each submission with its mark, or with None if its process was killed.

    They come in the order in which they are finished. workers: the number of processes on this
    machine, or the address of a Dask scheduler. secret: the class's secret, from which hidden
    shapes are drawn.
    """
    if not waiting:
        return iter(())
    if isinstance(workers, str):
        return grade_on_dask(workers, lab, waiting, secret)
    return _here(lab, waiting, secret, min(workers, len(waiting)))


def _here(
    lab: Lab, waiting: Sequence[Submission], secret: str, workers: int
) -> Iterator[tuple[Submission, Mark | None]]:
    """Grade in `workers` processes on this machine; yield each submission with its mark.

    The mark is None if the process was killed. The pairs come in the order in which they are
    finished. secret: the class's secret, from which hidden shapes are drawn.
    """
    crew = [Worker() for _ in range(workers)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in crew:
        idle.put(worker)

    def tried(submission: Submission) -> Mark | None:
        """Wait for an idle process, and return the mark that it gives to a submission.

        Returns None if the process was killed.
        """
        worker = idle.get()
        try:
            return _tried(lab, submission, partial(worker.grade, lab, submission, secret))
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(workers)
    try:
        futures = {threads.submit(tried, one): one for one in waiting}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:  # also if the command is interrupted
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in crew:
            worker.end()


def _alone(lab: Lab, submission: Submission, secret: str) -> Mark | None:
    """Grade a submission in a new process; return its mark, or None if the process was killed.

    secret: the class's secret, from which hidden shapes are drawn.
    """
    worker = Worker()
    try:
        return worker.grade(lab, submission, secret)
    finally:
        worker.end()


def _key(lab: Lab, submission: Submission, secret: str) -> str:
    """Return 32 hexadecimal digits: a hash of the lab's name, the secret and the submission.

    Of the submission, the files and the problem are hashed. The student's name and the version of
    the lab do not change the result.
    """
    hashed = hashlib.sha256(as_bytes(f"{lab.name}\0{secret}\0{submission.problem}"))
    for name, raw in submission.files:
        hashed.update(as_bytes(f"\0{name}\0{len(raw)}\0") + raw)
    return hashed.hexdigest()[:32]


def _make(folder: Path) -> None:
    """Create a folder with its parents. Raises CourseError if it cannot be created."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CourseError(
            f"The folder {folder} cannot be made ({error.strerror}): give another one by --out."
        ) from None


def _read(file: Path) -> Mark | None:
    """Return a stored mark, or None if the file is missing or incomplete."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        rows = tuple(MarkRow(**row) for row in kept["rows"])
        told = tuple((part, cause) for part, cause in kept["told"])
        refused = tuple(kept["refused"])
        return Mark(kept["student"], kept["lab"], rows, told, refused=refused)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, mark: Mark) -> None:
    """Write a mark as JSON completely or not at all, so that a full disk leaves no partial file.

    Raises CourseError if the file cannot be written.
    """
    text, half = json.dumps(asdict(mark)), file.with_suffix(".part")
    try:
        half.write_text(text, encoding="utf-8")
        os.replace(half, file)
    except OSError as error:
        raise CourseError(
            f"{file.parent} cannot be written ({error.strerror}): what was graded before is kept; "
            "make room, and run the command again."
        ) from None
