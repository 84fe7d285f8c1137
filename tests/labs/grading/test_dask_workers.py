"""A class is graded by a Dask scheduler and two workers, one of which is killed."""

import contextlib
import os
import re
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest

from labs.grading import feedback
from labs.grading.batch import grade_class
from labs.grading.labs import find
from labs.grading.mutants import sample
from labs.grading.submissions import Submission
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
    exercise = LAB.parts[0].definition
    texts = [exercise.solution_text, exercise.starter_text, "def scale("]
    texts += [one.text for one in sample(exercise.solution_text, 9)]
    return [
        Submission(f"student {number:02}", (("work.py", text.encode()),))
        for number, text in enumerate(texts)
    ]


@contextlib.contextmanager
def dask_process(*arguments: str):
    """Start a Dask process, and stop it at the end of the block."""
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


def wait_for_output(process: subprocess.Popen, pattern: str) -> str:
    """Return the first match in a process's output; its later lines are dropped."""
    timer = threading.Timer(SECONDS_TO_START, process.kill)
    timer.start()
    match = next((hit for line in process.stderr if (hit := re.search(pattern, line))), None)
    timer.cancel()
    assert match, f"{process.args} did not say {pattern}"
    threading.Thread(target=lambda: [None for _ in process.stderr], daemon=True).start()
    return match[0]


@needs_dask
@pytest.mark.slow
def test_two_workers_of_which_one_is_killed_give_the_marks_of_this_machine(tmp_path):
    local_marks = list(grade_class(LAB, class_of_twelve(), SECRET, tmp_path / "here", workers=2))
    with dask_process(
        "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
    ) as scheduler:
        address = wait_for_output(scheduler, r"tcp://127\.0\.0\.1:\d+")
        options = ("--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
        with (
            dask_process("dask_worker", address, "--no-nanny", *options) as doomed,
            dask_process("dask_worker", address, *options) as other,
        ):
            for worker in (doomed, other):
                wait_for_output(worker, "Registered to")
            dask_marks = []
            for mark in grade_class(LAB, class_of_twelve(), SECRET, tmp_path / "beyond", address):
                dask_marks.append(mark)
                if len(dask_marks) == 4:
                    doomed.kill()
            assert doomed.wait(30) < 0
    assert len(dask_marks) == 12
    assert feedback.as_csv(LAB, local_marks) == feedback.as_csv(LAB, dask_marks)
    assert sorted(local_marks, key=lambda mark: mark.student) == sorted(
        dask_marks, key=lambda mark: mark.student
    )


@needs_dask
def test_a_scheduler_that_does_not_answer_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("labs.grading.dask_workers.SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(CourseError, match="No Dask scheduler answers"):
        list(grade_class(LAB, class_of_twelve()[:1], SECRET, tmp_path, "tcp://127.0.0.1:1"))


@pytest.mark.skipif(HAS_DASK, reason="Dask is installed")
def test_without_dask_an_address_is_one_sentence(tmp_path):
    with pytest.raises(CourseError, match="Dask is not installed"):
        list(grade_class(LAB, class_of_twelve()[:1], SECRET, tmp_path, "tcp://127.0.0.1:1"))
