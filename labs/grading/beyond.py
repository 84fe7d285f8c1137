"""A class beyond one machine: the workers of a Dask scheduler grade, with the same marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import local

from labs.grading.grade import Graded
from labs.grading.labs import Lab
from labs.grading.reading import Submission
from labs.grading.worker import Worker
from utils.errors import CourseError

SECONDS_TO_CONNECT = 20
TRIES = 5  # of a submission whose worker was lost
_own = local()  # of each thread of a worker of Dask: the process that grades for it


def on_dask(
    address: str, lab: Lab, waiting: Sequence[Submission], secret: str
) -> Iterator[tuple[Submission, Graded | None]]:
    """What the workers of this scheduler have graded, as it is finished.

    None for a submission over which a process was killed. A worker that is lost loses nothing:
    another one grades its submissions again.
    Raises CourseError where Dask is missing, or the scheduler does not answer.
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
        for future, found in as_completed(futures, loop=client.loop, with_results=True):
            yield futures[future], found


def _in_own_process(lab: Lab, submission: Submission, secret: str) -> Graded | None:
    """A worker of Dask has several threads, and a process that forks must have one."""
    if not hasattr(_own, "worker"):
        _own.worker = Worker()
    return _own.worker.grade(lab, submission, secret)
