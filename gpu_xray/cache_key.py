"""The cache key of a kernel: a digest of its code and of all values that it takes from outside."""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import numpy as np
from numba.core import types

from gpu_xray import mlir
from gpu_xray.compile import python_of
from gpu_xray.mixed_compilers import global_names
from gpu_xray.versions import toolkit

_COMPILERS = ("numba", "llvmlite", "cuda", "nvidia")
_PLAIN = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis))


def cache_key(kernel: Callable, *parts) -> str | None:
    """Return a hexadecimal key that changes whenever the kernel's machine code could change.

    It is a digest of the code of the kernel and of the functions that it calls, the constants in
    their closures and globals, the options, the versions of the compilers, and ``parts``. Returns
    None if the kernel uses a value that this module cannot describe.
    """
    try:
        description = _KernelDescriber(mlir.is_mlir(kernel)).describe(kernel)
    except _Indescribable:
        return None
    return hashlib.sha256(repr((description, parts, _versions())).encode()).hexdigest()


class _Indescribable(Exception):
    """Raised for a value that cannot be described by its content."""


class _KernelDescriber:
    """Describes values by content; a function that occurs again is described by its number.

    of_mlir: True for a kernel of numba-cuda-mlir.
    """

    def __init__(self, of_mlir: bool) -> None:
        self._numbers: dict[int, int] = {}
        self._of_mlir = of_mlir

    def describe(self, value) -> object:
        """Return nested tuples, lists, texts and ints that are equal for values of equal content.

        Raises _Indescribable for a value that has no such description.
        """
        if isinstance(value, _PLAIN):
            return repr(value)
        if isinstance(value, tuple | list):
            return type(value).__name__, [self.describe(item) for item in value]
        if isinstance(value, dict):
            return [(self.describe(key), self.describe(item)) for key, item in value.items()]
        if isinstance(value, np.ndarray | np.generic):
            return str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()
        if isinstance(value, types.Type):
            return str(value)
        if isinstance(value, CodeType):
            return self._code(value)
        if isinstance(value, ModuleType):
            return value.__name__
        if isinstance(value, type):
            return value.__module__, value.__qualname__, _digest_of_its_file(value)
        return self._callable(value)

    def _callable(self, value) -> object:
        """Return a description of a function or dispatcher: its name, its content or its number.

        A function that was described before has its number. One of Python or an installed package
        has its module and name, and any other its code, its values and its options. Raises
        _Indescribable for another object.
        """
        if id(value) in self._numbers:
            return self._numbers[id(value)]
        self._numbers[id(value)] = len(self._numbers)
        python = python_of(value)
        if self._of_mlir and hasattr(python, "_defn") and not mlir.is_mlir(value):
            return [self.describe(each) for each in mlir.implementations(value)]
        # An intrinsic keeps the function that generates its code.
        python = getattr(python, "_defn", python)
        if _is_installed(value) or _is_installed(python):
            return getattr(value, "__module__", None), getattr(value, "__qualname__", repr(value))
        if isinstance(python, FunctionType):
            return self._function(python), self.describe(getattr(value, "targetoptions", None))
        raise _Indescribable(value)

    def _function(self, python: FunctionType) -> object:
        """Return a description of a Python function: its code, and all values that it uses."""
        cells = [self.describe(cell.cell_contents) for cell in python.__closure__ or ()]
        defaults = self.describe((python.__defaults__, python.__kwdefaults__))
        codes = list(_codes(python.__code__))
        names = sorted({name for code in codes for name in global_names(code)})
        used = [(name, python.__globals__[name]) for name in names if name in python.__globals__]
        # A value that is read from a module of the course, such as tasks.PATCH, is like a global.
        used += [
            (f"{outer}.{name}", vars(module)[name])
            for outer, module in used
            if isinstance(module, ModuleType) and not _is_installed(module)
            for name in sorted({name for code in codes for name in code.co_names})
            if name in vars(module)
        ]
        descriptions = [(name, self.describe(value)) for name, value in used]
        return self._code(python.__code__), cells, defaults, descriptions

    def _code(self, code: CodeType) -> object:
        """Return a tuple that describes a code object: bytecode, constants and names."""
        constants = [self.describe(constant) for constant in code.co_consts]
        return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _digest_of_its_file(kind: type) -> str:
    """Return the SHA-256 digest of the file that defines a class, as hexadecimal text.

    Returns "" for a class of an installed package, which is known by its version. Raises
    _Indescribable if there is no file, as in a notebook.
    """
    if _is_installed(kind):
        return ""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is None:  # of a notebook
        raise _Indescribable(kind)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and, recursively, the code objects of the functions and lambdas in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_installed(value) -> bool:
    """Return True if a value belongs to Python itself or to an installed package.

    A value of `__main__` does not, because a notebook's cells run in this module, whichever
    program has started them.
    """
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if name == "__main__":
        return False
    file = getattr(sys.modules.get(name or ""), "__file__", None)
    return name in sys.builtin_module_names or (file is not None and _is_library(file))


@cache
def _is_library(file: str) -> bool:
    """Return True if a file belongs to Python's standard library or an installed package."""
    parts = Path(file).parts
    standard = Path(np.__file__).parents[2], Path(hashlib.__file__).parent
    return "site-packages" in parts or any(folder in Path(file).parents for folder in standard)


@cache
def _versions() -> tuple[str, ...]:
    """Return texts that change with the compilers: Python's version, the toolkit's, and others.

    The others are a digest of the files of this package, and name and version of each compiler
    package.
    """
    packages = {
        f"{package.name} {package.version}"
        for package in importlib.metadata.distributions()
        if (package.name or "").startswith(_COMPILERS)
    }
    sources = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    return sys.version, str(toolkit()), hashlib.sha256(sources).hexdigest(), *sorted(packages)
