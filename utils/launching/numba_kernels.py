"""The private parts of the compilers that fast launches use; a test checks that they exist.

A compiler makes a kernel for the types of its arguments and loads it. The kernel receives an array
as several numbers. With numba-cuda they are two zeros, size, bytes per element, pointer, shape, and
strides in bytes. With numba-cuda-mlir they are the pointer twice, an offset of zero, shape, and
strides in elements.
"""

from __future__ import annotations

from gpu_xray import mlir
from utils.launching import driver
from utils.launching.slots import Slot


def loaded(kernel, arguments: tuple):
    """Return the CUfunction of a ``@cuda.jit`` kernel for the types of these arguments.

    The kernel is compiled if necessary. The function belongs to the current device.
    """
    types = argument_types(kernel, arguments)
    if mlir.is_mlir(kernel):
        library = kernel.compile_for(*types)._codelibrary
    else:
        library = kernel.compile(types).library
    return driver.function_of(library.get_cufunc().handle)


def argument_types(kernel, arguments: tuple) -> tuple:
    """Return the type of each argument, in order, as an object of the kernel's compiler."""
    types = tuple(map(kernel.typeof_pyval, arguments))
    return mlir.normalized(types)[0] if mlir.is_mlir(kernel) else types


def numbers_of(kernel, slot: Slot) -> tuple[int, ...]:
    """Return the numbers that a kernel receives for an array, with pointers of zero.

    Those of numba-cuda are two pointers, the size, the bytes of an element, a pointer, the shape
    and the strides in bytes. Those of numba-cuda-mlir are two pointers, an offset of 0, the shape
    and the strides in elements.
    """
    if mlir.is_mlir(kernel):
        strides = (stride // slot.dtype.itemsize for stride in slot.strides)
        return 0, 0, 0, *slot.shape, *strides
    return 0, 0, slot.size, slot.dtype.itemsize, 0, *slot.shape, *slot.strides


def pointers_of(kernel) -> tuple[int, ...]:
    """Return the indices of the pointers to elements among the numbers of an array.

    The numbers are those of `numbers_of`.
    """
    return (0, 1) if mlir.is_mlir(kernel) else (4,)


def is_freed(memory) -> bool:
    """Return True if Numba has freed the memory of a device array; `memory` is its `gpu_data`.

    It is always False for memory of another library.
    """
    owner = getattr(memory, "_mem", None)
    if owner is None:  # another library's
        return False
    try:
        return not owner._finalizer.alive
    except ReferenceError:  # Numba has forgotten it, as after a reset
        return True
