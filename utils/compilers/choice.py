"""The compilers that the course knows, and the one that this process uses."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from packaging.version import Version

from utils.errors import CourseError

VARIABLE = "COURSE_COMPILER"


@dataclass(frozen=True)
class Compiler:
    """A compiler of kernels.

    name: that of its distribution, such as "numba-cuda". package: the package that it installs.
    source: the package from which a kernel file imports `cuda`. numpy_below: the first version of
    NumPy that it does not support; None if every version suits.
    """

    name: str
    package: str
    source: str
    numpy_below: str | None = None

    @property
    def cuda(self) -> ModuleType:
        """The module `cuda` that kernels use; it is imported now."""
        return importlib.import_module(f"{self.source}.cuda")

    @property
    def version(self) -> str | None:
        """The installed version, or None if it is not installed."""
        try:
            return importlib.metadata.version(self.name)
        except importlib.metadata.PackageNotFoundError:
            return None

    @property
    def is_installed(self) -> bool:
        """True if the package is installed."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def suits_numpy(self) -> bool:
        """True if the compiler supports the installed NumPy."""
        return self.numpy_below is None or Version(np.__version__) < Version(self.numpy_below)


# numba-cuda 0.30.4 calls np.row_stack, which NumPy 2.5 no longer has.
NUMBA_CUDA = Compiler("numba-cuda", "numba_cuda", "numba", numpy_below="2.5")
NUMBA_CUDA_MLIR = Compiler("numba-cuda-mlir", "numba_cuda_mlir", "numba_cuda_mlir")
COMPILERS = {compiler.name: compiler for compiler in (NUMBA_CUDA, NUMBA_CUDA_MLIR)}


def named(name: str) -> Compiler:
    """Return the compiler with this name; raise CourseError if it is unknown or not installed."""
    if name not in COMPILERS:
        raise CourseError(
            f"There is no compiler {name!r}: choose one of {', '.join(COMPILERS)}."
        )
    compiler = COMPILERS[name]
    if not compiler.is_installed:
        raise CourseError(
            f"{name} is not installed: install it with `pip install {name}[cu13]`, or choose "
            f"another compiler with {VARIABLE}."
        )
    return compiler


def chosen(environment: Mapping[str, str] = os.environ) -> Compiler:
    """Return the compiler of this process: that of COURSE_COMPILER, or else the default.

    The default is numba-cuda where it is installed and supports the installed NumPy; else
    numba-cuda-mlir if that is installed; else numba-cuda, whose kernels then run on the virtual GPU
    alone. Raises CourseError if the variable names a compiler that is unknown or not installed.
    environment: the environment variables, by default those of this process.
    """
    if environment.get(VARIABLE):
        return named(environment[VARIABLE])
    if NUMBA_CUDA.is_installed and NUMBA_CUDA.suits_numpy:
        return NUMBA_CUDA
    return NUMBA_CUDA_MLIR if NUMBA_CUDA_MLIR.is_installed else NUMBA_CUDA
