"""The report of a launch: one finding per line, kind and array, with its number of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..common.errors import ERROR_OF_KIND, WARNINGS, Finding, Site

# The end of a message on a race: the barrier that is missing within a warp, and within a block.
NO_SYNCWARP = " with no syncwarp() or syncthreads() between."
NO_SYNCTHREADS = " with no syncthreads() between."


@dataclass(frozen=True)
class Flaw:
    """One execution of a source line that is wrong in some threads.

    ``threads`` holds their launch-wide numbers (int64). For a wrong index, ``indices`` holds the
    indices of these threads along dimension ``axis``. For a race, ``of_several_warps`` is True if
    two of the accesses are of different warps. ``kind`` is that of the Finding, ``site`` the source
    line, and ``array`` the array's name.
    """

    kind: str
    site: Site
    array: str
    threads: np.ndarray
    axis: int | None = None
    indices: np.ndarray | None = None
    of_several_warps: bool = False

    @property
    def key(self) -> tuple:
        """The tuple (kind, site, array): flaws with equal keys are counted as one finding."""
        return self.kind, self.site, self.array


class Tally:
    """A finding, with all threads and indices for which it was reported."""

    def __init__(self, finding: Finding):
        self._finding = finding
        self._threads = np.empty(0, np.int64)
        self._new: list[np.ndarray] = []
        self._pending = 0  # entries in _new
        self._ranges: dict[int | None, tuple[int, int]] = {}  # of wrong indices, by dimension

    def add(self, flaw: Flaw) -> None:
        """Add the threads and the wrong indices of a flaw that has the same key.

        Once a race is between several warps, its message names the barrier of a block.
        """
        self._new.append(flaw.threads)
        self._pending += len(flaw.threads)
        if self._pending > max(1 << 16, len(self._threads)):
            self._merge()
        if flaw.of_several_warps and NO_SYNCWARP in self._finding.message:
            message = self._finding.message.replace(NO_SYNCWARP, NO_SYNCTHREADS)
            self._finding = replace(self._finding, message=message)
        if flaw.indices is not None and len(flaw.indices):
            low, high = int(flaw.indices.min()), int(flaw.indices.max())
            previous = self._ranges.get(flaw.axis, (low, high))
            self._ranges[flaw.axis] = (min(low, previous[0]), max(high, previous[1]))

    @property
    def kind(self) -> str:
        """The kind of the finding."""
        return self._finding.kind

    def discard(self) -> None:
        """Turn a read of an undefined value into a warning, because no result depends on it.

        A finding of another kind is left as it is.
        """
        if self._finding.kind == "uninitialised":
            message = f"{self._finding.message} The results do not depend on it."
            self._finding = replace(self._finding, kind="discarded", message=message)

    def _merge(self) -> None:
        """Merge the threads of the latest flaws into the sorted vector of all threads."""
        self._threads = np.unique(np.concatenate([self._threads, *self._new]))
        self._new, self._pending = [], 0

    @property
    def finding(self) -> Finding:
        """The finding with the number of threads and the index ranges that were added so far."""
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
    """The findings of one launch.

    If ``collect`` is True, all findings are kept; otherwise the first error is raised.

    A read of an undefined value is not raised before the end of the launch, when it is known
    whether the results depend on it.
    """

    def __init__(self, collect: bool):
        self.collect = collect
        self._tallies: dict[tuple, Tally] = {}

    def add(self, flaw: Flaw, describe: Callable[[], Finding]) -> None:
        """Add a flaw to its finding, and raise the first error unless findings are collected.

        A warning or a read of an undefined value raises nothing. ``describe()`` returns the
        Finding; it is called only for the first flaw with this key.
        """
        tally = self._tallies.get(flaw.key)
        if tally is None:
            tally = self._tallies[flaw.key] = Tally(describe())
        tally.add(flaw)
        if flaw.kind not in WARNINGS and flaw.kind != "uninitialised":
            self.raise_first()

    def forget(self) -> None:
        """Discard all findings, so that the launch can start again."""
        self._tallies.clear()

    @property
    def undefined(self) -> bool:
        """True if a read of an undefined value was reported, and is not discarded."""
        return any(tally.kind == "uninitialised" for tally in self._tallies.values())

    @property
    def stale_arrays(self) -> tuple[str, ...]:
        """The names of the shared arrays of which a stale element was read."""
        return tuple({array: 0 for kind, _, array in self._tallies if kind == "stale_element"})

    def forget_stale(self, array: str) -> None:
        """Discard the reads of stale elements of an array, because no result depends on them."""
        for key in [key for key in self._tallies if (key[0], key[2]) == ("stale_element", array)]:
            del self._tallies[key]

    @property
    def other_flaws(self) -> frozenset[tuple]:
        """The key (kind, site, array) of each error other than a read of an undefined value."""
        quiet = WARNINGS | {"uninitialised"}
        return frozenset(key for key in self._tallies if key[0] not in quiet)

    def raise_first(self) -> None:
        """Raise the first error, as the exception class that ERROR_OF_KIND has for its kind.

        Nothing is raised if findings are collected, or if there is no error among them.
        """
        first = next(iter(self.findings), None)
        if not self.collect and first is not None and not first.is_warning:
            raise ERROR_OF_KIND[first.kind](str(first), first)

    def discard_undefined(self) -> None:
        """Turn the reads of undefined values into warnings, because no result depends on them."""
        for tally in self._tallies.values():
            tally.discard()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings: errors first, then warnings, each in the order of discovery."""
        findings = [tally.finding for tally in self._tallies.values()]
        return tuple(sorted(findings, key=lambda finding: finding.is_warning))
