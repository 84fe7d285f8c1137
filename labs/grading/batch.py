"""A whole class: graded in parallel, kept one by one, gone on with where it was stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path
from queue import SimpleQueue

from labs.grading.beyond import on_dask
from labs.grading.grade import Graded, grade
from labs.grading.labs import Lab
from labs.grading.marks import Row
from labs.grading.reading import Submission
from labs.grading.worker import Worker
from utils.errors import CourseError

KEPT = "graded"  # the folder of what is done, below the results
LOST = (
    "This was not judged: the process that grades was killed over it, twice, the second time with "
    "no other beside it. Memory may be short. Grade it again on a machine with more."
)


def graded(
    lab: Lab, submissions: Sequence[Submission], secret: str, results: Path, workers: int | str
) -> Iterator[Graded]:
    """Every submission, as it is finished; those that were graded before come first.

    results: a folder; what is graded is written there at once, so that a second run goes on.
    workers: processes at a time, here; or the address of a Dask scheduler, whose workers grade.
    A submission whose process is killed twice has no points and is not kept: a second run tries it
    again. Raises CourseError where nothing can be written, or the scheduler does not answer.
    """
    kept = results / KEPT
    _make(kept)
    files = {one: kept / f"{_key(lab, one, secret)}.json" for one in submissions}
    before = {one: _read(file) for one, file in files.items()}
    for one, found in before.items():
        if found:
            yield replace(found, student=one.student)
    waiting = [one for one, found in before.items() if not found]
    lost = []
    for one, found in _first_tries(lab, waiting, secret, workers):
        if found is None:
            lost.append(one)
        else:
            _write(files[one], found)
            yield found
    for one in lost:
        found = _alone(lab, one, secret)
        if found is None:
            yield grade(lab, replace(one, problem=LOST), secret)
        else:
            _write(files[one], found)
            yield found


def _first_tries(
    lab: Lab, waiting: Sequence[Submission], secret: str, workers: int | str
) -> Iterator[tuple[Submission, Graded | None]]:
    """None for a submission whose process was lost."""
    if not waiting:
        return iter(())
    if isinstance(workers, str):
        return on_dask(workers, lab, waiting, secret)
    return _here(lab, waiting, secret, min(workers, len(waiting)))


def _here(
    lab: Lab, waiting: Sequence[Submission], secret: str, workers: int
) -> Iterator[tuple[Submission, Graded | None]]:
    """In processes of this machine."""
    crew = [Worker() for _ in range(workers)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in crew:
        idle.put(worker)

    def tried(submission: Submission) -> Graded | None:
        worker = idle.get()
        try:
            return worker.grade(lab, submission, secret)
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(workers)
    try:
        futures = {threads.submit(tried, one): one for one in waiting}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:  # also where the command is interrupted
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in crew:
            worker.end()


def _alone(lab: Lab, submission: Submission, secret: str) -> Graded | None:
    worker = Worker()
    try:
        return worker.grade(lab, submission, secret)
    finally:
        worker.end()


def _key(lab: Lab, submission: Submission, secret: str) -> str:
    """Names a submission by all that its mark depends on."""
    hashed = hashlib.sha256(f"{lab}\0{secret}\0{submission.problem}".encode())
    for name, raw in submission.files:
        hashed.update(f"\0{name}\0{len(raw)}\0".encode() + raw)
    return hashed.hexdigest()[:32]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CourseError(
            f"The folder {folder} cannot be made ({error.strerror}): give another one by --out."
        ) from None


def _read(file: Path) -> Graded | None:
    """What was graded before; None where it was not, or was not written to its end."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        rows = tuple(Row(**row) for row in kept["rows"])
        told = tuple((part, cause) for part, cause in kept["told"])
        return Graded(kept["student"], kept["lab"], rows, told)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, found: Graded) -> None:
    """All of it or nothing: a full disk leaves no half of a mark."""
    text, beside = json.dumps(asdict(found)), file.with_suffix(".part")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, file)
    except OSError as error:
        raise CourseError(
            f"{file.parent} cannot be written ({error.strerror}): what was graded before is kept; "
            "make room, and run the command again."
        ) from None
