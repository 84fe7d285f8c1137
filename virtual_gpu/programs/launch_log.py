"""Logs the launches of a program: the findings and counts of each kernel in all its launches."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from ..checks.report import Report
from ..common.errors import Finding, VirtualGpuError
from ..counts.counters import LineCount
from ..counts.hints import Hint
from ..host.hostarrays import DeviceArray
from ..host.transfers import TO_HOST, SourceLine, Transfer, line_in_program
from ..launching.dispatcher_methods import VirtualLaunch, run_launch
from ..launching.launch import Observer, launch
from ..launching.tracing import Trace, trace


@dataclass(frozen=True)
class KernelLog:
    """The results of one kernel of a program.

    ``file`` and ``line`` are those of its definition. ``findings`` and ``hints`` are those of all
    launches, without duplicates, and ``counts`` is the sum of their counts; a launch that an error
    ended has no hints and no counts. ``shown`` is the trace of the first launch with a flaw, else
    of the first launch, among those that ran to their end; ``shown_number`` is the number of that
    launch, counted from 1. ``shown`` is None, and the number 0, if no launch ran to its end.
    ``errors`` holds the messages of the errors that ended launches, each message once. ``name`` is
    the kernel's.
    ``calls`` holds the file and line of the launch in which each finding was made first, in the
    order of ``findings``.
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
    calls: tuple[SourceLine, ...] = ()

    @property
    def flaws(self) -> tuple[Finding, ...]:
        """The findings of all launches of this kernel that are no warnings."""
        return tuple(f for f in self.findings if not f.is_warning)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings of all launches of this kernel that are warnings."""
        return tuple(f for f in self.findings if f.is_warning)


    def call_of(self, finding: Finding) -> SourceLine:
        """Return the file and line of the launch in which a finding was made first."""
        return self.calls[self.findings.index(finding)]


class Stopped(SystemExit):
    """Raised at the first flaw with ``--stop``, with exit code 1. Warnings are no flaws.

    As a SystemExit, it is not caught by an ``except Exception`` of the program.
    """


class LaunchLog:
    """A watcher for ``dispatcher_methods.watching`` that logs the launches of all threads.

    With ``stop``, the first flaw ends the program; warnings do not. In a process that was forked
    from this one nothing is logged: a launch there runs as without a watcher, and its first flaw is
    raised.
    """

    def __init__(self, stop: bool = False):
        self._stop = stop
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._only_device_arrays = True  # all launches had device arrays, and no other ones
        self._kernels: dict[tuple[str, int, str], KernelLog] = {}

    @property
    def kernels(self) -> tuple[KernelLog, ...]:
        """The logs of all kernels, in the order of their first launches."""
        return tuple(self._kernels.values())

    @property
    def flaws(self) -> tuple[Finding, ...]:
        """The flaws of all kernels, without warnings."""
        return tuple(flaw for kernel in self.kernels for flaw in kernel.flaws)

    def results_are_unseen(self, transfers: list[Transfer]) -> bool:
        """Return True if all results of the kernels are in device arrays, and none was copied back.

        Each launch had a device array then, and none had a host array. False if a kernel prints,
        and without a launch. ``transfers`` are all copies of the program.
        """
        copied = any(transfer.direction == TO_HOST for transfer in transfers)
        return bool(self._kernels) and self._only_device_arrays and not copied

    def __call__(self, call: VirtualLaunch, arguments: tuple) -> None:
        """Run a launch and log its findings, hints and counts, or the error that ends it.

        An error that ends the launch is raised again. With ``stop``, the first flaw raises Stopped,
        and hints and counts are not taken.
        """
        names = call.kernel.py_func.__code__.co_names
        on_device = any(isinstance(argument, DeviceArray) for argument in arguments)
        elsewhere = any(isinstance(argument, np.ndarray) for argument in arguments)
        self._only_device_arrays &= on_device and not elsewhere and "print" not in names
        if os.getpid() != self._process:
            run_launch(call, arguments)
        elif self._stop:
            self._run_until_a_finding(call, arguments)
        else:
            self._run(call, arguments)

    def _run(self, call: VirtualLaunch, arguments: tuple) -> None:
        """Run a launch with ``trace`` and log its results, or the error that ends it."""
        geometry = call.geometry
        with self._logging_errors(call):
            result = trace(
                call.kernel, geometry.grid, geometry.block, *arguments,
                shared_bytes=call.shared_bytes,
            )  # fmt: skip
        self._add(call, result.findings, (), result)

    def _run_until_a_finding(self, call: VirtualLaunch, arguments: tuple) -> None:
        """Run a launch without counts; raise Stopped at its first flaw, and log it."""
        report = Report(collect=False)
        try:
            with self._logging_errors(call):
                launch(call.kernel, call.geometry, arguments, call.shared_bytes, Observer(report))
        except VirtualGpuError as error:
            if error.finding is None:
                raise
            raise Stopped(1) from None
        self._add(call, report.findings, (), None)

    @contextlib.contextmanager
    def _logging_errors(self, call: VirtualLaunch) -> Iterator[None]:
        """Inside the context, log a launch that ends with any exception, then raise it again."""
        try:
            yield
        except BaseException as error:
            finding = getattr(error, "finding", None)
            if finding is None:
                message = _message(error, call.kernel.py_func.__name__)
                self._add(call, getattr(error, "earlier", ()), (message,), None)
            else:
                self._add(call, (finding,), (), None)
            raise

    def _add(
        self, call: VirtualLaunch, findings: tuple, errors: tuple[str, ...], result: Trace | None
    ) -> None:
        """Add a launch to the log of its kernel.

        ``findings`` are those of this launch, and ``errors`` are its messages. ``result`` is its
        trace, or None if it was not traced to its end.
        """
        code = call.kernel.py_func.__code__
        key = (code.co_filename, code.co_firstlineno, code.co_name)
        with self._lock:
            before = self._kernels.get(key) or _empty_log(key)
            after = _with_launch(before, findings, errors, result)
            new = len(after.findings) - len(before.findings)
            calls = (*before.calls, *[line_in_program()] * new)
            self._kernels[key] = replace(after, calls=calls)


def _message(error: BaseException, kernel: str) -> str:
    """Return the message of the error that ended a launch of this kernel.

    It is the error's own text for a VirtualGpuError, otherwise a sentence that begins with the
    kernel's name.
    """
    if isinstance(error, VirtualGpuError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return f"{kernel} was interrupted before its end."
    return f"{kernel} was ended by {type(error).__name__}: {error}"


def _empty_log(key: tuple[str, int, str]) -> KernelLog:
    """Return the log of a kernel without launches; ``key`` is (file, line, name)."""
    file, line, name = key
    return KernelLog(name, file, line, 0, (), (), LineCount(), (), None, 0)


def _with_launch(
    before: KernelLog, findings: tuple, errors: tuple[str, ...], result: Trace | None
) -> KernelLog:
    """Return the log ``before``, extended by one more launch.

    ``findings`` are those of this launch, and ``errors`` are its messages. ``result`` is the
    launch's trace, or None if the launch was not traced to its end.
    """
    launches = before.launches + 1
    shown = before.shown, before.shown_number
    if result and (before.shown is None or (_has_flaw(result) and not _has_flaw(before.shown))):
        shown = result, launches
    return KernelLog(
        before.name,
        before.file,
        before.line,
        launches,
        _without_duplicates((*before.findings, *findings)),
        _without_duplicates((*before.hints, *(result.hints if result else ()))),
        _sum((before.counts, *(result.counts.values() if result else ()))),
        tuple(dict.fromkeys((*before.errors, *errors))),
        *shown,
    )


def _has_flaw(result: Trace) -> bool:
    """Return True if a trace has a finding that is no warning."""
    return any(not finding.is_warning for finding in result.findings)


def _without_duplicates(notes: tuple) -> tuple:
    """Return the findings or hints, but only the first of each kind, source line and array."""
    first: dict[tuple, Finding | Hint] = {}
    for note in notes:
        first.setdefault((note.kind, note.site, note.array), note)
    return tuple(first.values())


def _sum(counts: Iterable[LineCount]) -> LineCount:
    """Return a LineCount in which each field is the sum of that field over all counts."""
    counts = tuple(counts)
    return LineCount(*(sum(getattr(c, f.name) for c in counts) for f in fields(LineCount)))
