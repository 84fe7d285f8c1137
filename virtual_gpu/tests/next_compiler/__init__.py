"""Kernels of numba-cuda-mlir under the virtual GPU.

The swapped corpora run the course's kernels with their imports exchanged, and ``documented`` holds
kernels written after the documentation of that compiler.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

PACKAGE = "numba_cuda_mlir"
# Names the compiler that the process is meant to use: there its absence is a failure.
VARIABLE, NAME = "COURSE_COMPILER", "numba-cuda-mlir"
MISSING = f"{NAME} is not installed: python -m pip install {NAME}"


def require_the_package() -> None:
    """Skip the file of tests unless numba-cuda-mlir is installed.

    If COURSE_NEEDS_EVERYTHING is 1 and COURSE_COMPILER names that compiler, fail instead.
    """
    if importlib.util.find_spec(PACKAGE) is not None:
        return
    if os.environ.get("COURSE_NEEDS_EVERYTHING") == "1" and os.environ.get(VARIABLE) == NAME:
        pytest.fail(MISSING)
    pytest.skip(MISSING, allow_module_level=True)
