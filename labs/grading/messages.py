"""Messages from a child process to its parent: JSON through a pipe, so they can only be data."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MiB = 2**20
MOST_OUTPUT = 64 * MiB  # of all messages together
_HEADER = 8  # bytes of a message's length, before the message


@dataclass(frozen=True)
class ChildOutcome:
    """What a child process sent, and how it ended.

    messages: the dicts that it sent, in order. problem: a clause on why it ended early, or "".
    """

    messages: tuple[dict, ...]
    problem: str = ""


def send_all(writer: int, work: Callable[[], Iterator[dict]]) -> None:
    """Write every message that `work` yields to a file descriptor, and a message on the end.

    The last message is {"end": True}, or {"problem": text} if `work` raised anything. This function
    itself raises nothing. writer: the descriptor.
    """
    try:
        for message in work():
            _send(writer, message)
        _send(writer, {"end": True})
    except MemoryError:
        with contextlib.suppress(BaseException):
            _send(writer, {"problem": "more memory than the check gives"})
    except BaseException as error:  # whatever a submission does to the interpreter
        with contextlib.suppress(BaseException):
            _send(writer, {"problem": f"{type(error).__name__}: {error}"[:500]})


def _send(writer: int, message: dict) -> None:
    """Write one message to a file descriptor: the length of its JSON, 8 bytes, and the JSON."""
    raw = json.dumps(message).encode()
    raw = len(raw).to_bytes(_HEADER, "little") + raw
    while raw:
        raw = raw[os.write(writer, raw) :]


def receive(reader: int, seconds: float) -> tuple[bytes, str]:
    """Return (bytes read from a file descriptor, clause on the limit that was reached).

    It reads until the other end is closed, and the clause is then "". If `seconds` pass or more
    than 64 MiB come first, it returns the bytes read so far. reader: the descriptor.
    """
    received, deadline = bytearray(), time.monotonic() + seconds
    while (remaining := deadline - time.monotonic()) > 0:
        if not select.select([reader], [], [], remaining)[0]:
            break
        piece = os.read(reader, MiB)
        if not piece:
            return bytes(received), ""
        received += piece
        if len(received) > MOST_OUTPUT:
            return bytes(received), "it wrote more than the check reads"
    return bytes(received), "it did not end in the time that the check gives"


def decode(raw: bytes, problem: str, killed_by: int) -> ChildOutcome:
    """Return the outcome of a child, from the bytes and the problem that `receive` returned.

    If `problem` is "", the outcome's problem is the one that the child sent. If the child sent
    neither a problem nor an end, it is a clause on how the child ended. killed_by: the number of
    the signal that ended the child, or 0.
    """
    messages = _messages(raw)
    problems = [one["problem"] for one in messages if "problem" in one]
    contents = tuple(one for one in messages if not {"problem", "end"} & set(one))
    if not problem and {"end": True} not in messages:
        problem = str(problems[0]) if problems else _cause_of_end(killed_by)
    return ChildOutcome(contents, problem)


def _messages(raw: bytes) -> list[dict]:
    """Return the messages in `raw` in order, up to the first that is cut off or unreadable."""
    messages, offset = [], 0
    while offset + _HEADER <= len(raw):
        size = int.from_bytes(raw[offset : offset + _HEADER], "little")
        text = raw[offset + _HEADER : offset + _HEADER + size]
        if len(text) < size:
            break
        message = _decoded(text)
        if message is None:
            break
        messages.append(message)
        offset += _HEADER + size
    return messages


def _decoded(text: bytes) -> dict | None:
    """Return the dict that a JSON text holds, or None if it holds none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _cause_of_end(killed_by: int) -> str:
    """Return a clause on how a child ended without saying so. killed_by: a signal's number or 0."""
    if killed_by == signal.SIGXCPU:
        return "it took more processor time than the check gives"
    if killed_by:
        names = {one.value: one.name for one in signal.Signals}
        return f"it was ended by {names.get(killed_by, 'an unknown signal')}"
    return "it ended before its work was done"
