"""Collects what the checks find, once per line, kind and array, and by how many threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..common.errors import ERROR_OF_KIND, WARNINGS, Finding, Site


@dataclass(frozen=True)
class Flaw:
    """One execution of a line that is wrong in some threads.

    threads: their numbers in the launch, int64. indices: for a wrong index, what these threads
    have along its axis.
    """

    kind: str
    site: Site
    array: str
    threads: np.ndarray
    axis: int | None = None
    indices: np.ndarray | None = None

    @property
    def key(self) -> tuple:
        """What is one finding, however often it happens."""
        return self.kind, self.site, self.array


class Tally:
    """A finding, and all threads and indices that were met with it."""

    def __init__(self, finding: Finding):
        self._finding = finding
        self._threads = np.empty(0, np.int64)
        self._new: list[np.ndarray] = []
        self._waiting = 0  # entries of the new ones
        self._ranges: dict[int | None, tuple[int, int]] = {}  # of wrong indices, by dimension

    def add(self, flaw: Flaw) -> None:
        """One more execution."""
        self._new.append(flaw.threads)
        self._waiting += len(flaw.threads)
        if self._waiting > max(1 << 16, len(self._threads)):
            self._merge()
        if flaw.indices is not None and len(flaw.indices):
            low, high = int(flaw.indices.min()), int(flaw.indices.max())
            known = self._ranges.get(flaw.axis, (low, high))
            self._ranges[flaw.axis] = (min(low, known[0]), max(high, known[1]))

    def discard(self) -> None:
        """Where it is a read of what nobody has set, it is a warning from now on."""
        if self._finding.kind == "uninitialised":
            message = f"{self._finding.message} The results do not depend on it."
            self._finding = replace(self._finding, kind="discarded", message=message)

    def _merge(self) -> None:
        self._threads = np.unique(np.concatenate([self._threads, *self._new]))
        self._new, self._waiting = [], 0

    @property
    def finding(self) -> Finding:
        """The finding with what is known so far."""
        self._merge()
        ranges = dict(self._ranges)
        own = ranges.pop(self._finding.axis, None)
        return replace(
            self._finding,
            threads_in_all=len(self._threads),
            index_range=own,
            other_ranges=tuple(ranges.items()),
        )


class Report:
    """Findings of one launch. With ``collect`` all are kept; without it the first one raises.

    A read of what nobody has set waits for the end of the launch, when it is known whether the
    results depend on it.
    """

    def __init__(self, collect: bool):
        self.collect = collect
        self._tallies: dict[tuple, Tally] = {}

    def add(self, flaw: Flaw, describe: Callable[[], Finding]) -> None:
        """Keep a flaw, or raise it; ``describe`` is asked the first time only."""
        tally = self._tallies.get(flaw.key)
        if tally is None:
            tally = self._tallies[flaw.key] = Tally(describe())
        tally.add(flaw)
        if flaw.kind not in WARNINGS and flaw.kind != "uninitialised":
            self.raise_first()

    def forget(self) -> None:
        """The launch begins again from the start."""
        self._tallies.clear()

    @property
    def undefined(self) -> bool:
        """Whether something was read that nobody had set."""
        return any(kind == "uninitialised" for kind, _, _ in self._tallies)

    @property
    def other_flaws(self) -> frozenset[tuple]:
        """Kind, line and array of each flaw that is no such read."""
        quiet = WARNINGS | {"uninitialised"}
        return frozenset(key for key in self._tallies if key[0] not in quiet)

    def raise_first(self) -> None:
        """Raise the first flaw as an error, unless flaws are collected."""
        first = next(iter(self.findings), None)
        if not self.collect and first is not None and not first.is_warning:
            raise ERROR_OF_KIND[first.kind](str(first), first)

    def discard_undefined(self) -> None:
        """The results do not depend on what was read and nobody had set: those are warnings."""
        for tally in self._tallies.values():
            tally.discard()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Errors first, then warnings, each in the order in which they were found."""
        found = [tally.finding for tally in self._tallies.values()]
        return tuple(sorted(found, key=lambda finding: finding.is_warning))
