"""What the program has imported of numba-cuda-mlir, the other compiler, and its kernels' types."""

from __future__ import annotations

import sys

PACKAGE = "numba_cuda_mlir"


def is_loaded() -> bool:
    """Return True if the program has imported ``numba_cuda_mlir.cuda``."""
    return f"{PACKAGE}.cuda" in sys.modules


def declared_types(kernel) -> tuple[tuple, ...]:
    """Return the argument types of each signature of a kernel or function of numba-cuda-mlir.

    They are types of that package. The tuple is empty for a function declared without signatures.
    """
    if kernel._can_compile:
        return getattr(kernel, "virtual_gpu_signatures", ())
    return (*getattr(kernel, "virtual_gpu_signatures", ()), *kernel.overloads)
