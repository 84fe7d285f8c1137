"""The exception that a student sees: a sentence instead of a traceback."""

from __future__ import annotations


class CourseError(Exception):
    """An error whose message is one sentence: what was given, what is needed, what to do.

    In a notebook only the sentence is shown; the command line prints it and exits with 2.
    """

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines instead of the traceback.
        return [str(self)]


class ArgumentError(CourseError, ValueError):
    """A CourseError about one argument that is a ValueError, too.

    It is raised by functions with the interface of another library that raises ValueError there.
    """
