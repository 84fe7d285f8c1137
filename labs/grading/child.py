"""A process of its own for one submission, with limits, and messages that come back from it."""

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

from labs.grading.messages import Ended, MiB, ended, heard, tell

MOST_WRITTEN = 64 * MiB  # to a file; the disassembler needs one
_PARENT_DEATH_SIGNAL = 1  # of prctl


@dataclass(frozen=True)
class Limits:
    """What a child may take. seconds: until it is killed; cpu_seconds: of the processor.

    The processor's come first by far, so that a busy machine gives the same marks.
    """

    seconds: float = 600.0
    cpu_seconds: int = 90
    memory_bytes: int = 3 * 2**30  # beyond what it has before it reads the submission


USUAL = Limits()


def in_child(work: Callable[[], Iterator[dict]], limits: Limits = USUAL) -> Ended:
    """Run `work` in a fork of this process, and give back what it yields.

    Messages are plain JSON, so nothing that a child sends can be more than data. Whatever happens
    to the child, the call returns; no process of it is left.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _be_child(work, writer, limits, parent)
    os.close(writer)
    try:
        raw, problem = heard(reader, limits.seconds)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    return ended(raw, problem, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)


def _be_child(
    work: Callable[[], Iterator[dict]], writer: int, limits: Limits, parent: int
) -> None:
    """Never returns."""
    try:
        os.setpgid(0, 0)
        _end_with(parent)
        be_silent()
        hold_to(limits)
        tell(writer, work)
    finally:
        os._exit(0)


def _end_with(parent: int) -> None:
    """A killed parent takes its child along, on Linux; elsewhere the limits end it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # it was killed before this was asked for
            os._exit(1)


def be_silent() -> None:
    """Nothing is read from standard input, and what is printed is dropped."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def hold_to(limits: Limits) -> None:
    """The limits of this process from now on; it cannot raise them again."""
    own = Path("/proc/self/statm")  # of Linux; elsewhere no limit of memory would hold
    if own.exists():
        pages = int(own.read_text().split()[0])
        _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + limits.memory_bytes)
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds)
    _limit(resource.RLIMIT_FSIZE, MOST_WRITTEN)
    _limit(resource.RLIMIT_CORE, 0)


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))
