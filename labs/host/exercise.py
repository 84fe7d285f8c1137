"""Exercises in which the reader writes a host function: plain Python that the check calls.

The function runs in this process, as in the reader's own cell, with a limit in seconds. Its
arguments record what it does: a device that counts its launches and copies, or a simulated clock.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from types import FrameType

from labs.checking.exercise import Exercise
from labs.checking.phrasing import counted, sentence
from labs.checking.verdict import Verdict
from utils.translation import translate


class CallFailed(BaseException):
    """A call of a reader's function raised an error or did not end. The message says so.

    It is a BaseException so that no `except Exception` in the reader's code catches it.
    """


@dataclass(frozen=True)
class Fault:
    """A fault of a host function.

    cause: a sentence on it. costs: the percentage of the points that it costs.
    """

    cause: str
    costs: int


@dataclass(frozen=True)
class Examination:
    """The outcome of an exercise's tests of a host function.

    causes: sentences on what is wrong, for `check`; empty if the function is right. facts:
    sentences on what a right function does. counts: measured figures by name. faults: all faults
    that were found, for a mark; if it is empty, the causes cost all points.
    """

    causes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    counts: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    @property
    def lost(self) -> int:
        """The percentage of the points that are lost.

        It is 0 without causes. With causes, it is the sum over the faults, at most 100, or 100 if
        there are no faults.
        """
        if not self.causes:
            return 0
        return min(100, sum(one.costs for one in self.faults)) if self.faults else 100

    @property
    def named(self) -> tuple[str, ...]:
        """The sentences of all faults, each once: the causes first, and then the other faults."""
        return tuple(dict.fromkeys((*self.causes, *(one.cause for one in self.faults))))


@dataclass(frozen=True, eq=False, kw_only=True)
class HostExercise(Exercise):
    """An exercise in which the reader writes one function of plain Python.

    parameters: the names of the function's parameters. promises: the criteria that the task states.
    examine: takes the reader's function and returns the outcome of its tests; a call of the
    function raises CallFailed if it fails. kind: "write", or "repair" for a flawed function.
    """

    parameters: tuple[str, ...]
    promises: tuple[str, ...]
    examine: Callable[[Callable], Examination]
    kind: str = "write"

    @property
    def goals(self) -> tuple[str, ...]:
        """The criteria that the task states, as English sentences or phrases."""
        return self.promises


def judge(exercise: HostExercise, function, patience: float) -> Verdict:
    """Call a host function as its exercise demands, and return the verdict on it.

    If it cannot be called with the exercise's parameters, the verdict's only cause says so. The
    facts are empty if there is a cause; else they are those of the outcome and then the exercise's
    `after`. patience: the seconds that one call may take.
    """
    cause = no_function(exercise.parameters, function)
    if cause:
        return Verdict(exercise.name, exercise.title, (cause,))
    outcome = examined(exercise, function, patience)
    facts = () if outcome.causes else (*outcome.facts, translate(exercise.after))
    return Verdict(exercise.name, exercise.title, outcome.causes, facts, outcome.counts)


def examined(exercise: HostExercise, function: Callable, patience: float) -> Examination:
    """Return the outcome of an exercise's tests of a function.

    If a call raises an error or does not end, the outcome has this as its only cause. patience: the
    seconds that one call may take.
    """
    try:
        return exercise.examine(wraps(function)(partial(call, function, patience=patience)))
    except CallFailed as error:
        return Examination((str(error),))


def call(function: Callable, *arguments, patience: float):
    """Call a function without showing its prints, and return its result.

    Raises CallFailed if the function raises an error or takes more than `patience` seconds.
    """
    own, deadline = function.__code__.co_filename, time.monotonic() + patience

    def watch(frame: FrameType, event: str, detail):
        """Trace the reader's code; return this function, or None for a frame of another file.

        Raises CallFailed at the first line after the deadline.
        """
        # Trace only lines of the reader's own cell, so that libraries run at full speed.
        if frame.f_code.co_filename != own:
            return None
        if time.monotonic() > deadline:
            raise CallFailed(
                translate(
                    "Line {line}: after {seconds:g} seconds the function has not ended. Is there a "
                    "loop that never ends, because what it tests does not change?",
                    line=frame.f_lineno,
                    seconds=patience,
                )
            )
        return watch

    before = sys.gettrace()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            sys.settrace(watch)
            return function(*arguments)
    except CallFailed:
        raise
    except Exception as error:  # whatever a reader's function does
        told = translate(
            "Line {line} raises {error}: {message}",
            line=_line(error, own),
            error=type(error).__name__,
            message=sentence(str(error)),
        )
        raise CallFailed(told) from None
    finally:
        sys.settrace(before)


def _line(error: Exception, file: str) -> int:
    """Return the number of the reader's line that raised an error, or that called what raised it.

    file: the reader's file, which must be in the error's traceback.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.lineno for frame in frames if frame.filename == file][-1]


def no_function(parameters: tuple[str, ...], function: object) -> str | None:
    """Return a sentence on why a submission cannot be called with these parameters, or None.

    It must be a plain Python function. Its parameters may have other names.
    """
    if function is None:
        return translate(
            "This is `None`: the check needs the function itself, and not what it returns."
        )
    if not inspect.isfunction(function):
        return translate(
            "This is a {type}. The check needs the function itself, plain Python, without brackets "
            "behind its name.",
            type=type(function).__name__,
        )
    signature = inspect.signature(function)
    try:
        signature.bind(*parameters)
    except TypeError:
        wanted = ", ".join(f"`{name}`" for name in parameters)
        return translate(
            "The check calls the function with {arguments}, {wanted}. Yours has {parameters}.",
            arguments=counted(len(parameters), "argument"),
            wanted=wanted,
            parameters=counted(len(signature.parameters), "parameter"),
        )
    return None
