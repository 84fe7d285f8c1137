"""Words of pinned memory, through which the GPU returns a single number to the host.

Because a word is pinned, the kernel writes it over the bus, and no copy is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.launching import driver

# The words that nobody waits for. A word whose wait was interrupted is never reused, because the
# GPU may still write it.
_FREE: dict[np.dtype, list[Word]] = {}


@dataclass(frozen=True, eq=False)
class Word:
    """A one-element buffer that the GPU writes: `array` on the host, `pointer` on the device."""

    array: object
    pointer: int

    def value(self, stream: int) -> np.generic:
        """Wait for the stream, return the number in the word, and make the word free for reuse."""
        if driver.present():
            driver.synchronize(stream)
            number = self.array[0]
        else:
            number = self.array.copy_to_host()[0]
        _FREE.setdefault(self.array.dtype, []).append(self)
        return number


def free_word(dtype: np.dtype) -> Word:
    """Return a word of that dtype which is not in use; a new word is made if all are in use.

    It is in use until its `value` is read.
    """
    try:
        # pop() is atomic, so no two threads get the same word.
        return _FREE[dtype].pop()
    except (KeyError, IndexError):
        return _new(dtype)


def _new(dtype: np.dtype) -> Word:
    """Return a new word in pinned memory, or in the virtual GPU's if no device is present."""
    if not driver.present():
        array = cuda.device_array(1, dtype)
        return Word(array, array.gpu_data.device_ctypes_pointer.value)
    with driver.outside_captures():
        array = cuda.pinned_array(1, dtype)
    # Pinned memory has the same address for the host and for each device.
    return Word(array, array.ctypes.data)
