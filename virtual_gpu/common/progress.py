"""A line on stderr that shows the progress of a long launch."""

from __future__ import annotations

import os
import sys

QUIET_SECONDS = 3.0
REFRESH_SECONDS = 0.5


class ProgressLine:
    """The progress of a launch of ``total`` batches, shown once it has run for three seconds.

    In a terminal and in a notebook it is one line, refreshed at most twice a second and erased at
    the end. In a log it is a new line each time the elapsed time has doubled.
    VIRTUAL_GPU_PROGRESS=0 switches it off. ``due`` is the number of seconds after which the next
    line is wanted.
    """

    def __init__(self, name: str, total: int):
        self._name = name
        self._total = total
        self._width = 0
        self.due = QUIET_SECONDS  # seconds after which the next line is wanted
        if os.environ.get("VIRTUAL_GPU_PROGRESS", "1") == "0":
            self.due = float("inf")

    def show(self, done: int, seconds: float) -> None:
        """Write to stderr the number of the running batch, the elapsed time and the time to go.

        The number of the batch, from 1, is left out if there is one batch only, and the time to go
        before the first batch has finished. ``done`` is the number of finished batches, less than
        the total, and ``seconds`` the elapsed time. The launch calls this when ``seconds`` has
        reached ``due``, and ``due`` then becomes the time of the next call.
        """
        batch = f"batch {done + 1} of {self._total}, " if self._total > 1 else "running for "
        text = f"{self._name}: {batch}{seconds:.1f} s"
        if done:
            text += f", about {seconds / done * (self._total - done):.0f} s to go"
        if _can_erase(sys.stderr):
            self._write(text)
            self.due = seconds + REFRESH_SECONDS
        else:
            print(text, file=sys.stderr, flush=True)
            self.due = 2 * seconds

    def erase(self) -> None:
        """Erase the line in a terminal or notebook, because the launch is over.

        Nothing happens if no line is shown, or if the lines went to a log.
        """
        if self._width:
            self._write("")
            self._width = 0

    def _write(self, text: str) -> None:
        """Write ``text`` over the present line on stderr; an empty text erases the line."""
        end = "" if text else "\r"
        print("\r" + text.ljust(self._width), end=end, file=sys.stderr, flush=True)
        self._width = max(self._width, len(text))


def _can_erase(stream) -> bool:
    """Return True if a printed line can be overwritten: in a terminal and in a notebook."""
    notebook = type(stream).__module__.startswith("ipykernel")
    return notebook or bool(getattr(stream, "isatty", lambda: False)())
