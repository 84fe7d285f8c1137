"""Host functions that the reader writes: plain Python that the check calls.

The function runs in this process, as the reader's own cell would run it, with a limit in seconds.
What it does is seen through what it is given: a device that counts, a clock that is no real one.
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
from types import FrameType

from labs.checking.exercise import Exercise
from labs.checking.phrasing import counted, sentence
from labs.checking.verdict import Verdict


class CallFailed(BaseException):
    """A call that raised or did not end; its text is the cause.

    No `except Exception` of the reader's catches it.
    """


@dataclass(frozen=True)
class Examined:
    """What an examination of a function says: causes, or the facts and counts of a right one."""

    causes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    counts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class HostExercise(Exercise):
    """One function of plain Python that the reader writes.

    parameters: of the function. promises: what the task says that is looked at.
    examine: gets the reader's function as one that raises CallFailed, and calls it as often as it
    needs to.
    """

    parameters: tuple[str, ...]
    promises: tuple[str, ...]
    examine: Callable[[Callable], Examined]

    @property
    def goals(self) -> tuple[str, ...]:
        """The promises."""
        return self.promises


def judge(asked: HostExercise, given, patience: float) -> Verdict:
    """Call a function as the exercise wants it. patience: seconds for one call."""
    cause = no_function(asked.parameters, given)
    if cause:
        return Verdict(asked.name, asked.title, (cause,))
    try:
        seen = asked.examine(lambda *arguments: call(given, *arguments, patience=patience))
    except CallFailed as error:
        return Verdict(asked.name, asked.title, (str(error),))
    if seen.causes:
        return Verdict(asked.name, asked.title, seen.causes, (), seen.counts)
    return Verdict(asked.name, asked.title, (), (*seen.facts, asked.after), seen.counts)


def call(function: Callable, *arguments, patience: float):
    """What the function returns. Its prints are dropped; CallFailed where it raises or lasts."""
    own, until = function.__code__.co_filename, time.monotonic() + patience

    def watch(frame: FrameType, event: str, detail):
        # Lines of the reader's own cell alone: libraries run at their full speed.
        if frame.f_code.co_filename != own:
            return None
        if time.monotonic() > until:
            raise CallFailed(
                f"Line {frame.f_lineno}: after {patience:g} seconds the function has not ended. "
                "Is there a loop that never ends, because what it tests does not change?"
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
        line = _line(error, own)
        raise CallFailed(
            f"Line {line} raises {type(error).__name__}: {sentence(str(error))}"
        ) from None
    finally:
        sys.settrace(before)


def _line(error: Exception, file: str) -> int:
    """The last line of the reader's file that the error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.lineno for frame in frames if frame.filename == file][-1]


def no_function(parameters: tuple[str, ...], given: object) -> str | None:
    """Why this is no plain function of these parameters; None where it is one."""
    if given is None:
        return "This is `None`: the check needs the function itself, and not what it returns."
    if not inspect.isfunction(given):
        return (
            f"This is a {type(given).__name__}. The check needs the function itself, plain Python, "
            "without brackets behind its name."
        )
    signature = inspect.signature(given)
    try:
        signature.bind(*parameters)
    except TypeError:
        wanted = ", ".join(f"`{name}`" for name in parameters)
        return (
            f"The check calls the function with {counted(len(parameters), 'argument')}, "
            f"{wanted}. Yours has "
            f"{counted(len(signature.parameters), 'parameter')}."
        )
    return None
