"""The report of speeds: which kernels are launched and compared, and what a lost launch costs."""

import csv
import io

import pytest

from labs.grading import speed, timing_program
from labs.grading.grade import grade
from labs.grading.labs import find
from labs.grading.submissions import Submission
from utils.machine import devices

SECRET = "a secret of this test alone"
LAB = find("unrolling")
(PART,) = LAB.parts
H200 = devices.find(devices.REFERENCE)


def handed_in(student: str, text: str) -> Submission:
    return Submission(student, (("work.py", text.encode()),))


RIGHT = handed_in("right", PART.definition.solution_text)
IDLE = "from numba import cuda\n\n\n@cuda.jit\ndef unroll(a, b, c):\n    return\n"
WRONG = handed_in("wrong", IDLE)


def report(measure, submissions=(RIGHT, WRONG)):
    marks = [grade(LAB, one, SECRET) for one in submissions]
    return {one.student: one for one in speed.speeds(LAB, submissions, marks, H200, measure)}


def test_speeds_are_shares_of_the_peak_and_of_kernels_timed_beside_it():
    lines = report(lambda request: {"theirs": 200.0, "solution": 100.0, "starter": 400.0})
    peak_us = 2 * 1024**3 / H200.peak_gflops / 1e3
    right = lines["right"]
    assert (right.of_solution, right.of_step_before) == (0.5, 2.0)
    assert right.of_peak == pytest.approx(peak_us / 200)


def test_a_kernel_that_is_not_right_is_never_launched():
    requests = []

    def measure(request):
        requests.append(request)
        return {"theirs": 1.0, "solution": 1.0}

    assert "not right" in report(measure)["wrong"].told
    assert len(requests) == 1
    assert "right" not in str(requests[0])  # the student's name


def test_a_launch_that_is_lost_is_a_line_with_its_reason():
    lines = report(lambda request: "It was stopped.").values()
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(speed.as_csv(lines)))}
    assert rows["right"]["told"] == "It was stopped."
    assert rows["right"]["of_peak"] == ""


def test_a_program_that_fails_is_a_sentence():
    request = timing_program.make_request(
        RIGHT, "no_such_exercise", (64, 64, 64), with_starter=True
    )
    assert speed.ask_program(request).startswith("The GPU gave no time for it: ")


def test_functions_and_kernels_of_the_cpu_are_not_timed():
    lab = find("cpu_blocking")
    assert [speed.shape_of(part) for part in lab.parts] == [None, None]
    assert speed.shape_of(PART) == (1024, 1024, 1024)
    assert speed.shape_of(find("latency").parts[0]) == (2**24,)
    assert speed.shape_of(find("reduce_at_the_limit").parts[0]) is None
