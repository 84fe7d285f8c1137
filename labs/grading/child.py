"""Run the work on one submission in a limited child process, and receive its messages."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labs.grading.messages import ChildOutcome, MiB, decode, receive, send_all

MOST_WRITTEN = 64 * MiB  # bytes to a file; the disassembler needs one
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl


@dataclass(frozen=True)
class ChildLimits:
    """Limits of a child process, which runs one part of a submission.

    seconds: wall-clock time until the child is killed; this ends a child that only waits.
    cpu_seconds: processor time, which ends a child that computes. A right part needs at most 3
    seconds of it, however busy the machine is. memory_bytes: memory in addition to what the process
    has before it reads the submission.
    """

    seconds: float = 300.0  # so that a busy machine changes no mark
    cpu_seconds: int = 13
    memory_bytes: int = 3 * 2**30  # beyond what it has before it reads the submission


USUAL = ChildLimits()
CPU_SECONDS_TO_EXPLAIN = 5  # of a second child, which says what was wrong


def in_child(work: Callable[[], Iterator[dict]], limits: ChildLimits = USUAL) -> ChildOutcome:
    """Run `work` in a fork of this process; return the messages that it yields, and any problem.

    Messages are plain JSON, so a child can send nothing but data. Whatever happens to the child,
    the call returns, and all processes of the child are killed. limits: those of the child's time
    and memory. Raises OSError if this process cannot fork.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        os.close(reader)
        os.close(writer)
        raise
    if pid == 0:
        try:
            _run_child(work, writer, limits, parent)
        finally:  # whatever is raised, there is no second grader
            os._exit(1)
    os.close(writer)
    try:
        raw, problem = receive(reader, limits.seconds)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    return decode(raw, problem, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)


def _run_child(
    work: Callable[[], Iterator[dict]], writer: int, limits: ChildLimits, parent: int
) -> None:
    """Apply the limits, send the messages of `work` to file descriptor `writer`, and exit.

    This function never returns. parent: the parent's process id; on Linux this process is killed
    when the parent dies.
    """
    try:
        os.setpgid(0, 0)
        _die_with(parent)
        silence_streams()
        apply_limits(limits)
        send_all(writer, work)
    finally:
        os._exit(0)


def _die_with(parent: int) -> None:
    """Have Linux kill this process when its parent dies; exit at once if the parent is dead.

    On other systems do nothing: the limits end the process. parent: the parent's process id.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before prctl was called
            os._exit(1)


def silence_streams() -> None:
    """Redirect standard input, output and error of this process to the null device."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def apply_limits(limits: ChildLimits) -> None:
    """Limit this process's processor time, memory (on Linux) and file sizes, and forbid core dumps.

    The memory limit is on what the process allocates in addition from now on. The process cannot
    raise these limits again. `limits.seconds` is not applied here, because the parent measures
    wall-clock time.
    """
    own = Path("/proc/self/statm")  # Linux only; other systems do not enforce a memory limit
    if own.exists():
        pages = int(own.read_text().split()[0])
        _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + limits.memory_bytes)
    # The soft limit ends it by SIGXCPU, which says why; the hard one ends what ignores that signal.
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1)
    _limit(resource.RLIMIT_FSIZE, MOST_WRITTEN)
    _limit(resource.RLIMIT_CORE, 0)


def _limit(what: int, soft: int, hard: int | None = None) -> None:
    """Set a soft and a hard resource limit of this process, neither above its present hard limit.

    what: a constant `resource.RLIMIT_…`. hard: equal to `soft` if None.
    """
    _, before = resource.getrlimit(what)
    hard = soft if hard is None else hard
    hard = hard if before == resource.RLIM_INFINITY else min(hard, before)
    resource.setrlimit(what, (min(soft, hard), hard))
