"""Kernels of numba-cuda-mlir under the virtual GPU.

The swapped corpora run the course's kernels with their imports exchanged, and ``documented`` holds
kernels written after the documentation of that compiler.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

PACKAGE = "numba_cuda_mlir"
# Set to 1 in the environment that has numba-cuda-mlir: there its absence is a failure.
MEANT = "COURSE_NEXT_COMPILER"
MISSING = f"{PACKAGE} is not installed: python -m pip install numba-cuda-mlir"


def require_the_package() -> None:
    """Skip the test, or the file of tests, unless numba-cuda-mlir is installed.

    If COURSE_NEEDS_EVERYTHING and COURSE_NEXT_COMPILER are 1, fail instead.
    """
    if importlib.util.find_spec(PACKAGE) is not None:
        return
    if os.environ.get("COURSE_NEEDS_EVERYTHING") == os.environ.get(MEANT) == "1":
        pytest.fail(MISSING)
    pytest.skip(MISSING, allow_module_level=True)
