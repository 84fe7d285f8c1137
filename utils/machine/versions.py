"""The versions of the installed software, and optional libraries as modules."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from numba import cuda

from gpu_xray.versions import explained, toolkit
from utils.errors import CourseError

__all__ = ["Versions", "cupy", "explained", "nvml", "torch", "versions"]


@dataclass(frozen=True)
class Versions:
    """The software versions in a record, as text; None for software that is not installed.

    driver: the GPU driver's version. python, numba, numba_cuda: the packages' versions. toolkit:
    the version of the CUDA toolkit that compiles kernels.
    """

    driver: str | None
    python: str
    numba: str
    numba_cuda: str | None
    toolkit: str | None


@cache
def versions() -> Versions:
    """Return the software versions of this process; the result is cached."""
    return Versions(
        driver=nvml().nvmlSystemGetDriverVersion() if nvml() else None,
        python=platform.python_version(),
        numba=importlib.metadata.version("numba"),
        numba_cuda=_numba_cuda(),
        toolkit=toolkit(),
    )


def _numba_cuda() -> str | None:
    try:
        return importlib.metadata.version("numba-cuda")
    except importlib.metadata.PackageNotFoundError:
        return None


@cache
def nvml() -> ModuleType | None:
    """Return the module pynvml, initialized; None if the package or the driver is missing."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except ImportError:
        return None
    except pynvml.NVMLError:
        return None
    return pynvml


@cache
def cupy() -> ModuleType | None:
    """Return the module cupy, whose products are in strict float32; None without CuPy or a GPU.

    CuPy contains the libraries that the kernels are measured against, cuBLAS and CUB. Raises
    CourseError if the environment requests TF32, which has 10 bits of mantissa where float32 has
    23: it is faster, but another computation.
    """
    if not cuda.is_available():
        return None
    try:
        import cupy
    except ImportError:
        return None
    if os.environ.get("CUPY_TF32", "0") not in ("", "0"):
        raise CourseError(
            "CUPY_TF32 is set, and a baseline in TF32 is no float32 baseline: unset it and repeat."
        )
    return cupy


@cache
def torch() -> ModuleType | None:
    """Return the module torch, set to strict float32; None if it is missing or has no GPU."""
    if not cuda.is_available():
        return None
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    return torch
