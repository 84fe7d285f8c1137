"""Grade a class on the workers of a Dask scheduler, with the same marks as on one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import local

from labs.grading.grade import Mark, failure, unjudged
from labs.grading.labs import Lab
from labs.grading.submissions import Submission
from labs.grading.worker import Worker
from utils.errors import CourseError

SECONDS_TO_CONNECT = 20
TRIES = 5  # for a submission whose worker was lost
_thread = local()  # per thread of a Dask worker: the process that grades for it


def grade_on_dask(
    address: str, lab: Lab, waiting: Sequence[Submission], secret: str
) -> Iterator[tuple[Submission, Mark | None]]:
    """Yield pairs of a submission and its mark, in the order in which Dask's workers finish them.

    The mark is None if a process was killed while grading that submission, and a mark without
    points if the grader failed on it. If a worker is lost, another one grades its submissions.
    Raises CourseError if Dask is not installed or the scheduler does not answer. address: the
    address of the Dask scheduler. waiting: the submissions to grade. secret: the secret of the
    class.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise CourseError(
            "Dask is not installed, and an address in --workers needs it: "
            '`pip install -e ".[cluster]"`.'
        ) from None
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError):
        raise CourseError(
            f"No Dask scheduler answers at {address!r}: start one by `dask scheduler`, and give "
            "the address that it prints."
        ) from None
    with client:
        futures = {
            client.submit(_in_own_process, lab, one, secret, pure=False, retries=TRIES): one
            for one in waiting
        }
        finished = as_completed(futures, loop=client.loop, with_results=True, raise_errors=False)
        for future, mark in finished:
            if future.status == "error":  # then `mark` holds the type, the error and its traceback
                yield futures[future], _of_error(lab, futures[future], mark[1])
            else:
                yield futures[future], mark


def _of_error(lab: Lab, submission: Submission, error: BaseException) -> Mark:
    """Return a mark without points for a submission on which the grader raised `error`.

    A CourseError is raised again instead, because it concerns the whole class.
    """
    if isinstance(error, CourseError):
        raise error
    return unjudged(lab, submission.student, failure(error))


def _in_own_process(lab: Lab, submission: Submission, secret: str) -> Mark | None:
    """Return the mark of a submission, or None if the process that grades it was killed.

    This thread's grading process is used; the thread's first call starts it. It is a separate
    process because a Dask worker has threads, and a process with threads must not fork. secret: the
    class's secret, from which hidden shapes are drawn.
    """
    if not hasattr(_thread, "worker"):
        _thread.worker = Worker()
    return _thread.worker.grade(lab, submission, secret)
