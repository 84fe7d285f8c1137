"""A process that grades one submission after the other, and can be lost without harm.

It has one thread, so that it may fork, and ends by itself when its parent is gone. It is a program
of its own, since a worker of Dask may start no process by `multiprocessing`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from labs.grading.grade import Graded, grade
from labs.grading.labs import Lab
from labs.grading.reading import Submission
from utils.paths import ROOT

SECONDS_BETWEEN_LOOKS = 0.5  # whether the process still lives: a fork of it may hold its pipe open
SECONDS_TO_END = 10


class Worker:
    """Starts its process with the first submission, and a new one where it was lost."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
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
        if process is not None:
            process.terminate()
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "labs.grading.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for the parent, who then ends this process
        )  # fmt: skip
        theirs.close()

    def _received(self) -> Graded | Exception:
        while not self._pipe.poll(SECONDS_BETWEEN_LOOKS):
            if self._process.poll() is not None and not self._pipe.poll():
                raise EOFError
        return self._pipe.recv()

    def _drop(self) -> None:
        self._process.kill()
        self._process.wait(SECONDS_TO_END)
        self._pipe.close()
        self._process = self._pipe = None


def serve(pipe: Connection) -> None:
    """Grades what comes, until the pipe ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that `in_child` kills its child
    with contextlib.suppress(EOFError, OSError):
        while True:
            given = pipe.recv()
            try:
                found = grade(*given)
            except Exception as error:  # told by the parent, in whose terminal it belongs
                found = error
            pipe.send(found)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
