"""A class beyond one machine: the workers of a Dask scheduler grade, with the same marks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

from labs.grading.grade import Graded, grade
from labs.grading.labs import Lab
from labs.grading.reading import Submission
from utils.errors import CourseError

SECONDS_TO_CONNECT = 20
TRIES = 5  # of a submission whose worker was lost


def on_dask(
    address: str, lab: Lab, waiting: list[tuple[Submission, str]], secret: str
) -> Iterator[tuple[Graded, str]]:
    """What the workers of this scheduler have graded, as it is finished.

    A worker that is lost loses nothing: another one grades its submissions again.
    Raises CourseError where Dask is missing, or the scheduler does not answer.
    """
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        raise CourseError(
            "Dask is not installed, and --scheduler needs it: `pip install distributed`."
        ) from None
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError):
        raise CourseError(
            f"No Dask scheduler answers at {address!r}: start one by `dask scheduler`, and give "
            "the address that it prints."
        ) from None
    with client:
        futures = {
            client.submit(_in_own_process, lab, one, secret, pure=False, retries=TRIES): key
            for one, key in waiting
        }
        for future, found in as_completed(futures, with_results=True):
            yield found, futures[future]


def _in_own_process(lab: Lab, submission: Submission, secret: str) -> Graded:
    """A worker of Dask has several threads, and a process that forks must have one."""
    return _process().submit(grade, lab, submission, secret).result()


@cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"))
