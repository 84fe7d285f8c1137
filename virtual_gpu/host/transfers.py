"""Logs a host program's copies between host and device, and the lines where it waits.

Managed and mapped memory is not counted, because a program does not copy it: its pages move when
they are used, which is not modelled here.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np

from .stream_order import StreamOrder

TO_DEVICE, TO_HOST = "to_device", "to_host"
# Files whose frames are between a copy and the program's line. A launch uses a context manager of
# contextlib.
_HERE = Path(__file__).parents[1]
_INTERNAL = (
    *(f"{_HERE / package}{os.sep}" for package in ("host", "launching", "programs")),
    str(Path(numba.__file__).parent),
    contextlib.__file__,
)
SourceLine = tuple[str, int]  # a file and a line number
# Shared by all threads, because a ContextVar would be empty in a thread that the program starts.
_LOGS: list[list[Transfer]] = []
_WAITS: list[list[SourceLine]] = []
_CALLS: list[Callable[[], None]] = []  # made at each wait
_ORDERS: list[StreamOrder] = []


@dataclass(frozen=True)
class Transfer:
    """One copy between host and device.

    ``direction`` is "to_device" or "to_host"; ``shape`` and ``dtype`` are those of the array.
    ``by`` names the cause: a function such as "copy_to_host", "[...]" for indexing a device array
    on the host, or "launch" for a host array that is passed to a launch. ``file`` and ``line`` are
    the position in the program that causes the copy.
    """

    direction: str
    shape: tuple[int, ...]
    dtype: np.dtype
    by: str
    file: str
    line: int

    @property
    def nbytes(self) -> int:
        """The number of bytes that are copied."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def counting_transfers() -> contextlib.AbstractContextManager[list[Transfer]]:
    """Return a context manager that yields a list; each copy within it appends a Transfer."""
    return _logged(_LOGS)


def counting_waits() -> contextlib.AbstractContextManager[list[SourceLine]]:
    """Return a context manager that yields a list; each wait for the device appends (file, line).

    A wait is a ``synchronize`` of a stream, an event or the context, or the end of an
    ``auto_synchronize``. The line is that of the program that waits.
    """
    return _logged(_WAITS)


@contextlib.contextmanager
def ordering_streams() -> Iterator[StreamOrder]:
    """Return a context manager that yields a StreamOrder of the copies and waits within it."""
    order = StreamOrder()
    _ORDERS.append(order)
    try:
        yield order
    finally:
        _ORDERS.remove(order)


@contextlib.contextmanager
def calling_at_waits(function: Callable[[], None]) -> Iterator[None]:
    """Within this context, call ``function`` whenever the program waits for the device."""
    _CALLS.append(function)
    try:
        yield
    finally:
        _CALLS.remove(function)


@contextlib.contextmanager
def _logged(logs: list[list]) -> Iterator[list]:
    """Yield a new list that is one of ``logs`` within the context."""
    log: list = []
    logs.append(log)
    try:
        yield log
    finally:
        # By identity: two lists with the same entries are equal.
        logs[:] = [other for other in logs if other is not log]


def note(
    direction: str, array: np.ndarray, by: str, stream=0, host_waits: bool = True
) -> None:
    """Append a Transfer of ``array`` to each list that ``counting_transfers`` has open.

    ``direction`` is TO_DEVICE or TO_HOST. ``by`` names the cause of the copy. ``host_waits`` is
    True if the copy has ended when its call returns. Each StreamOrder of ``ordering_streams`` gets
    the copy, too.
    """
    if _LOGS or _ORDERS:
        transfer = Transfer(direction, array.shape, array.dtype, by, *line_in_program())
        for log in _LOGS:
            log.append(transfer)
        for order in _ORDERS:
            order.copies.append((transfer, order.add(stream, host_waits)))


def note_record(event, stream) -> None:
    """Record an event in a stream, in each StreamOrder that ``ordering_streams`` has open."""
    for order in _ORDERS:
        order.record(event, stream)


def note_event_wait(event, stream) -> None:
    """Let a stream wait for an event, in each StreamOrder that ``ordering_streams`` has open."""
    for order in _ORDERS:
        order.wait_for_event(event, stream)


def note_wait(target=None) -> None:
    """Append the program's (file, line) to each list that ``counting_waits`` has open.

    The functions of ``calling_at_waits`` are called, too. The program waits for nothing, because a
    launch is already finished when it returns. ``target`` is a stream or an event; None stands for
    all work on the device.
    """
    for order in _ORDERS:
        order.wait_on_host(target)
    for function in _CALLS:
        function()
    if _WAITS:
        line = line_in_program()
        for log in _WAITS:
            log.append(line)


def line_in_program() -> SourceLine:
    """Return the innermost (file, line) on the call stack outside Numba and the virtual GPU."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_INTERNAL):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
