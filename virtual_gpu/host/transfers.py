"""What a host program copies between host and device, and where it waits for the device.

Managed and mapped memory is not copied by a program: its pages move when they are used, which is
not modelled here, so nothing is counted for it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np

TO_DEVICE, TO_HOST = "to_device", "to_host"
# What stands between a copy and the program's line: a launch is a context manager of contextlib.
_BETWEEN = (str(Path(__file__).parent), str(Path(numba.__file__).parent), contextlib.__file__)
Place = tuple[str, int]  # a file and a line in it
# Of all threads: a ContextVar would be empty in a thread that the program starts.
_LOGS: list[list[Transfer]] = []
_WAITS: list[list[Place]] = []


@dataclass(frozen=True)
class Transfer:
    """One copy. ``direction`` is "to_device" or "to_host"; ``shape`` and ``dtype`` are the array's.

    ``by``: what copied it: a function such as "copy_to_host", "[...]" for elements of a device
    array on the host, "launch" for a host array that a launch was given. ``file``, ``line``: of the
    program.
    """

    direction: str
    shape: tuple[int, ...]
    dtype: np.dtype
    by: str
    file: str
    line: int

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def counting_transfers() -> contextlib.AbstractContextManager[list[Transfer]]:
    """Inside, each copy between host and device is added to the list that this gives."""
    return _logged(_LOGS)


def counting_waits() -> contextlib.AbstractContextManager[list[Place]]:
    """Inside, each place that waits for the device (``synchronize``) is added to the list."""
    return _logged(_WAITS)


@contextlib.contextmanager
def _logged(logs: list[list]) -> Iterator[list]:
    log: list = []
    logs.append(log)
    try:
        yield log
    finally:
        # By identity: two lists with the same entries are equal.
        logs[:] = [other for other in logs if other is not log]


def note(direction: str, array: np.ndarray, by: str) -> None:
    """Say that an array, or a part of one, has been copied."""
    if _LOGS:
        transfer = Transfer(direction, array.shape, array.dtype, by, *_place_in_program())
        for log in _LOGS:
            log.append(transfer)


def note_wait() -> None:
    """Say that the program waits for the device. Launches here are finished when they return."""
    if _WAITS:
        place = _place_in_program()
        for log in _WAITS:
            log.append(place)


def _place_in_program() -> Place:
    """File and line that are being executed, outside of Numba and of the virtual GPU."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_BETWEEN):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
