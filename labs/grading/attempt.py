"""What a child does with a submission: reads its text, runs its functions, and tells what it saw.

It knows shapes and inputs, and neither the right results nor the points.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from labs.by_name import JUDGES
from labs.checking.exercise import KernelExercise
from labs.checking.judge import attempt, found, misused
from labs.checking.run import Run
from labs.checking.submission_checks import no_kernel
from labs.grading.allowed import NotAllowed
from labs.grading.by_text import functions_of
from labs.grading.hidden import Hidden, HiddenCases, graded_cases
from labs.grading.reading import Submission, Unreadable, pieces_of, place_of
from labs.host import exercise as host
from labs.host.exercise import HostExercise
from labs.numbers.evaluator import CannotEvaluate, evaluated
from labs.numbers.exercise import NumbersExercise

PATIENCE = 30.0  # seconds of one launch or call, where no points hang on it
LAUNCH_SECONDS = 600.0  # of one launch that is graded: a backstop, also on a busy machine
LIMITS = {
    "VIRTUAL_GPU_BYTES": str(2**30),
    "VIRTUAL_GPU_MAX_ROUNDS": str(10_000),
    # The types of a submission's functions are not for other processes.
    "VIRTUAL_GPU_CACHE_READ_ONLY": "1",
}
Drawn = dict[str, Hidden | HiddenCases]  # by the name of the exercise


def attempts(submission: Submission, asked: list, hidden: Drawn) -> Iterator[dict]:
    """One message for each thing that was seen; "part" names its exercise."""
    os.environ.update(LIMITS)
    functions = functions_of_text(submission, asked)
    for one in asked:
        given = functions[one.name]
        if isinstance(given, Exception):
            told = " ".join((str(given), *place_of(submission, one.name)))
            yield {"part": one.name, "refused": told}
        else:
            for message in SEEN[type(one)](one, given, hidden.get(one.name)):
                if message.get("causes"):
                    message["causes"] += place_of(submission, one.name)
                yield {"part": one.name, **message}


def explanations(submission: Submission, asked: list, hidden: Drawn) -> Iterator[dict]:
    """For each exercise what `check` says of it, at the hidden shapes."""
    os.environ.update(LIMITS)
    functions = functions_of_text(submission, asked)
    for one in asked:
        given = functions[one.name]
        if isinstance(given, Exception):
            continue
        if isinstance(one, KernelExercise):
            one = replace(one, shapes=hidden[one.name].shapes)
        told = JUDGES[type(one)](one, given, PATIENCE)
        causes = [*told.causes, *place_of(submission, one.name)] if told.causes else []
        yield {"part": one.name, "causes": causes}


def functions_of_text(submission: Submission, asked: list) -> dict[str, object]:
    """For each exercise the submission's function, or the exception that says why there is none."""
    try:
        pieces = tuple(p for name, raw in submission.files for p in pieces_of(name, raw))
    except Unreadable as error:
        return {one.name: error for one in asked}
    return dict(functions_of(pieces, tuple(one.name for one in asked)))


def _kernel(asked: KernelExercise, given, hidden: Hidden) -> Iterator[dict]:
    cause = no_kernel(asked, given)
    if cause:
        yield {"refused": cause}
        return
    flaw = None  # the first that is found: its cause is looked for by further launches, once
    for number, shape in enumerate(hidden.shapes):
        seen = attempt(asked, given, shape, LAUNCH_SECONDS, hidden.seed)
        if isinstance(seen, str):
            yield {"shape": number, "ended": seen}
            return
        flaw = flaw or found(asked, [seen])
        yield {
            "shape": number,
            "out": _packed(seen.out),
            "misused": misused(seen),
            "found": flaw,
            "targets": _targets(asked, seen, number),
        }


def _targets(asked: KernelExercise, seen: Run, number: int) -> dict[str, dict]:
    """The counts of the targets that are held at this shape."""
    counts = {}
    for target in asked.targets:
        if number == 0 or target.every_shape:
            value = target.measure(seen)
            cause = target.cause(seen, value) if target.missed(value) else None
            counts[target.what] = {"value": value, "cause": cause}
    return counts


def _packed(array: np.ndarray) -> dict:
    raw = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"raw": raw, "dtype": str(array.dtype), "shape": list(array.shape)}


def unpacked(packed: dict) -> np.ndarray:
    """The array of a message; ValueError or TypeError for what is none."""
    raw = base64.b64decode(packed["raw"])
    return np.frombuffer(raw, np.dtype(packed["dtype"])).reshape(packed["shape"])


def _numbers(asked: NumbersExercise, given, hidden: HiddenCases) -> Iterator[dict]:
    cause = host.no_function(asked.parameters, given)
    if cause:
        yield {"refused": cause}
        return
    evaluate, answers = evaluated(given), []
    for numbers in (*(case.given for case in graded_cases(asked)), *hidden.given):
        try:
            answers.append(evaluate(numbers))
        except CannotEvaluate as error:
            yield {"ended": str(error)}
            break
    yield {"answers": [one if isinstance(one, int | float) else None for one in answers]}


def _host(asked: HostExercise, given, hidden: None) -> Iterator[dict]:
    told = host.judge(asked, given, PATIENCE)
    yield {"passed": told.passed, "causes": list(told.causes)}


SEEN = {KernelExercise: _kernel, NumbersExercise: _numbers, HostExercise: _host}
__all__ = ["NotAllowed", "attempts", "explanations", "unpacked"]
