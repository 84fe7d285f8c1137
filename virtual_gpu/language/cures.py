"""What to write instead of frequent slips: endings of the sentences that refuse them.

``tests/idioms`` holds each slip that "Numba refuses, too" against Numba's compiler.
"""

from __future__ import annotations

import ast
import math
from types import FunctionType

import numpy as np
from numba import cuda
from numba.core import types

_INSTEAD_OF_NUMPY = {
    np.sqrt: "math.sqrt()",
    np.exp: "math.exp()",
    np.abs: "abs()",
    np.floor: "math.floor()",
    np.power: "the operator **",
    np.square: "the operator **",
    np.sign: "math.copysign(), or an if",
    np.add: "the operator +",
    np.mod: "the operator %",
    np.where: "yes if condition else no",
    np.clip: "min(max(x, low), high)",
    np.dot: "a loop",
}
_STATEMENTS = {
    ast.Import: "an import in a kernel (Numba refuses it, too: import at the top of the file)",
    ast.ImportFrom: "an import in a kernel (Numba refuses it, too: import at the top of the file)",
    ast.Try: "try in a kernel (Numba refuses it, too: a kernel catches no exceptions)",
    ast.With: "with in a kernel (Numba refuses it, too)",
}


def unknown_statement(node: ast.stmt) -> str:
    """Return a noun phrase for a statement of a kind that kernels cannot have.

    An error message continues it. It is such as ``the statement Delete``; for an import, ``try``
    and ``with`` it is a longer phrase, which says that Numba refuses the statement, too.
    """
    return _STATEMENTS.get(type(node), f"the statement {type(node).__name__}")


def unknown_call(node: ast.Call, function: object) -> str:
    """Return a noun phrase, such as ``a call of np.sqrt()``, for a call that kernels cannot make.

    An error message continues it. For a function of NumPy with a known substitute, the phrase says
    what to write instead. For a function that the host calls, for inline PTX and for a Python
    function that is no device function, it says so.
    """
    what = f"a call of {ast.unparse(node.func)}()"
    instead = next((cure for f, cure in _INSTEAD_OF_NUMPY.items() if f is function), None)
    if instead is not None:
        return f"{what} (Numba refuses it, too: write {instead})"
    if _is_of_the_host(function):
        wait = ": the threads of a block wait with cuda.syncthreads()"
        cure = wait if function is cuda.synchronize else ""
        return f"{what}, which the host calls and no kernel (Numba refuses it, too{cure}),"
    if getattr(function, "__name__", "") == "inline_ptx":
        return f"{what}, inline PTX, which register() can replace by a function in Python,"
    foreign = ("numba", "numpy")
    if not isinstance(function, FunctionType) or function.__module__.startswith(foreign):
        return what
    return f"{what}, a Python function without @cuda.jit(device=True) above its def,"


def is_numpy(function: object) -> bool:
    """Return True for a function of NumPy for which `unknown_call` names what to write instead."""
    return any(known is function for known in _INSTEAD_OF_NUMPY)


def _is_of_the_host(function: object) -> bool:
    """Return True for a function of ``numba.cuda`` that only host programs can call."""
    names = ("synchronize", "to_device", "device_array", "device_array_like", "pinned_array",
             "managed_array", "mapped_array", "stream", "event")  # fmt: skip
    return any(getattr(cuda, name, None) is function for name in names)


def needless_call(node: ast.Call) -> str:
    """Return a noun phrase for ``x.size()``, the call of an attribute that is no method.

    An error message continues it. The phrase says to leave out the parentheses.
    """
    written = ast.unparse(node.func)
    return f"{written}(), a call of a value (Numba refuses it, too: write {written} without ()),"


def meant_by(name: str) -> str:
    """Return a cure for an undefined name that a module has, such as ``threadIdx``.

    The text begins with a semicolon: ``; write cuda.threadIdx``, or, for a Numba type or a module,
    the import to write. It is "" for a name that no module of kernels has.
    """
    modules = {"np": "import numpy as np", "math": "import math", "cuda": "from numba import cuda"}
    if name in modules:
        return f"; write `{modules[name]}` at the top of the file"
    if not name.startswith("_"):
        for module, prefix in ((cuda, "cuda"), (math, "math")):
            if hasattr(module, name):
                return f"; write {prefix}.{name}"
        if isinstance(getattr(types, name, None), types.Type):
            return f"; write `from numba import {name}` at the top of the file"
    return ""


def uncalled(node: ast.Expr, value: object) -> str | None:
    """Return a sentence about a statement that only names a function of Numba or the virtual GPU.

    An example is ``cuda.syncthreads`` without parentheses, which Numba compiles and which does
    nothing. ``value`` is what the statement's expression names. Returns None for other statements,
    and for a function that is named without a module before it.
    """
    module = getattr(value, "__module__", None) or ""
    if not isinstance(node.value, ast.Attribute) or not module.startswith(("numba", "virtual_gpu")):
        return None
    if not callable(value):
        return None
    written = ast.unparse(node.value)
    return f"{written} is not called here and so does nothing; write {written}()."
