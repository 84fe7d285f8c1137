"""Takes the kernels of either compiler, and passes those of numba-cuda-mlir on to `conversion`.

That module is loaded only when the program has imported the package.
"""

from __future__ import annotations

import sys

PACKAGE = "numba_cuda_mlir"


def is_loaded() -> bool:
    """Return True if the program has imported ``numba_cuda_mlir.cuda``."""
    return f"{PACKAGE}.cuda" in sys.modules


def as_numba_kernel(kernel):
    """Return a kernel of numba-cuda-mlir as one of Numba; any other kernel unchanged.

    A plain Python function that reads a name of numba-cuda-mlir is converted, too. Raises
    Unsupported for a kernel that mixes functions of both compilers.
    """
    if not is_loaded():
        return kernel
    from .conversion import converted_kernel

    return converted_kernel(kernel)


def as_numba_arguments(arguments: tuple) -> tuple:
    """Return the arguments of a launch; ``In``, ``Out`` and ``InOut`` become those of Numba."""
    if not is_loaded():
        return arguments
    from .conversion import converted_argument

    return tuple(map(converted_argument, arguments))


def declared_types(kernel) -> tuple[tuple, ...]:
    """Return the argument types of each signature of a kernel or function of numba-cuda-mlir.

    They are types of that package. There are none for a function that takes any types.
    """
    if kernel._can_compile:
        return getattr(kernel, "virtual_gpu_signatures", ())
    return (*getattr(kernel, "virtual_gpu_signatures", ()), *kernel.overloads)
