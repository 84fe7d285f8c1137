"""The allow-list of submissions, which the handout describes and the grader enforces.

Names in a submission are looked up here and nowhere else, so a submission reaches no other object
of the grader's process.
"""

from __future__ import annotations

import ast
import builtins
import math
import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

import numba
import numpy as np
from numba import cuda, types
from numba.cuda import libdevice

from utils.intrinsics import simd, tensor, wide_memory

BUILTINS = frozenset({
    "abs", "bool", "divmod", "enumerate", "float", "int", "len", "list", "max", "min", "pow",
    "print", "range", "reversed", "round", "sorted", "sum", "tuple", "zip",
})  # fmt: skip
NUMBER_TYPES = frozenset({
    "boolean", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "intp",
    "uint8", "uint16", "uint32", "uint64", "uintp",
})  # fmt: skip
# `jit` is missing on purpose: Numba evaluates a signature that is a string as Python, and so does
# everything else that compiles (`vectorize`, `cfunc`, `declare_device`). It is only read as the
# decorator of a definition (DECORATORS) and is never a value.
CUDA = frozenset({
    "activemask", "all_sync", "any_sync", "atomic", "ballot_sync", "blockDim", "blockIdx",
    "brev", "cbrt", "cg", "clz", "const", "eq_sync", "ffs", "fma", "grid", "gridDim",
    "gridsize", "laneid", "libdevice", "local", "match_all_sync", "match_any_sync",
    "popc", "selp", "shared", "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync",
    "syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or", "syncwarp",
    "threadIdx", "threadfence", "threadfence_block", "threadfence_system", "warpsize",
})  # fmt: skip
NUMPY = NUMBER_TYPES - {"boolean"} | {"bool_", "inf", "nan", "pi"}
MATH = frozenset(name for name in vars(math) if not name.startswith("_"))
LIBDEVICE = frozenset(name for name in vars(libdevice) if not name.startswith("_"))
SIMD = frozenset({"broadcast", "fmadd", "loadu", "mul", "set1", "storeu"})
WIDE = frozenset({"load4", "store4", "copy4_async", "commit_copies", "wait_copies"})
TENSOR = frozenset({
    "copy8_async", "copy8_or_zeros_async", "ldmatrix_x2", "ldmatrix_x2_trans", "ldmatrix_x4",
    "ldmatrix_x4_trans", "load8", "load_pair", "mma_m16n8k8", "mma_m16n8k16", "mma_m16n8k16_bf16",
    "store8",
})  # fmt: skip
# Attributes of arrays, of indices, and of namespaces such as cuda.atomic.
ATTRIBUTES = frozenset({
    "x", "y", "z", "w", "shape", "size", "ndim", "strides", "dtype", "itemsize", "T", "array",
    "array_like", "add", "sub", "and_", "or_", "xor", "inc", "dec", "exch", "max", "min",
    "nanmax", "nanmin", "cas", "compare_and_swap", "this_grid", "this_block", "sync", "fill",
    "reshape", "transpose",
})  # fmt: skip
# Further names that functions of numbers and host functions may use: builtins, errors to raise,
# names of Numba and NumPy, and attributes.
HOST_BUILTINS = frozenset({"all", "any", "dict", "map", "set"})
ERRORS = frozenset({
    "ArithmeticError", "AssertionError", "Exception", "IndexError", "KeyError",
    "NotImplementedError", "RuntimeError", "TypeError", "ValueError", "ZeroDivisionError",
})  # fmt: skip
HOST_CUDA = frozenset({
    "In", "InOut", "Out", "to_device", "device_array", "device_array_like", "managed_array",
    "pinned_array", "mapped_array", "synchronize", "stream", "default_stream", "event",
    "event_elapsed_time",
})  # fmt: skip
HOST_NUMPY = frozenset({
    "array", "asarray", "ascontiguousarray", "ceil", "copyto", "diff", "dot", "empty", "empty_like",
    "floor", "full", "full_like", "matmul", "mean", "median", "ones", "ones_like", "pad", "zeros",
    "zeros_like",
})  # fmt: skip
HOST_ATTRIBUTES = frozenset({
    "append", "astype", "c_contiguous", "copy", "copy_to_device", "copy_to_host", "count",
    "elapsed_time", "flags",
    "flush", "get", "index", "items", "keys", "launch", "mean", "median", "now", "pop",
    "ravel", "record", "sort", "synchronize", "sum", "tolist", "values", "wait",
})  # fmt: skip
STATISTICS = frozenset({"mean", "fmean", "median", "median_low", "median_high"})

MODULES: Mapping[str, object] = {
    "math": math,
    "numba": numba,
    "numba.cuda": cuda,
    "numba.cuda.libdevice": libdevice,
    "numba.types": types,
    "numpy": np,
    "statistics": statistics,
    "utils.intrinsics.simd": simd,
    "utils.intrinsics.tensor": tensor,
    "utils.intrinsics.wide_memory": wide_memory,
}
DECORATORS = {
    "cuda.jit": "cuda.jit", "numba.cuda.jit": "cuda.jit", "njit": "njit", "numba.njit": "njit",
}  # fmt: skip
# The same by the names of the modules, for submissions that call them by other names.
COMPILERS = {
    "numba.cuda.jit": "cuda.jit", "numba.njit": "njit", "numba.jit": "njit",
}  # fmt: skip
OPTIONS = frozenset({"device", "fastmath"})  # of decorators; all other options change no result


@dataclass(frozen=True)
class Rules:
    """The names, attributes and syntax that one kind of function may use.

    members: maps a module's full name to the names that may be used as `module.name` or by `from
    module import name`. attributes: the attributes that may be read from anything that is not a
    module. forbidden: types of syntax-tree nodes that are refused. builtins: names of builtins that
    are allowed in addition to BUILTINS. errors: names of the error classes that may be raised.
    """

    members: Mapping[str, frozenset[str]]
    attributes: frozenset[str]
    forbidden: tuple[type, ...]
    builtins: frozenset[str] = frozenset()
    errors: frozenset[str] = frozenset()


# `match` is refused because its patterns read attributes without an ast.Attribute node.
_NEVER = (
    ast.AsyncFor, ast.AsyncFunctionDef, ast.AsyncWith, ast.Await, ast.ClassDef, ast.Delete,
    ast.Global, ast.Import, ast.ImportFrom, ast.Match, ast.NamedExpr, ast.Nonlocal, ast.Try,
    ast.TryStar, ast.With, ast.Yield, ast.YieldFrom,
)  # fmt: skip
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Compiled functions: kernels, device functions, and functions with @njit.
COMPILED = Rules(
    members={
        "math": MATH, "numba": NUMBER_TYPES - {"float16"}, "numba.cuda": CUDA,
        "numba.cuda.libdevice": LIBDEVICE, "numba.types": NUMBER_TYPES, "numpy": NUMPY,
        "utils.intrinsics.simd": SIMD, "utils.intrinsics.tensor": TENSOR,
        "utils.intrinsics.wide_memory": WIDE,
    },
    attributes=ATTRIBUTES,
    forbidden=(
        *_NEVER, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.ListComp, ast.SetComp, ast.Starred,
    ),
)  # fmt: skip
# Functions of numbers, which are evaluated from their text, and host functions.
PLAIN = Rules(
    members={
        **COMPILED.members, "numba.cuda": CUDA | HOST_CUDA, "numpy": NUMPY | HOST_NUMPY,
        "statistics": STATISTICS,
    },
    attributes=ATTRIBUTES | HOST_ATTRIBUTES,
    forbidden=_NEVER,
    builtins=HOST_BUILTINS,
    errors=ERRORS,
)  # fmt: skip

MOST_NODES = 5_000  # in the syntax tree of a function; a long solution has 600
DEEPEST = 40  # levels of that tree
LARGEST = 2**63  # absolute value of an integer


class NotAllowed(Exception):
    """A submission uses something outside the allow-list. The message is a sentence on that."""


def builtins_of_all() -> dict[str, object]:
    """Return a dict from name to object of all builtins that submitted functions can reach.

    These are BUILTINS, HOST_BUILTINS and ERRORS, whatever the kind of the function, and the import
    that NumPy needs, which no submission can name.
    """
    named = {name: getattr(builtins, name) for name in BUILTINS | HOST_BUILTINS | ERRORS}
    return {**named, "__import__": _loaded_numpy}


def _loaded_numpy(name: str, *_) -> ModuleType:
    """Return a module of NumPy that is loaded already. Raises ImportError for any other name.

    The C code of NumPy, as in `c.mean()`, imports by the builtins of the function that calls it.
    """
    if name.partition(".")[0] == "numpy" and name in sys.modules:
        return sys.modules[name]
    raise ImportError("A submission imports nothing.")


def require_allowed(
    function: ast.FunctionDef, rules: Rules, modules: Mapping[str, str], known: set[str]
) -> None:
    """Raise NotAllowed if a function uses anything outside the allow-list, or is too large.

    function: its syntax tree. rules: those for this kind of function. modules: maps a name in the
    submission, such as "np", to the full name of the module for which it stands. known: all other
    names that the submission defines.
    """
    _require_small(function)
    own = bound_names(function)
    _require_no_special_name(function, own)
    modules = {name: one for name, one in modules.items() if name not in _own_variables(function)}
    _require_no_module(function, own & set(modules))
    undefined = set(_undefined(function, known | set(modules) | BUILTINS | rules.builtins))
    raised = {one for node in ast.walk(function) for one in _raised(node) if one.id in rules.errors}
    inner = {node.value for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    for node in ast.walk(function):
        if isinstance(node, rules.forbidden):
            raise NotAllowed(f"{_at(node)}: {_excerpt(node)} is not allowed in a submission.")
        if node in undefined and node not in raised:
            raise NotAllowed(
                f"{_at(node)}: the name `{node.id}` is not defined, or not allowed, here."
            )
        if isinstance(node, ast.Attribute) and not (node in inner and module_of(node, modules)):
            _require_allowed_attribute(node, rules, modules)
        if isinstance(node, ast.Constant) and not _is_small(node.value):
            raise NotAllowed(f"{_at(node)}: a number of this size is not allowed in a submission.")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.LShift):
            _require_small_power(node)


def _require_no_special_name(function: ast.FunctionDef, names: set[str]) -> None:
    """Raise NotAllowed if one of these names has two underscores at both ends.

    Python looks such a name up elsewhere. `__builtins__` as a variable of an inner scope would
    allow the function to read and change its own builtins.
    """
    for name in sorted(names):
        if name.startswith("__") and name.endswith("__"):
            raise NotAllowed(
                f"{_at(function)}: the name `{name}` is not allowed in a submission: give the "
                "variable another name."
            )


def _require_no_module(function: ast.FunctionDef, names: set[str]) -> None:
    """Raise NotAllowed if `names` is not empty; the message is on the first name in the alphabet.

    names: variables of inner scopes that have the name of a module. The members of the module would
    otherwise be allowed as attributes of the variable.
    """
    for name in sorted(names):
        raise NotAllowed(
            f"{_at(function)}: `{name}` is a module, and also a variable within `{function.name}`: "
            "give the variable another name."
        )


def _own_variables(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function binds in its own scope, without those of inner scopes.

    These are its positional parameters, assigned variables and inner functions. They hide a module
    of the same name in the whole function.
    """
    arguments = function.args
    names = {one.arg for one in (*arguments.posonlyargs, *arguments.args)}
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif not isinstance(node, _SCOPES):
            pending += ast.iter_child_nodes(node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
    return names


def _undefined(scope: ast.AST, outer: set[str]) -> Iterator[ast.Name]:
    """Yield the nodes of names that neither a scope nor an outer one binds.

    scope: a function, lambda or comprehension. outer: the names that are bound outside of it.
    """
    if isinstance(scope, ast.FunctionDef):
        own = _own_variables(scope)
    else:
        own = {name for child in ast.iter_child_nodes(scope) for name in _bound(child)}
    visible, pending = outer | own, list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, *_SCOPES)):
            yield from _undefined(node, visible)
            continue
        if isinstance(node, ast.Name) and node.id not in visible:
            yield node
        pending += ast.iter_child_nodes(node)


def _raised(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the name's node of the error in `raise ValueError` and `raise ValueError(...)`.

    Yield nothing for any other node.
    """
    if isinstance(node, ast.Raise):
        error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(error, ast.Name):
            yield error


def _require_small(function: ast.FunctionDef) -> None:
    """Raise NotAllowed if a function's syntax tree has too many nodes or too many levels."""
    nodes, level = 0, [function]
    for _ in range(DEEPEST):
        nodes += len(level)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            break
    if level or nodes > MOST_NODES:
        raise NotAllowed(
            f"{_at(function)}: `{function.name}` is too long, or nested too deeply, to be graded."
        )


def bound_names(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function and its inner scopes bind, without the function's own name.

    These are the parameters, the assigned variables and the inner functions.
    """
    return {name for statement in (*function.body, function.args) for name in _bound(statement)}


def _bound(function: ast.AST) -> Iterator[str]:
    """Yield the name of every parameter, assigned variable and function in a syntax tree.

    A name may be repeated. That of the function itself is among them if the tree is its definition.
    """
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def _require_allowed_attribute(
    node: ast.Attribute, rules: Rules, modules: Mapping[str, str]
) -> None:
    """Raise NotAllowed unless an attribute is allowed and is only read.

    A module's attributes are allowed by `rules.members`, those of other objects by
    `rules.attributes`.
    """
    module = module_of(node.value, modules)
    allowed = rules.attributes if module is None else rules.members.get(module, frozenset())
    if node.attr not in allowed or not isinstance(node.ctx, ast.Load):
        raise NotAllowed(f"{_at(node)}: `{ast.unparse(node)[:60]}` is not allowed in a submission.")


def module_of(node: ast.expr, modules: Mapping[str, str]) -> str | None:
    """Return the full name of the module to which an expression refers, or None if it is no module.

    An example is `numba.cuda.libdevice` for `cuda.libdevice`. modules: maps a name in the
    submission, such as "cuda", to the full name of the module for which it stands.
    """
    if isinstance(node, ast.Name):
        return modules.get(node.id)
    if isinstance(node, ast.Attribute):
        outer = module_of(node.value, modules)
        inner = f"{outer}.{node.attr}"
        return inner if outer and inner in MODULES else None
    return None


def _is_small(value: object) -> bool:
    """Return True unless a constant is a text or an int that is too large.

    A text may have fewer than 10,000 characters, and an int an absolute value below 2**63.
    """
    if isinstance(value, str):
        return len(value) < 10_000
    return not isinstance(value, int) or abs(value) < LARGEST


def _require_small_power(node: ast.BinOp) -> None:
    """Raise NotAllowed if a power or left shift of constants may be large.

    If the expression has no name, its operands must be literals, and the right one at most 64 in
    absolute value. Python computes such a power when it compiles the text, before the virtual GPU
    counts steps.
    """
    if any(isinstance(one, ast.Name) for one in ast.walk(node)):
        return
    exponent = node.right
    small = isinstance(exponent, ast.Constant) and isinstance(exponent.value, int | float)
    if not (small and abs(exponent.value) <= 64 and isinstance(node.left, ast.Constant)):
        raise NotAllowed(f"{_at(node)}: a power of this size is not allowed in a submission.")


def _excerpt(node: ast.AST) -> str:
    """Return the first 60 characters of a node's first line in backticks.

    For an import, return "an import within a function".
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        return "an import within a function"
    return f"`{ast.unparse(node).splitlines()[0][:60]}`"


def _at(node: ast.AST) -> str:
    """Return a phrase such as "Line 7" for the line on which a syntax node begins."""
    return f"Line {node.lineno}"
