"""What a child tells its parent: JSON through a descriptor, so that it can be no more than data."""

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
_HEADER = 8  # bytes before a message: its length


@dataclass(frozen=True)
class Ended:
    """How a child ended: its messages, in order, and a sentence where it did not end by itself."""

    messages: tuple[dict, ...]
    problem: str = ""


def tell(writer: int, work: Callable[[], Iterator[dict]]) -> None:
    """Send what `work` yields, and how that ended. Raises nothing."""
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
    raw = json.dumps(message).encode()
    raw = len(raw).to_bytes(_HEADER, "little") + raw
    while raw:
        raw = raw[os.write(writer, raw) :]


def heard(reader: int, seconds: float) -> tuple[bytes, str]:
    """What came before the end, the time limit, or too much of it, and which of the last two."""
    got, until = bytearray(), time.monotonic() + seconds
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


def ended(raw: bytes, problem: str, killed_by: int) -> Ended:
    """From what was heard to messages. killed_by: the number of a signal, or 0."""
    messages = _messages(raw)
    told = [one["problem"] for one in messages if "problem" in one]
    seen = tuple(one for one in messages if not {"problem", "end"} & set(one))
    if not problem and {"end": True} not in messages:
        problem = str(told[0]) if told else _told(killed_by)
    return Ended(seen, problem)


def _messages(raw: bytes) -> list[dict]:
    """The messages that came whole, up to the first that is none."""
    found, at = [], 0
    while at + _HEADER <= len(raw):
        size = int.from_bytes(raw[at : at + _HEADER], "little")
        text = raw[at + _HEADER : at + _HEADER + size]
        if len(text) < size:
            break
        message = _decoded(text)
        if message is None:
            break
        found.append(message)
        at += _HEADER + size
    return found


def _decoded(text: bytes) -> dict | None:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _told(killed_by: int) -> str:
    if killed_by == signal.SIGXCPU:
        return "it took more processor time than the check gives"
    if killed_by:
        names = {one.value: one.name for one in signal.Signals}
        return f"it was ended by {names.get(killed_by, 'an unknown signal')}"
    return "it ended before its work was done"
