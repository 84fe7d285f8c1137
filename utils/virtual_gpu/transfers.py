"""What a host program copies between host and device: each copy, its bytes, and who asked for it.

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
# Of all threads: a ContextVar would be empty in a thread that the program starts.
_LOGS: list[list[Transfer]] = []


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


@contextlib.contextmanager
def counting_transfers() -> Iterator[list[Transfer]]:
    """Inside, each copy between host and device is added to the list that this gives."""
    log: list[Transfer] = []
    _LOGS.append(log)
    try:
        yield log
    finally:
        # By identity: two lists with the same copies are equal.
        _LOGS[:] = [other for other in _LOGS if other is not log]


def note(direction: str, array: np.ndarray, by: str) -> None:
    """Say that an array, or a part of one, has been copied."""
    if _LOGS:
        transfer = Transfer(direction, array.shape, array.dtype, by, *_place_in_program())
        for log in _LOGS:
            log.append(transfer)


def _place_in_program() -> tuple[str, int]:
    """File and line that are being executed, outside of Numba and of the virtual GPU."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_BETWEEN):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
