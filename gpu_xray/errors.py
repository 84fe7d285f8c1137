"""The exception that a student sees: a sentence instead of a traceback."""

from __future__ import annotations


class CourseError(Exception):
    """One sentence: what was given, what is needed, what to do.

    In a notebook only the sentence is shown; the command line prints it and exits with 2.
    """

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines instead of the traceback.
        return [str(self)]


class ArgumentError(CourseError, ValueError):
    """A CourseError about one argument, where the interface of others promises a ValueError."""
