"""A process of its own for one submission, with limits, and messages that come back from it."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MiB = 2**20
MOST_OUTPUT = 64 * MiB  # of all messages together
MOST_WRITTEN = 64 * MiB  # to a file; the disassembler needs one
_PARENT_DEATH_SIGNAL = 1  # of prctl
_HEADER = 8  # bytes before a message: its length


@dataclass(frozen=True)
class Limits:
    """What a child may take. seconds: until it is killed; cpu_seconds: of the processor.

    The processor's come first by far, so that a busy machine gives the same marks.
    """

    seconds: float = 900.0
    cpu_seconds: int = 90
    memory_bytes: int = 3 * 2**30  # beyond what the parent has


USUAL = Limits()


@dataclass(frozen=True)
class Ended:
    """How a child ended: its messages, in order, and a sentence where it did not end by itself."""

    messages: tuple[dict, ...]
    problem: str = ""


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
        raw, problem = _received(reader, time.monotonic() + limits.seconds)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    messages = _messages(raw)
    told = [one["problem"] for one in messages if "problem" in one]
    seen = tuple(one for one in messages if not {"problem", "end"} & set(one))
    if not problem and {"end": True} not in messages:
        problem = str(told[0]) if told else _told(status)
    return Ended(seen, problem)


def _be_child(
    work: Callable[[], Iterator[dict]], writer: int, limits: Limits, parent: int
) -> None:
    """Never returns."""
    try:
        os.setpgid(0, 0)
        _end_with(parent)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        _hold_to(limits)
        for message in work():
            _send(writer, message)
        _send(writer, {"end": True})
    except MemoryError:
        with contextlib.suppress(BaseException):
            _send(writer, {"problem": "more memory than the check gives"})
    except BaseException as error:  # whatever a submission does to the interpreter
        with contextlib.suppress(BaseException):
            _send(writer, {"problem": f"{type(error).__name__}: {error}"[:500]})
    finally:
        os._exit(0)


def _end_with(parent: int) -> None:
    """A killed parent takes its child along, on Linux; elsewhere the limits end it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # it was killed before this was asked for
            os._exit(1)


def _hold_to(limits: Limits) -> None:
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


def _send(writer: int, message: dict) -> None:
    raw = json.dumps(message).encode()
    raw = len(raw).to_bytes(_HEADER, "little") + raw
    while raw:
        raw = raw[os.write(writer, raw) :]


def _received(reader: int, until: float) -> tuple[bytes, str]:
    """What came before the end, the time limit, or too much of it."""
    got = bytearray()
    while (left := until - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            break
        piece = os.read(reader, MiB)
        if not piece:
            return bytes(got), ""
        got += piece
        if len(got) > MOST_OUTPUT:
            return bytes(got), "it wrote more than the check reads"
    return bytes(got), "it did not end in the time that the check gives"


def _messages(raw: bytes) -> list[dict]:
    """The messages that came whole."""
    found, at = [], 0
    while at + _HEADER <= len(raw):
        size = int.from_bytes(raw[at : at + _HEADER], "little")
        text = raw[at + _HEADER : at + _HEADER + size]
        if len(text) < size:
            break
        found.append(json.loads(text))
        at += _HEADER + size
    return found


def _told(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU:
            return "it took more processor time than the check gives"
        return f"it was ended by {signal.Signals(number).name}"
    return "it ended before its work was done"
