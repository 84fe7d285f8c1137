"""Converts kernels of numba-cuda-mlir to kernels of Numba: the only place that knows both.

A kernel is converted by its values. Its copy has the same code, so the same text and line numbers,
but sees Numba's counterparts of the modules, types and functions that the kernel reads. The device
functions that it calls are converted, too. All of that happens once, at the first launch, which is
when a compiler freezes the values of globals and closure variables.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType

from numba import cuda
from numba.core import types
from numba.cuda.dispatcher import CUDADispatcher

from ..common.errors import Unsupported
from ..types import installed_code
from ..types.tuples import alike
from .declarations import TypedFunction, declare
from .package import PACKAGE, declared_types

_OPTIONS = ("device", "extensions", "launch_bounds")  # those that the virtual GPU reads
_ABSENT = object()
_LOCK = threading.RLock()
# By the function or dispatcher of the other compiler, for as long as the program has it.
_FUNCTIONS: weakref.WeakKeyDictionary[FunctionType, FunctionType] = weakref.WeakKeyDictionary()
_OF_NUMBA: weakref.WeakSet[FunctionType] = weakref.WeakSet()  # they use that compiler alone
_DISPATCHERS: weakref.WeakKeyDictionary[object, CUDADispatcher] = weakref.WeakKeyDictionary()


def converted_kernel(kernel):
    """Return a kernel of numba-cuda-mlir as one of Numba; return any other kernel unchanged.

    A plain Python function that reads a name of numba-cuda-mlir becomes a copy that reads Numba's
    counterparts. Each kernel is converted once. Raises Unsupported for a kernel that mixes
    functions of both compilers.
    """
    with _LOCK:
        if _is_dispatcher(kernel):
            return _dispatcher(kernel)
        python = getattr(kernel, "py_func", kernel)
        if not isinstance(python, FunctionType):
            return kernel
        if kernel is python and _reads_the_package(python):
            return _function(python)
        _require_numba_alone(python)
        return kernel


def converted_argument(value):
    """Return one argument of a launch; ``In``, ``Out`` and ``InOut`` become those of Numba."""
    name = type(value).__name__
    if name in ("In", "Out", "InOut") and _is_of_the_package(value):
        return getattr(cuda, name)(value.value)
    return value


def _is_of_the_package(value) -> bool:
    """Return True for a module, type, function or other object of numba-cuda-mlir."""
    if isinstance(value, ModuleType):
        return _is_below(value.__name__)
    return _is_below(type(value).__module__) or _is_below(getattr(value, "__module__", None))


def _is_below(module) -> bool:
    """Return True if ``module`` is the name, a str, of a module of numba-cuda-mlir."""
    return isinstance(module, str) and module.split(".")[0] == PACKAGE


def _is_dispatcher(value) -> bool:
    """Return True for a kernel or device function of numba-cuda-mlir."""
    return _is_below(type(value).__module__) and hasattr(value, "targetoptions")


# --- functions ------------------------------------------------------------------------------


def _dispatcher(kernel) -> CUDADispatcher | FunctionType:
    """Return Numba's dispatcher for a kernel or device function, with the same signatures.

    A device function that was registered with the virtual GPU becomes its plain Python function,
    under which it is known there.
    """
    from ..language.intrinsics import handler_of  # not loaded before it is needed

    if handler_of(kernel.py_func):
        return kernel.py_func
    if kernel in _DISPATCHERS:
        return _DISPATCHERS[kernel]
    options = {name: kernel.targetoptions.get(name) for name in _OPTIONS}
    given = {name: option for name, option in options.items() if option}
    converted = CUDADispatcher(_function(kernel.py_func), targetoptions=given)
    _DISPATCHERS[kernel] = converted
    for signature in declared_types(kernel):
        declared = tuple(map(_value, signature))
        if given.get("device"):
            converted.overloads[declared] = TypedFunction(converted, declared)
        else:
            declare(converted, declared)
    converted._can_compile = kernel._can_compile
    converted._specialized = not kernel._can_compile and len(converted.overloads) == 1
    return converted


def _function(function: FunctionType) -> FunctionType:
    """Return a copy of a function that sees Numba's counterparts of the values that it reads.

    Each function is copied once. Raises Unsupported if the function also reads a type, a kernel or
    a device function of Numba.
    """
    if function in _FUNCTIONS:
        return _FUNCTIONS[function]
    cells = tuple(CellType() for _ in function.__closure__ or ())
    # All globals, because the decorators in the function's text may read others than its code.
    outer = {n: value for n, value in function.__globals__.items() if not _is_dispatcher(value)}
    copied = FunctionType(function.__code__, outer, function.__name__, None, cells)
    copied.__qualname__ = function.__qualname__
    _require_none(function, _is_numbas, "numba", f"{PACKAGE}.cuda")
    _FUNCTIONS[function] = copied  # before its values, because it may read itself
    try:
        names = _names(function.__code__)
        copied.__defaults__ = _value(function.__defaults__, names)
        for name in names & function.__globals__.keys():
            outer[name] = _value(function.__globals__[name], names)
        for cell, new in zip(function.__closure__ or (), cells, strict=True):
            content = _content(cell)
            if content is not _ABSENT:
                new.cell_contents = _value(content, names)
    except Unsupported:
        del _FUNCTIONS[function]
        raise
    return copied


def _is_numbas(value) -> bool:
    """Return True for a type, a kernel or a device function of Numba."""
    return isinstance(value, CUDADispatcher | types.Type)


def _require_none(function: FunctionType, is_foreign: Callable, other: str, own: str) -> None:
    """Raise Unsupported if a function reads a value for which ``is_foreign(value)`` is True.

    ``own`` is the module whose compiler has the function, and ``other`` is that of such a value.
    """
    for name, value in _outer_values(function):
        if is_foreign(value):
            code = function.__code__
            raise Unsupported(
                f"{function.__name__} ({code.co_filename}:{code.co_firstlineno}) is a function of "
                f"{own}, but {name}, which it uses, is of {other}; import both from one package."
            )


def _content(cell: CellType):
    """Return the content of a closure's cell, or _ABSENT if it is not bound yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return _ABSENT


def _names(code: CodeType) -> frozenset[str]:
    """Return the names of globals, free variables and attributes in a code object.

    Those of the functions within it are among them.
    """
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return frozenset((*code.co_names, *code.co_freevars)).union(*map(_names, inner))


def _outer_values(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield the outer names that a function reads, each with its value.

    An attribute of a module of the program counts as a name of its own, such as ``helpers.half``.
    """
    names = _names(function.__code__)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    outer = {**function.__globals__, **{name: _content(cell) for name, cell in cells}}
    for name in names & outer.keys():
        value = outer[name]
        yield name, value
        if isinstance(value, ModuleType) and not installed_code.is_installed(value.__name__):
            inner = ((n, vars(value)[n]) for n in names & vars(value).keys())
            yield from ((f"{name}.{n}", v) for n, v in inner)


def _reads_the_package(function: FunctionType) -> bool:
    """Return True if a plain Python function reads a name of numba-cuda-mlir."""
    return any(_is_of_the_package(value) for _, value in _outer_values(function))


def _require_numba_alone(function: FunctionType) -> None:
    """Raise Unsupported if a function of Numba, or one that it calls, uses numba-cuda-mlir."""
    if function in _OF_NUMBA:
        return
    _OF_NUMBA.add(function)  # before those that it calls, because it may call itself
    try:
        _require_none(function, _is_dispatcher, f"{PACKAGE}.cuda", "numba.cuda")
        for _, value in _outer_values(function):
            if isinstance(value, CUDADispatcher):
                _require_numba_alone(value.py_func)
    except Unsupported:
        _OF_NUMBA.discard(function)
        raise


# --- values ---------------------------------------------------------------------------------


def _value(value, names: frozenset[str] = frozenset()):
    """Return Numba's counterpart of a value that a kernel reads.

    A value that is not of numba-cuda-mlir is returned unchanged; the items of a tuple and the
    attributes of a module are converted. ``names`` are the attributes that the kernel reads. A
    function that Numba does not have is unchanged, so that the virtual GPU refuses it by its name.
    """
    if isinstance(value, tuple):
        items = tuple(_value(item, names) for item in value)
        changed = any(new is not old for new, old in zip(items, value, strict=True))
        return alike(value, items) if changed else value
    if isinstance(value, ModuleType):
        return _module(value, names)
    if not _is_of_the_package(value):
        return value
    if _is_dispatcher(value):
        return _dispatcher(value)
    from . import counterparts  # which needs the package

    return counterparts.of_value(value)


def _module(module: ModuleType, names: frozenset[str]):
    """Return the module that a kernel sees instead of ``module``.

    A module of numba-cuda-mlir becomes that of Numba, or a namespace of the attributes that the
    kernel reads, if Numba does not have them all. A module of the program becomes a copy with the
    counterparts of the attributes that the kernel reads, if one of them differs from its
    counterpart. Any other module is returned unchanged.
    """
    if _is_of_the_package(module):
        from . import counterparts

        return counterparts.of_module(module, names, _value)
    if installed_code.is_installed(module.__name__):
        return module
    read = {name: getattr(module, name) for name in names if hasattr(module, name)}
    new = {name: _value(value, names) for name, value in read.items()}
    if all(new[name] is read[name] for name in read):
        return module
    copied = ModuleType(module.__name__)
    vars(copied).update(new)
    return copied
