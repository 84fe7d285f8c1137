"""A whole class: graded in parallel, kept one by one, gone on with where it was stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from labs.grading.beyond import on_dask
from labs.grading.grade import Graded, grade
from labs.grading.labs import Lab
from labs.grading.marks import Row
from labs.grading.reading import Submission
from utils.errors import CourseError

Waiting = list[tuple[Submission, str]]  # with the name of what will be kept of it
KEPT = "graded"  # the folder of what is done, below the results


def graded(
    lab: Lab,
    submissions: Sequence[Submission],
    secret: str,
    results: Path,
    workers: int,
    scheduler: str | None = None,
) -> Iterator[Graded]:
    """Every submission, as it is finished; those that were graded before come first.

    results: a folder; what is graded is written there at once, so that a second run goes on.
    workers: processes at a time, here. scheduler: the address of a Dask scheduler, whose workers
    grade in place of this machine's.
    Raises CourseError where nothing can be written, or the scheduler does not answer.
    """
    kept = results / KEPT
    _make(kept)
    waiting: Waiting = []
    for submission in submissions:
        key = _key(lab, submission, secret)
        before = _read(kept / f"{key}.json")
        if before:
            yield Graded(submission.student, before.lab, before.rows, before.told)
        else:
            waiting.append((submission, key))
    for found, key in (
        _here(lab, waiting, secret, workers)
        if scheduler is None
        else on_dask(scheduler, lab, waiting, secret)
    ):
        _write(kept / f"{key}.json", found)
        yield found


def _here(lab: Lab, waiting: Waiting, secret: str, workers: int) -> Iterator[tuple[Graded, str]]:
    """In processes of this machine, each started anew, so that a fork of it has one thread."""
    if not waiting:
        return
    with ProcessPoolExecutor(min(workers, len(waiting)), get_context("spawn")) as pool:
        futures = {pool.submit(grade, lab, one, secret): key for one, key in waiting}
        for future in as_completed(futures):
            yield future.result(), futures[future]


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
