"""The work of the child process: read a submission, run its functions, and yield observations.

The child knows the shapes and inputs, but neither the right results nor the points.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from labs.by_name import JUDGES
from labs.checking import line_order
from labs.checking.exercise import KernelExercise
from labs.checking.judge import attempt, describe_first_flaw, has_flaw, misused, unseen_mistake
from labs.checking.line_order import OrderExercise
from labs.checking.run import Run
from labs.checking.submission_checks import no_kernel
from labs.grading.allow_list import NotAllowed
from labs.grading.functions_from_text import Missing, functions_of
from labs.grading.hidden import WHOLE_SHAPES, Hidden, HiddenCases, graded_cases
from labs.grading.submissions import Submission, Unreadable, location_of, pieces_of, unread_cells
from labs.host import exercise as host
from labs.host.exercise import Examination, HostExercise
from labs.numbers.evaluator import CannotEvaluate, make_evaluator
from labs.numbers.exercise import NumbersExercise, where
from utils.translation import IN_ENGLISH

PATIENCE = 30.0  # seconds of one launch or call on which no points depend
LAUNCH_SECONDS = 50.0  # of one graded launch, after which a sentence names its loop
MOST_FAILURES = 5  # cases without an answer, after which no further ones are tried
LIMITS = {
    **IN_ENGLISH,
    "VIRTUAL_GPU_BYTES": str(2**30),
    "VIRTUAL_GPU_MAX_ROUNDS": str(10_000),
    # Types inferred for a submission's functions must not reach other processes.
    "VIRTUAL_GPU_CACHE_READ_ONLY": "1",
}
HiddenByName = dict[str, Hidden | HiddenCases]  # by exercise name


def attempts(submission: Submission, exercises: list, hidden: HiddenByName) -> Iterator[dict]:
    """Run a submission's function for every exercise; yield observations as JSON-compatible dicts.

    Every dict has the name of its exercise under "part". Its other keys depend on the exercise:

    No usable function gives one dict with "refused", a sentence on why.

    A kernel gives one dict per shape: "shape", its index; "out", the result as `_packed` returns
    it; "misused" and "found", each a sentence on a mistake or None; "targets", as `_targets`
    returns them. If a launch fails, the last dict has only "shape" and "ended", a sentence.

    A function of numbers gives one dict with "answers", a list with a number per case, or None for
    a case whose call failed or returned no number. If a call failed, a dict with "ended", a
    sentence, precedes it.

    A host function gives one dict with "passed", a bool; "causes", a list of sentences; and "lost",
    the percentage of the points that the causes cost.

    It sets the environment variables of LIMITS. exercises: those whose functions are run. hidden:
    the shapes and seed, or the cases, by exercise name.
    """
    os.environ.update(LIMITS)
    functions = functions_of_text(submission, exercises)
    for exercise in exercises:
        function = functions[exercise.name]
        if isinstance(function, Exception):
            refusal = " ".join((str(function), *location_of(submission, exercise.name)))
            yield {"part": exercise.name, "refused": refusal}
        else:
            for message in OBSERVERS[type(exercise)](exercise, function, hidden.get(exercise.name)):
                if message.get("causes"):
                    message["causes"] += location_of(submission, exercise.name)
                yield {"part": exercise.name, **message}


def explanations(submission: Submission, exercises: list, hidden: HiddenByName) -> Iterator[dict]:
    """Yield what `check` says about the function of each exercise that has a usable one.

    Each dict has "part", the exercise's name, and "causes", a list of sentences that is empty for a
    right function. A kernel is checked at the hidden shapes. It sets the environment variables of
    LIMITS.
    """
    os.environ.update(LIMITS)
    functions = functions_of_text(submission, exercises)
    for exercise in exercises:
        function = functions[exercise.name]
        if isinstance(function, Exception):
            continue
        if isinstance(exercise, KernelExercise):
            exercise = replace(exercise, shapes=hidden[exercise.name].shapes)
        verdict = JUDGES[type(exercise)](exercise, function, PATIENCE)
        causes = (
            [*verdict.causes, *location_of(submission, exercise.name)] if verdict.causes else []
        )
        yield {"part": exercise.name, "causes": causes}


def functions_of_text(submission: Submission, exercises: list) -> dict[str, object]:
    """Return a dict from the name of each exercise to the submission's function.

    If there is no usable function, the value is the exception that says why. For an exercise in
    which lines are ordered, the value may be a tuple of line numbers.
    """
    names = tuple(exercise.name for exercise in exercises)
    pieces, files, problems, unread = [], [], [], []
    for number, (name, raw) in enumerate(submission.files):
        try:
            own = pieces_of(name, raw)
            unread += unread_cells(name, raw)
        except Unreadable as error:  # it does not cost the files beside it
            problems.append(str(error))
            continue
        pieces += own
        files += [number] * len(own)
    if not pieces and problems:
        return dict.fromkeys(names, Unreadable(" ".join(problems)))
    orders = frozenset(one.name for one in exercises if isinstance(one, OrderExercise))
    functions = functions_of(tuple(pieces), names, tuple(files), orders)
    return {
        name: NotAllowed(" ".join((str(function), *problems, *_in_a_cell_of_magic(name, unread))))
        if isinstance(function, Missing)
        else function
        for name, function in functions.items()
    }


def _in_a_cell_of_magic(name: str, unread: list[tuple[str, str]]) -> list[str]:
    """Return a sentence per notebook cell that defines function `name` but is not run as Python.

    unread: pairs of such a cell's magic, for example `%%writefile`, and the cell's text.
    """
    return [
        f"A cell that begins with `{magic}` holds it, and IPython does not run such a cell as "
        "Python of the notebook: remove this line."
        for magic, cell in unread
        if f"def {name}(" in cell
    ]


def _observe_kernel(exercise: KernelExercise, kernel, hidden: Hidden) -> Iterator[dict]:
    """Launch a kernel at the hidden shapes, and yield a dict per shape, as JSON-compatible data.

    Its keys are "shape", "out", "misused", "found" and "targets". If a launch fails, the last dict
    has only "shape" and "ended", a sentence. A kernel that cannot be launched gives one dict with
    "refused", a sentence. `attempts` describes the values. If several shapes have a flaw of the
    virtual GPU, "found" is at each of them the sentence on the flaw at the first one.
    """
    cause = no_kernel(exercise, kernel)
    if cause:
        yield {"refused": cause}
        return
    flaw = None  # only the first, because finding its cause takes further launches
    for number, shape in enumerate(hidden.shapes):
        run = attempt(exercise, kernel, shape, LAUNCH_SECONDS, hidden.seed)
        if isinstance(run, str):
            yield {"shape": number, "ended": run}
            return
        flawed = has_flaw(run)
        flaw = flaw or (describe_first_flaw(exercise, [run]) if flawed else None)
        yield {
            "shape": number,
            "out": _packed(run.out),
            "misused": misused(run),
            "found": flaw if flawed else unseen_mistake(exercise, run),
            "targets": _targets(exercise, run, number),
        }


def _observe_order(exercise: OrderExercise, submission, hidden: Hidden) -> Iterator[dict]:
    """Launch the kernel that an order of lines makes, and yield a dict per hidden shape.

    The dicts are those of a kernel, with the keys "shape", "out", "misused", "found" and "targets",
    or "ended", or "refused". In the sentences, the task's labels replace line numbers. If a launch
    fails and a line is misplaced, "ended" has the sentence on that line. If nothing else is found
    and a line is superfluous, "found" has the sentence on that line. A submission that is a kernel
    already is treated as one.
    """
    if line_order.is_kernel(submission):
        yield from _observe_kernel(exercise, submission, hidden)
        return
    cause = line_order.no_kernel_of(exercise, submission)
    if cause:
        yield {"refused": cause}
        return
    kernel = line_order.kernel_of(exercise, submission)
    misplaced = line_order.misplaced(exercise, submission)
    for message in _observe_kernel(exercise, kernel, hidden):
        if "ended" in message and misplaced:
            yield {**message, "ended": misplaced}
            continue
        message = _labelled(exercise, submission, message)
        if "out" in message:
            flaw = line_order.flaw_of(exercise, submission)
            message |= {"found": message["found"] or flaw}
        yield message


def _labelled(exercise: OrderExercise, order: line_order.Order, message: object) -> object:
    """Return a message in whose sentences the labels of lines replace their numbers.

    message: a dict that the child sends, a value of it, or a value of an inner dict. The values of
    "out" and "shape" stay as they are.
    """
    if isinstance(message, dict):
        return {
            key: value if key in ("out", "shape") else _labelled(exercise, order, value)
            for key, value in message.items()
        }
    return line_order.labelled(exercise, order, message) if isinstance(message, str) else message


def _targets(exercise: KernelExercise, run: Run, number: int) -> dict[str, dict]:
    """Return a dict from name to {"value", "cause"} for the targets that are tested at a shape.

    value: the count, or None if it is unknown. cause: a sentence if the target is missed, else
    None. number: the index of the shape. Many targets are tested only at shapes that fill all
    blocks, and those in machine code, which is the same at all shapes, only at shape 0.
    """
    counts = {}
    for target in exercise.targets:
        whole = number < WHOLE_SHAPES or exercise.always_whole
        for value in target.count(run, is_whole=number == 0 or (whole and not target.of_machine)):
            cause = target.cause(run, value) if target.missed(value) else None
            counts[target.what] = {"value": value, "cause": cause}
    return counts


def _packed(array: np.ndarray) -> dict:
    """Return an array as a JSON-compatible dict: "raw" (its bytes in base64), "dtype", "shape"."""
    raw = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"raw": raw, "dtype": str(array.dtype), "shape": list(array.shape)}


def unpacked(packed: dict) -> np.ndarray:
    """Return the array that `_packed` put into a dict, with its dtype and shape.

    Raises ValueError, TypeError or KeyError if the dict holds no array.
    """
    raw = base64.b64decode(packed["raw"])
    return np.frombuffer(raw, np.dtype(packed["dtype"])).reshape(packed["shape"])


def _observe_numbers(exercise: NumbersExercise, function, hidden: HiddenCases) -> Iterator[dict]:
    """Call a function of numbers for all cases, and yield {"answers": a number or None per case}.

    The graded cases of the task come first, then the hidden ones. None stands for a case whose call
    failed or returned neither an int nor a float. If a call failed, a dict with "ended", a sentence
    on the first such call, precedes it. After 5 calls that fail, the remaining cases are left out
    of "answers". A function that cannot be called gives only one dict with "refused", a sentence.
    """
    cause = host.no_function(exercise.parameters, function)
    if cause:
        yield {"refused": cause}
        return
    evaluate, answers, failures = make_evaluator(function), [], []
    for arguments in (*(case.given for case in graded_cases(exercise)), *hidden.given):
        try:
            answers.append(evaluate(arguments))
        except CannotEvaluate as error:
            answers.append(None)
            failures.append(f"{where(exercise, arguments)}: {error}")
            if len(failures) == MOST_FAILURES:
                break
    if failures:
        yield {"ended": failures[0]}
    yield {"answers": [one if isinstance(one, int | float) else None for one in answers]}


def _observe_host(exercise: HostExercise, function, hidden: None) -> Iterator[dict]:
    """Call a host function in its examination, and yield one dict on it.

    "passed" is a bool, "causes" a list of sentences, and "lost" the percentage of the points that
    the causes cost. hidden: not used.
    """
    cause = host.no_function(exercise.parameters, function)
    outcome = Examination((cause,)) if cause else host.examined(exercise, function, PATIENCE)
    yield {"passed": not outcome.causes, "causes": list(outcome.named), "lost": outcome.lost}


OBSERVERS = {
    KernelExercise: _observe_kernel,
    OrderExercise: _observe_order,
    NumbersExercise: _observe_numbers,
    HostExercise: _observe_host,
}
__all__ = ["NotAllowed", "attempts", "explanations", "unpacked"]
