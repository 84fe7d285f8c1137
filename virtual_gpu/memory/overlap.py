"""Finds reads of dynamic shared memory that was stored through another array of the function."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks.clock import TIME_MASK, Access
from ..checks.releases import NEVER
from ..checks.report import Flaw
from ..checks.shadow import Shadow
from ..common.errors import Finding


class _Storers:
    """Records which of several arrays over one dynamic shared memory has stored each unit last.

    ``shadow`` is that of the memory. ``names`` are those of the arrays, in the order in which a
    function declares them. All stores before the second declaration are of the first array.
    """

    def __init__(self, shadow: Shadow):
        self.shadow = shadow
        self.names: list[str] = []
        self._last = np.zeros(shadow.writer.size, np.int16)

    @property
    def last(self) -> np.ndarray:
        """The number (int16) of the array that has stored each unit of the shadow last."""
        parts = self.shadow.writer.size // max(1, self._last.size)
        if parts > 1:  # an array of smaller elements has split the units
            self._last = self._last.repeat(parts)
        return self._last


class View(NamedTuple):
    """One of the arrays that a function declares over the same dynamic shared memory.

    ``storers`` is the record that these arrays share, and ``number`` the index of this array in
    ``storers.names``.
    """

    storers: _Storers
    number: int

    def note(self, units: np.ndarray) -> None:
        """Record that these units of the shadow are stored through this array.

        Nothing is recorded while it is the only array.
        """
        if len(self.storers.names) > 1:
            self.storers.last[units] = self.number

    def check(self, access: Access, units: np.ndarray) -> None:
        """Report, as a warning, the active lanes that read what another array has stored.

        ``units`` holds a unit of the shadow per active lane.
        """
        if len(self.storers.names) == 1:
            return
        last = self.storers.last.take(units)
        words = self.storers.shadow.writer.take(units)
        where = (last != self.number) & (words != NEVER)
        if where.any():
            name = self.storers.names[self.number]
            position = int(np.flatnonzero(where)[0])
            other = self.storers.names[last[position]], int(words[position])
            flaw = Flaw("overlap", access.site, name, access.numbers(where))
            access.clock.report.add(flaw, lambda: _finding(name, access, position, other))


class Views:
    """The arrays over the dynamic shared memory of one batch, by function and dtype.

    Only arrays of one dtype are compared, because a kernel may read the bits of a number through an
    array of another dtype on purpose.
    """

    def __init__(self):
        self._storers: dict[tuple[str, np.dtype], _Storers] = {}

    def declare(self, declared: tuple[str, np.dtype], name: str, shadow: Shadow) -> View:
        """Return a new View for an array that a function declares over dynamic shared memory.

        ``declared`` is (name of the function, dtype of the array), ``name`` the array's name, and
        ``shadow`` that of the memory.
        """
        storers = self._storers.setdefault(declared, _Storers(shadow))
        storers.names.append(name)
        return View(storers, len(storers.names) - 1)


def _finding(name: str, access: Access, position: int, other: tuple[str, int]) -> Finding:
    """Return the Finding of the lane at ``position``, which reads what another array has stored.

    ``name`` is the array that the lane reads, and ``position`` counts active lanes. ``other`` is
    (name of the array that has stored, shadow word of the store).
    """
    thread, element = access.thread(position), access.locate(position)
    line = access.clock.sites[other[1] & TIME_MASK].line
    return Finding(
        "overlap", access.site, name, element, (thread,), 1,
        f"{thread} reads {name}{list(element)}, which line {line} has stored through {other[0]}: "
        "both arrays begin at the first byte of the dynamic shared memory; slice one array, such "
        "as shared[:n] and shared[n:].",
        other_line=line,
    )  # fmt: skip
