"""The program that launches one kernel on the GPU: `python -m labs.grading.timed`.

It reads a request from standard input, times the kernel of a submission in turns with the course's
own, and writes microseconds to standard output. No right result is ever on the device.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable

import numpy as np
from numba import cuda

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.exercises import find
from labs.grading.attempt import functions_of_text
from labs.grading.reading import Submission
from utils.measuring.timing import time_gpu

SEED = 1


def request(submission: Submission, exercise: str, shape: Shape, with_starter: bool) -> dict:
    """What the program has to know, as JSON; the student's name is not among it."""
    files = [(name, base64.b64encode(raw).decode()) for name, raw in submission.files]
    return {
        "files": files, "exercise": exercise, "shape": shape, "with_starter": with_starter,
    }  # fmt: skip


def timed(given: dict) -> dict[str, float]:
    """Microseconds of one launch: of "theirs", of the "solution", and of the "starter" if asked."""
    asked, shape = find(given["exercise"]), tuple(given["shape"])
    files = tuple((name, base64.b64decode(raw)) for name, raw in given["files"])
    theirs = functions_of_text(Submission("", files), [asked])[asked.name]
    kernels = {"theirs": theirs, "solution": asked.solution}
    if given["with_starter"]:
        kernels["starter"] = asked.starter
    launches = [_launch(asked, kernel, shape) for kernel in kernels.values()]
    found = time_gpu(launches)
    return {name: 1e3 * one.median_ms for name, one in zip(kernels, found, strict=True)}


def _launch(asked: KernelExercise, kernel, shape: Shape) -> Callable[[], None]:
    inputs = asked.inputs(shape, SEED)
    result = np.zeros(asked.reference(*inputs).shape, np.float32)
    arrays = [
        cuda.to_device(one) if isinstance(one, np.ndarray) else one for one in (*inputs, result)
    ]
    how = asked.launch(shape)
    configured = kernel[how.grid, how.block, 0, how.shared_bytes]
    return lambda: configured(*arrays)


if __name__ == "__main__":
    request_given = json.load(sys.stdin)
    answers = os.dup(1)
    os.dup2(2, 1)  # what a kernel prints is no answer
    os.write(answers, json.dumps(timed(request_given)).encode())
