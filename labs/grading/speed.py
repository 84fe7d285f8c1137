"""How fast the kernels of a class are on the GPU at hand: a report beside the marks, no points.

A kernel is launched only after the virtual GPU found it right and clean, in a process of its own
that is killed at its time limit. Speed is a share of the device's peak and of other kernels timed
in turns with it, never seconds: another machine gives other ones.
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.grading.feedback import as_cell
from labs.grading.grade import Graded
from labs.grading.labs import Lab, Part
from labs.grading.reading import Submission
from labs.grading.timed import request
from utils.machine.devices import Device
from utils.paths import ROOT

SECONDS = 120  # for one kernel: it is compiled, and timed among others
# Large enough to fill a GPU, by how many numbers a shape has: a product, and an array.
SHAPES: dict[int, Shape] = {3: (1024, 1024, 1024), 1: (2**24,)}
COLUMNS = ("student", "exercise", "of_peak", "of_solution", "of_step_before", "told")
NOT_CLEAN = "It was not launched: its result is not right, or the virtual GPU found something."


@dataclass(frozen=True)
class Speed:
    """One line of the report: shares of 1, or None where they are not known.

    of_step_before: of the starter, where its result is right already. told: why there are none.
    """

    student: str
    exercise: str
    of_peak: float | None = None
    of_solution: float | None = None
    of_step_before: float | None = None
    told: str = ""


def speeds(
    lab: Lab,
    submissions: Sequence[Submission],
    found: Sequence[Graded],
    device: Device,
    ask: Callable[[dict], dict | str] | None = None,
) -> Iterator[Speed]:
    """A line for each kernel of each submission. found: the marks of all of them.

    ask: what sends a request to the program and gives microseconds, or a sentence.
    """
    marks = {one.student: one for one in found}
    parts = [part for part in lab.parts if shape_of(part) is not None]
    for submission in submissions:
        for part in parts:
            if is_clean(marks[submission.student], part):
                yield _speed(submission, part, device, ask or asked)
            else:
                yield Speed(submission.student, part.exercise, told=NOT_CLEAN)


def as_csv(report: Iterable[Speed]) -> str:
    """The report as a table: shares with three digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in report:
        shares = (one.of_peak, one.of_solution, one.of_step_before)
        numbers = ("" if share is None else f"{share:.3g}" for share in shares)
        writer.writerow([as_cell(one.student), one.exercise, *numbers, one.told])
    return text.getvalue()


def shape_of(part: Part) -> Shape | None:
    """What a kernel is timed with; None for functions, and for kernels without a large shape."""
    exercise = part.asked
    if not isinstance(exercise, KernelExercise) or exercise.on_cpu or not exercise.timed:
        return None
    return SHAPES.get(len(exercise.shapes[0]))


def is_clean(graded: Graded, part: Part) -> bool:
    """Whether all rows but those of targets have their points: right everywhere, nothing found."""
    shapes = len(part.asked.shapes)
    own = [row for row in graded.rows if row.part == part.exercise]
    return len(own) > shapes and not any(row.told for row in own[: shapes + 1])


def _speed(submission: Submission, part: Part, device: Device, ask) -> Speed:
    shape = shape_of(part)
    times = ask(request(submission, part.exercise, shape, with_starter=bool(part.main)))
    if isinstance(times, str):
        return Speed(submission.student, part.exercise, told=times)
    theirs, starter = times["theirs"], times.get("starter")
    return Speed(
        submission.student,
        part.exercise,
        _least_us(part.asked, shape, device) / theirs,
        times["solution"] / theirs,
        starter / theirs if starter else None,
    )


def _least_us(exercise: KernelExercise, shape: Shape, device: Device) -> float:
    """Microseconds at the device's peak: of arithmetic for a product, else of memory."""
    if len(shape) == 3:
        return 2 * np.prod(shape, dtype=float) / device.peak_gflops / 1e3
    inputs = exercise.inputs(shape, 1)
    read = sum(one.nbytes for one in inputs if isinstance(one, np.ndarray))
    moved = read + 4 * exercise.reference(*inputs).size
    return moved / device.peak_gb_per_s / 1e3


def asked(given: dict) -> dict | str:
    """The answer of the program, or a sentence on how it ended."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "labs.grading.timed"], input=json.dumps(given).encode(),
            capture_output=True, timeout=SECONDS, env={**os.environ, "PYTHONPATH": path},
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"It was stopped on the GPU after {SECONDS} seconds."
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
        return f"The GPU gave no time for it: {last[0][:200]}"
    return json.loads(done.stdout)
