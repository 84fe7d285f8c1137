"""Takes the kernels of either compiler, and passes those of numba-cuda-mlir on to `conversion`.

That module is loaded only when the program has imported the package.
"""

from __future__ import annotations

from .package import is_loaded


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
    """Return the arguments of a launch; ``In``, ``Out`` and ``InOut`` become those of Numba.

    The arguments are returned unchanged unless numba-cuda-mlir is loaded.
    """
    if not is_loaded():
        return arguments
    from .conversion import converted_argument

    return tuple(map(converted_argument, arguments))
