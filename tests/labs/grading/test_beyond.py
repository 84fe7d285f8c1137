"""A class beyond one machine: a scheduler and two workers of Dask, of which one is killed."""

import contextlib
import os
import re
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest

from labs.grading import feedback
from labs.grading.batch import graded
from labs.grading.labs import find
from labs.grading.mutants import sample
from labs.grading.reading import Submission
from utils.errors import CourseError
from utils.paths import ROOT

SECRET = "a secret of sixteen characters"
LAB = find("first_kernel")
SECONDS_TO_START = 120
HAS_DASK = find_spec("distributed") is not None
needs_dask = pytest.mark.skipif(
    not HAS_DASK and "COURSE_NEEDS_EVERYTHING" not in os.environ,
    reason='Dask is not installed: `pip install -e ".[cluster]"`',
)


def class_of_twelve() -> list[Submission]:
    asked = LAB.parts[0].asked
    texts = [asked.solution_text, asked.starter_text, "def scale("]
    texts += [one.text for one in sample(asked.solution_text, 9)]
    return [
        Submission(f"student {number:02}", (("work.py", text.encode()),))
        for number, text in enumerate(texts)
    ]


@contextlib.contextmanager
def started(*arguments: str):
    """A process of Dask, that is killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def said(process: subprocess.Popen, pattern: str) -> str:
    """What a process writes that matches; its later lines are dropped."""
    timer = threading.Timer(SECONDS_TO_START, process.kill)
    timer.start()
    found = next((hit for line in process.stderr if (hit := re.search(pattern, line))), None)
    timer.cancel()
    assert found, f"{process.args} did not say {pattern}"
    threading.Thread(target=lambda: [None for _ in process.stderr], daemon=True).start()
    return found[0]


@needs_dask
@pytest.mark.slow
def test_two_workers_of_which_one_is_killed_give_the_marks_of_this_machine(tmp_path):
    here = list(graded(LAB, class_of_twelve(), SECRET, tmp_path / "here", workers=2))
    with started("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard") as one:
        address = said(one, r"tcp://127\.0\.0\.1:\d+")
        options = ("--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
        with (
            started("dask_worker", address, "--no-nanny", *options) as doomed,
            started("dask_worker", address, *options) as other,
        ):
            for worker in (doomed, other):
                said(worker, "Registered to")
            beyond = []
            for found in graded(LAB, class_of_twelve(), SECRET, tmp_path / "beyond", address):
                beyond.append(found)
                if len(beyond) == 4:
                    doomed.kill()
            assert doomed.wait(30) < 0
    assert len(beyond) == 12
    assert feedback.as_csv(LAB, here) == feedback.as_csv(LAB, beyond)
    assert sorted(here, key=lambda one: one.student) == sorted(beyond, key=lambda o: o.student)


@needs_dask
def test_a_scheduler_that_does_not_answer_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("labs.grading.beyond.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(CourseError, match="No Dask scheduler answers"):
        list(graded(LAB, class_of_twelve()[:1], SECRET, tmp_path, "tcp://127.0.0.1:1"))


@pytest.mark.skipif(HAS_DASK, reason="Dask is installed")
def test_without_dask_an_address_is_one_sentence(tmp_path):
    with pytest.raises(CourseError, match="Dask is not installed"):
        list(graded(LAB, class_of_twelve()[:1], SECRET, tmp_path, "tcp://127.0.0.1:1"))
