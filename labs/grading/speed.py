"""Report how fast a class's kernels are on this machine's GPU, next to the marks.

The report gives no points. A kernel is launched only after the virtual GPU has found no mistake in
it, in a separate process that is killed at its time limit. Speed is given relative to the device's
peak and to other kernels that are timed alternately with it. It is never given in seconds, because
these differ between machines.
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
from labs.grading.grade import Mark, failure
from labs.grading.hidden import count_shapes
from labs.grading.labs import Lab, Part
from labs.grading.marks import right_row
from labs.grading.submissions import Submission
from labs.grading.timing_program import make_request
from utils.machine.devices import Device
from utils.paths import ROOT

SECONDS = 120  # for one kernel, which is compiled and timed interleaved with others
# Shapes large enough to fill a GPU, by their number of dimensions: a product, and an array.
SHAPES: dict[int, Shape] = {3: (1024, 1024, 1024), 1: (2**24,)}
COLUMNS = ("student", "exercise", "of_peak", "of_solution", "of_step_before", "told")
NOT_CLEAN = "It was not launched: its result is not right, or the virtual GPU found something."


@dataclass(frozen=True)
class KernelSpeed:
    """One row of the report: a student's kernel, and its speed as ratios, None if unknown.

    of_peak: its speed divided by the device's peak. of_solution: divided by the solution's speed.
    of_step_before: divided by the starter's speed, if the starter's result is right already. told:
    a sentence on why there are no ratios, or "". student, exercise: their names.
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
    marks: Sequence[Mark],
    device: Device,
    measure: Callable[[dict], dict | str] | None = None,
) -> Iterator[KernelSpeed]:
    """Time the right kernels of a class and yield one row per submission and timed exercise.

    The rows come submission by submission. A kernel that is not right, or that cannot be timed, has
    a row with a sentence instead of ratios. marks: the marks of all submissions. measure: takes a
    request for the timing program and returns a dict of microseconds by kernel, or a sentence on
    what failed; None uses `ask_program`.
    """
    by_student = {mark.student: mark for mark in marks}
    parts = [part for part in lab.parts if shape_of(part) is not None]
    for submission in submissions:
        for part in parts:
            if is_clean(by_student[submission.student], part):
                try:
                    yield _speed(submission, part, device, measure or ask_program)
                except Exception as error:  # costs this line alone
                    yield KernelSpeed(submission.student, part.exercise, told=failure(error))
            else:
                yield KernelSpeed(submission.student, part.exercise, told=NOT_CLEAN)


def as_csv(report: Iterable[KernelSpeed]) -> str:
    """Return the report as the text of a CSV file with the header line COLUMNS.

    Ratios have three significant digits, and an unknown ratio is an empty cell.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in report:
        shares = (one.of_peak, one.of_solution, one.of_step_before)
        numbers = ("" if share is None else f"{share:.3g}" for share in shares)
        writer.writerow([as_cell(one.student), one.exercise, *numbers, one.told])
    return text.getvalue()


def shape_of(part: Part) -> Shape | None:
    """Return the shape at which a part's kernel is timed, or None if the part is not timed.

    Functions of numbers, host functions, kernels for the CPU and kernels without a large shape in
    SHAPES are not timed.
    """
    exercise = part.definition
    if not isinstance(exercise, KernelExercise) or exercise.on_cpu or not exercise.timed:
        return None
    return SHAPES.get(len(exercise.shapes[0]))


def is_clean(mark: Mark, part: Part) -> bool:
    """Return True if a mark says that the part's kernel is right at every shape.

    The virtual GPU must also have found nothing.
    """
    own = [row for row in mark.rows if row.part == part.exercise]
    right = right_row(count_shapes(part.definition))
    return any(row.what == right and not row.told for row in own)


def _speed(submission: Submission, part: Part, device: Device, ask) -> KernelSpeed:
    """Time a submission's kernel and return its row, with ratios or with a sentence on what failed.

    ask: takes a request for the timing program, and returns a dict of microseconds by kernel, or
    the sentence.
    """
    shape = shape_of(part)
    times = ask(make_request(submission, part.exercise, shape, with_starter=part.right_starter))
    if isinstance(times, str):
        return KernelSpeed(submission.student, part.exercise, told=times)
    submitted, starter = times["theirs"], times.get("starter")
    return KernelSpeed(
        submission.student,
        part.exercise,
        _least_us(part.definition, shape, device) / submitted,
        times["solution"] / submitted,
        starter / submitted if starter else None,
    )


def _least_us(exercise: KernelExercise, shape: Shape, device: Device) -> float:
    """Return the time in microseconds that one launch would take at the device's peak.

    The peak of arithmetic counts for a product, the peak of memory for any other kernel.
    """
    if len(shape) == 3:
        return 2 * np.prod(shape, dtype=float) / device.peak_gflops / 1e3
    inputs = exercise.inputs(shape, 1)
    read = sum(one.nbytes for one in inputs if isinstance(one, np.ndarray))
    moved = read + 4 * exercise.reference(*inputs).size
    return moved / device.peak_gb_per_s / 1e3


def ask_program(request: dict) -> dict | str:
    """Run the timing program on a request; return its dict of microseconds by kernel.

    Return a sentence instead if the program failed or was stopped after SECONDS. request: from
    `timing_program.make_request`.
    """
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    try:
        process = subprocess.run(
            [sys.executable, "-m", "labs.grading.timing_program"],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=SECONDS,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"It was stopped on the GPU after {SECONDS} seconds."
    if process.returncode:
        last = process.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
        return f"The GPU gave no time for it: {last[0][:200]}"
    return json.loads(process.stdout)
