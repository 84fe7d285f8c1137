"""Checks that a kernel calls only functions of its own compiler."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType

from gpu_xray import mlir
from gpu_xray.errors import CourseError


def require_one_compiler(python: Callable, is_mlir: bool) -> None:
    """Raise CourseError if a kernel calls, directly or not, a function of another compiler.

    ``python`` is the kernel's Python function. ``is_mlir`` is True if its compiler is
    numba-cuda-mlir, and False if it is numba-cuda. A kernel of numba-cuda-mlir may call an
    intrinsic of Numba that has an implementation for numba-cuda-mlir.
    """
    own, other = ("numba_cuda_mlir", "numba") if is_mlir else ("numba", "numba_cuda_mlir")
    for caller, value in _used(python, set()):
        foreign = is_mlir and hasattr(value, "_defn") and not mlir.is_mlir(value)
        if foreign and not mlir.implementations(value):
            raise CourseError(
                f"{caller.__name__} calls the intrinsic {value.__name__}, which has no "
                "implementation for numba_cuda_mlir: use `cuda` of numba, or leave it out."
            )
        if hasattr(value, "py_func") and mlir.is_mlir(value) != is_mlir:
            raise CourseError(
                f"{caller.__name__} uses `cuda` of {own}, and calls {value.py_func.__name__}, which"
                f" uses that of {other}: import `cuda` from one package in both."
            )


def _used(python: Callable, seen: set[int]) -> Iterator[tuple[FunctionType, object]]:
    """Yield (function, value) for each value from outside that a function or its callees use.

    Callees are the functions that a ``jit`` decorates. ``seen`` holds the ids of functions that are
    done, and grows.
    """
    if not isinstance(python, FunctionType) or id(python) in seen:
        return
    seen.add(id(python))
    cells = [cell.cell_contents for cell in python.__closure__ or ()]
    names = sorted(global_names(python.__code__) & python.__globals__.keys())
    for value in (*cells, *map(python.__globals__.get, names)):
        yield python, value
        yield from _used(getattr(value, "py_func", None), seen)


def global_names(code: CodeType) -> set[str]:
    """Return the names that the code loads as globals, builtins among them.

    Those of functions that are defined within the code are left out.
    """
    instructions = dis.get_instructions(code)
    return {each.argval for each in instructions if each.opname == "LOAD_GLOBAL"}
