"""A process that grades one submission after another, and can be killed without harm to the grader.

It has only one thread, so that it may fork, and it ends when its parent is gone. It is a separate
program because Dask workers may not start processes by `multiprocessing`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from labs.grading.grade import Mark, failure, grade, unjudged
from labs.grading.labs import Lab
from labs.grading.submissions import Submission
from utils.errors import CourseError
from utils.paths import ROOT

SECONDS_BETWEEN_LOOKS = 0.5  # at the process: if it dies, a fork of it may hold its pipe open
SECONDS_TO_END = 10


class Worker:
    """A handle on one grading process, which is started when needed, again after it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._pipe: Connection | None = None
        self._ended = False

    def grade(self, lab: Lab, submission: Submission, secret: str) -> Mark | None:
        """Return the mark of a submission, or None if its process was killed or `end` was called.

        Raises CourseError if the secret is too short or a sandbox is missing. Any other error in
        the process gives a mark without points, whose `failed` says what it was.
        """
        if self._ended:
            return None
        if self._process is None:
            self._start()
        try:
            self._pipe.send((lab, submission, secret))
            mark = self._received()
        except (EOFError, OSError):
            self._drop()
            return None
        except Exception:  # half a message may be left in the pipe, before the next one's mark
            self._drop()
            raise
        if isinstance(mark, CourseError):
            raise mark
        return mark

    def end(self) -> None:
        """Stop the process and its children.

        A call of `grade` that is waiting in another thread, and any later call, returns None.
        """
        self._ended = True
        process = self._process
        if process is not None:
            process.terminate()
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()

    def _start(self) -> None:
        """Start the grading process and the pipe to it."""
        self._pipe, child_end = Pipe()
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "labs.grading.worker", str(child_end.fileno())],
            pass_fds=[child_end.fileno()], stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C reaches only the parent, which ends this process
        )  # fmt: skip
        child_end.close()

    def _received(self) -> Mark | CourseError:
        """Return the process's answer, or raise EOFError if the process ends without one."""
        while not self._pipe.poll(SECONDS_BETWEEN_LOOKS):
            if self._process.poll() is not None and not self._pipe.poll():
                raise EOFError
        return self._pipe.recv()

    def _drop(self) -> None:
        """Kill the process and close its pipe; the next call of `grade` starts a new process."""
        self._process.kill()
        self._process.wait(SECONDS_TO_END)
        self._pipe.close()
        self._process = self._pipe = None


def serve(pipe: Connection) -> None:
    """Grade the submissions that a pipe sends, and send back each answer, until the pipe is closed.

    Every message is a tuple of lab, submission and secret. It also makes SIGTERM end this process.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that `in_child` kills its child
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(answer(*pipe.recv()))


def answer(lab: Lab, submission: Submission, secret: str) -> Mark | CourseError:
    """Return the mark of a submission, or a CourseError, which concerns the whole class.

    Any other error gives a mark without points that says what the error was. secret: the class's
    secret, from which hidden shapes are drawn.
    """
    try:
        return grade(lab, submission, secret)
    except CourseError as error:  # raised again in the parent process
        return CourseError(str(error))
    except Exception as error:
        return unjudged(lab, submission.student, failure(error))


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
