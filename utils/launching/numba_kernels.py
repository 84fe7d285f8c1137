"""The private parts of Numba that fast launches use; a test checks that they exist.

Numba compiles a kernel for the types of its arguments and loads it. A kernel receives an array as
several numbers: two zeros, size, bytes per element, pointer, shape, strides.
"""

from __future__ import annotations

from utils.launching import driver
from utils.launching.slots import Slot

# The index of the pointer among the numbers of an array.
POINTER = 4


def loaded(kernel, arguments: tuple):
    """Return the CUfunction of a ``@cuda.jit`` kernel for the types of these arguments.

    The kernel is compiled if necessary. The function belongs to the current device.
    """
    compiled = kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))
    return driver.function_of(compiled.library.get_cufunc().handle)


def numbers_of(slot: Slot) -> tuple[int, ...]:
    """Return the numbers that a kernel receives for an array, with a pointer of zero.

    They are two zeros, size, bytes per element, pointer, shape and strides.
    """
    return 0, 0, slot.size, slot.dtype.itemsize, 0, *slot.shape, *slot.strides


def is_freed(memory) -> bool:
    """Return True if Numba has freed the memory of a device array; `memory` is its `gpu_data`."""
    owner = getattr(memory, "_mem", None)
    if owner is None:  # another library's
        return False
    try:
        return not owner._finalizer.alive
    except ReferenceError:  # Numba has forgotten it, as after a reset
        return True
