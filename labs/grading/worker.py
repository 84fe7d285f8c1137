"""A process that grades one submission after the other, and can be lost without harm.

It has one thread, so that it may fork, and ends by itself when its parent is gone.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from multiprocessing import get_context
from multiprocessing.connection import Connection

from labs.grading.grade import Graded, grade
from labs.grading.labs import Lab
from labs.grading.reading import Submission

SECONDS_BETWEEN_LOOKS = 0.5  # whether the process still lives: a fork of it may hold its pipe open
SECONDS_TO_END = 10


class Worker:
    """Starts its process with the first submission, and a new one where it was lost."""

    def __init__(self) -> None:
        self._process = None
        self._pipe: Connection | None = None
        self._ended = False

    def grade(self, lab: Lab, submission: Submission, secret: str) -> Graded | None:
        """None where the process was killed over it, or the worker has been ended.

        Raises what `labs.grading.grade.grade` raises.
        """
        if self._ended:
            return None
        if self._process is None:
            self._start()
        try:
            self._pipe.send((lab, submission, secret))
            found = self._received()
        except (EOFError, OSError):
            self._drop()
            return None
        if isinstance(found, Exception):
            raise found
        return found

    def end(self) -> None:
        """Stops the process, and what it has forked; a `grade` in another thread returns None."""
        self._ended = True
        process = self._process
        if process is not None and process.is_alive():
            process.terminate()
            process.join(SECONDS_TO_END)

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def _received(self) -> Graded | Exception:
        while not self._pipe.poll(SECONDS_BETWEEN_LOOKS):
            if not self._process.is_alive() and not self._pipe.poll():
                raise EOFError
        return self._pipe.recv()

    def _drop(self) -> None:
        self._process.kill()
        self._process.join(SECONDS_TO_END)
        self._pipe.close()
        self._process = self._pipe = None


def _serve(pipe: Connection) -> None:
    """The process: ends when the pipe does. Ctrl-C is the parent's, who then ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that `in_child` kills its child
    with contextlib.suppress(EOFError, OSError):
        while True:
            given = pipe.recv()
            try:
                found = grade(*given)
            except Exception as error:  # told by the parent, in whose terminal it belongs
                found = error
            pipe.send(found)
