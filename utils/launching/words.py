"""One number on its way to the host: a word that the GPU writes and the host reads.

The word is pinned, so that a kernel writes it over the bus, and no copy follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.launching import driver

# Those that nobody waits for. A word whose wait was interrupted does not come back, because the GPU
# may still write it.
_FREE: dict[np.dtype, list[Word]] = {}


@dataclass(frozen=True, eq=False)
class Word:
    """Room for one number. array: it, of one element. pointer: where it lies for the device."""

    array: object
    pointer: int

    def value(self, stream: int) -> np.generic:
        """The number, when the stream has come to its end; then the word is free again."""
        if driver.present():
            driver.synchronize(stream)
            number = self.array[0]
        else:
            number = self.array.copy_to_host()[0]
        _FREE.setdefault(self.array.dtype, []).append(self)
        return number


def free_word(dtype: np.dtype) -> Word:
    """A word of that dtype that nobody else has until its value was read."""
    try:
        # One step, so no two threads get the same.
        return _FREE[dtype].pop()
    except (KeyError, IndexError):
        return _new(dtype)


def _new(dtype: np.dtype) -> Word:
    if not driver.present():
        array = cuda.device_array(1, dtype)
        return Word(array, array.gpu_data.device_ctypes_pointer.value)
    with driver.outside_captures():
        array = cuda.pinned_array(1, dtype)
    # Pinned memory has the same address for the host and for each device.
    return Word(array, array.ctypes.data)
