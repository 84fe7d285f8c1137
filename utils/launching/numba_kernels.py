"""All that the fast path needs of Numba and Numba keeps to itself; a test asks whether it is there.

Numba compiles a kernel for the types of its arguments and loads it. It passes an array as seven
numbers and more: two that are zero, size, bytes per element, pointer, shape, strides.
"""

from __future__ import annotations

from utils.launching import driver
from utils.launching.slots import Slot

# Where among an array's numbers its pointer stands.
POINTER = 4


def loaded(kernel, arguments: tuple):
    """The driver's function of a ``@cuda.jit`` kernel for such arguments, on the current device."""
    compiled = kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))
    return driver.function_of(compiled.library.get_cufunc().handle)


def numbers_of(slot: Slot) -> tuple[int, ...]:
    """An array as a kernel gets it; its pointer is still zero."""
    return 0, 0, slot.size, slot.dtype.itemsize, 0, *slot.shape, *slot.strides


def is_freed(memory) -> bool:
    """Whether the memory of a device array, its `gpu_data`, was given back by Numba."""
    owner = getattr(memory, "_mem", None)
    if owner is None:  # another library's
        return False
    try:
        return not owner._finalizer.alive
    except ReferenceError:  # Numba has forgotten it, as after a reset
        return True
