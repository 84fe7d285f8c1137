"""The program that times one kernel on the GPU: `python -m labs.grading.timing_program`.

It reads a request from standard input, times a submission's kernel alternately with the course's
own, and writes the times in microseconds to standard output as JSON. The right result is never on
the device.
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
from labs.grading.submissions import Submission
from utils.measuring.timing import time_gpu

SEED = 1


def make_request(submission: Submission, exercise: str, shape: Shape, with_starter: bool) -> dict:
    """Return the program's request as a JSON-compatible dict, without the student's name.

    "files" holds pairs of a file's name and its bytes in base64; "exercise", "shape" and
    "with_starter" are the arguments with these names. with_starter: True to time the starter too.
    """
    files = [(name, base64.b64encode(raw).decode()) for name, raw in submission.files]
    return {
        "files": files, "exercise": exercise, "shape": shape, "with_starter": with_starter,
    }  # fmt: skip


def time_kernels(request: dict) -> dict[str, float]:
    """Return a dict from kernel to its median time per launch on the GPU, in microseconds.

    The keys are "theirs", the submission's kernel, "solution" and, if requested, "starter". They
    are timed alternately. request: from `make_request`.
    """
    exercise, shape = find(request["exercise"]), tuple(request["shape"])
    files = tuple((name, base64.b64decode(raw)) for name, raw in request["files"])
    submitted = functions_of_text(Submission("", files), [exercise])[exercise.name]
    kernels = {"theirs": submitted, "solution": exercise.solution}
    if request["with_starter"]:
        kernels["starter"] = exercise.starter
    launches = [_launch(exercise, kernel, shape) for kernel in kernels.values()]
    timings = time_gpu(launches)
    return {name: 1e3 * one.median_ms for name, one in zip(kernels, timings, strict=True)}


def _launch(exercise: KernelExercise, kernel, shape: Shape) -> Callable[[], None]:
    """Copy a kernel's inputs to the GPU, and return a function () that launches it on them."""
    inputs = exercise.inputs(shape, SEED)
    result = np.zeros(exercise.reference(*inputs).shape, np.float32)
    arrays = [
        cuda.to_device(one) if isinstance(one, np.ndarray) else one for one in (*inputs, result)
    ]
    launch = exercise.launch(shape)
    configured = kernel[launch.grid, launch.block, 0, launch.shared_bytes]
    return lambda: configured(*arrays)


if __name__ == "__main__":
    received = json.load(sys.stdin)
    answers = os.dup(1)
    os.dup2(2, 1)  # keeps a kernel's prints out of the answer
    os.write(answers, json.dumps(time_kernels(received)).encode())
