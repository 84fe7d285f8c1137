"""Programs with one planted bug each, and what the virtual GPU says about it.

`bugs_in_kernels`, `bugs_in_programs` and `bugs_of_beginners` hold the programs, and `judge` runs
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

SILENT = "nothing"


@dataclass(frozen=True)
class Planted:
    """A program with one bug, and the kind of the remark that names it.

    ``kind`` is that of a finding or a hint, the name of an exception, "warning" for a Python
    warning of the host, "unseen" if no result was copied back, or SILENT. ``run`` is the program;
    its docstring says what the bug is.
    """

    run: Callable[[], None]
    kind: str

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.run.__name__


def collector() -> tuple[list[Planted], Callable]:
    """Return a list, and a decorator ``planted(kind)`` that adds a program to it."""
    programs: list[Planted] = []

    def planted(kind: str) -> Callable:
        def add(run: Callable[[], None]) -> Callable[[], None]:
            programs.append(Planted(run, kind))
            return run

        return add

    return programs, planted
