"""Watches the launches of a program: for each kernel what was found and counted in all of them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from ..checks.report import Report
from ..common.errors import Finding, VirtualGpuError
from ..counts.counters import LineCount
from ..counts.hints import Hint
from ..launching.dispatch import VirtualLaunch, run_launch
from ..launching.launch import Observer, launch
from ..launching.tracing import Trace, trace


@dataclass(frozen=True)
class KernelLog:
    """One kernel of a program. ``findings`` and ``hints`` are those of all launches, each once.

    ``shown``: the first launch with a flaw, else the first one, and ``shown_number`` counts from 1;
    None where no launch came to its end. ``errors``: what ended launches, as sentences.
    """

    name: str
    file: str
    line: int
    launches: int
    findings: tuple[Finding, ...]
    hints: tuple[Hint, ...]
    counts: LineCount
    errors: tuple[str, ...]
    shown: Trace | None
    shown_number: int

    @property
    def flaws(self) -> tuple[Finding, ...]:
        """The findings that are no warnings."""
        return tuple(f for f in self.findings if not f.is_warning)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.is_warning)


class Stopped(SystemExit):
    """Raised at the first finding where the program is to stop there; no ``except Exception`` of
    the program catches it. The exit code is 1."""


class LaunchLog:
    """A watcher for ``dispatch.watching``. Launches of other threads are counted, too.

    ``stop``: the first finding ends the program. In a process that was forked from this one,
    nothing is kept: a launch there runs as without a watcher, and its first finding is raised.
    """

    def __init__(self, stop: bool = False):
        self._stop = stop
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._kernels: dict[tuple[str, int, str], KernelLog] = {}

    @property
    def kernels(self) -> tuple[KernelLog, ...]:
        """In the order of their first launches."""
        return tuple(self._kernels.values())

    @property
    def flaws(self) -> tuple[Finding, ...]:
        return tuple(flaw for kernel in self.kernels for flaw in kernel.flaws)

    def __call__(self, what: VirtualLaunch, arguments: tuple) -> None:
        """Run a launch and keep what it did."""
        if os.getpid() != self._process:
            run_launch(what, arguments)
        elif self._stop:
            self._run_until_a_finding(what, arguments)
        else:
            self._run(what, arguments)

    def _run(self, what: VirtualLaunch, arguments: tuple) -> None:
        geometry = what.geometry
        with self._keeping_what_ends(what):
            seen = trace(
                what.kernel, geometry.grid, geometry.block, *arguments,
                shared_bytes=what.shared_bytes,
            )  # fmt: skip
        self._add(what, seen.findings, (), seen)

    def _run_until_a_finding(self, what: VirtualLaunch, arguments: tuple) -> None:
        report = Report(collect=False)
        try:
            with self._keeping_what_ends(what):
                launch(what.kernel, what.geometry, arguments, what.shared_bytes, Observer(report))
        except VirtualGpuError as error:
            if error.finding is None:
                raise
            raise Stopped(1) from None
        self._add(what, report.findings, (), None)

    @contextlib.contextmanager
    def _keeping_what_ends(self, what: VirtualLaunch) -> Iterator[None]:
        """A launch that comes to no end is a launch, too, whatever has ended it."""
        try:
            yield
        except BaseException as error:
            found = getattr(error, "finding", None)
            if found is None:
                self._add(what, (), (_said(error, what.kernel.py_func.__name__),), None)
            else:
                self._add(what, (found,), (), None)
            raise

    def _add(
        self, what: VirtualLaunch, findings: tuple, errors: tuple[str, ...], seen: Trace | None
    ) -> None:
        code = what.kernel.py_func.__code__
        key = (code.co_filename, code.co_firstlineno, code.co_name)
        with self._lock:
            before = self._kernels.get(key) or _nothing_yet(key)
            self._kernels[key] = _with_launch(before, findings, errors, seen)


def _said(error: BaseException, kernel: str) -> str:
    """What ended a launch, as a sentence."""
    if isinstance(error, VirtualGpuError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return f"{kernel} was interrupted before its end."
    return f"{kernel} was ended by {type(error).__name__}: {error}"


def _nothing_yet(key: tuple[str, int, str]) -> KernelLog:
    file, line, name = key
    return KernelLog(name, file, line, 0, (), (), LineCount(), (), None, 0)


def _with_launch(
    before: KernelLog, findings: tuple, errors: tuple[str, ...], seen: Trace | None
) -> KernelLog:
    """What is known of a kernel after one more launch."""
    launches = before.launches + 1
    shown = before.shown, before.shown_number
    if seen and (before.shown is None or (_flawed(seen) and not _flawed(before.shown))):
        shown = seen, launches
    return KernelLog(
        before.name,
        before.file,
        before.line,
        launches,
        _each_once((*before.findings, *findings)),
        _each_once((*before.hints, *(seen.hints if seen else ()))),
        _sum((before.counts, *(seen.counts.values() if seen else ()))),
        tuple(dict.fromkeys((*before.errors, *errors))),
        *shown,
    )


def _flawed(seen: Trace) -> bool:
    return any(not finding.is_warning for finding in seen.findings)


def _each_once(notes: tuple) -> tuple:
    """The first finding, or hint, of each kind, line and array."""
    kept: dict[tuple, Finding | Hint] = {}
    for note in notes:
        kept.setdefault((note.kind, note.site, note.array), note)
    return tuple(kept.values())


def _sum(counts: Iterable[LineCount]) -> LineCount:
    counts = tuple(counts)
    return LineCount(*(sum(getattr(c, f.name) for c in counts) for f in fields(LineCount)))
