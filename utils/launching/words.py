"""One number on its way to the host: a word that the GPU writes and the host reads.

The word is pinned and mapped, so that a kernel writes it over the bus, and no copy follows.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.launching import driver

# Each thread has words of its own: another one may use its word before this one has read it.
_OF_THREAD = threading.local()


@dataclass(frozen=True, eq=False)
class Word:
    """Room for one number. array: it, on the device as well. pointer: where it lies there."""

    array: object
    pointer: int

    def value(self, stream: int) -> np.generic:
        """The number, when the stream has come to its end."""
        if not driver.present():
            return self.array.copy_to_host()[0]
        driver.synchronize(stream)
        return self.array[0]


def word_of_thread(dtype: np.dtype) -> Word:
    """This thread's word of that dtype, the same one each time."""
    words = _OF_THREAD.__dict__
    word = words.get(dtype)
    if word is None:
        word = words[dtype] = _new(dtype)
    return word


def _new(dtype: np.dtype) -> Word:
    if not driver.present():
        array = cuda.device_array(1, dtype)
        return Word(array, array.gpu_data.device_ctypes_pointer.value)
    with driver.outside_captures():
        array = cuda.mapped_array(1, dtype, portable=True)
    return Word(array.view(np.ndarray), array.gpu_data.device_ctypes_pointer.value)
