"""Imports the project's kernels with `numba` exchanged for `numba_cuda_mlir`, and nothing else.

A swapped text has as many lines as the original, so that findings and counts name the same ones.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable

KERNELS = (
    "gemm_kernels",
    "latency_kernels",
    "reduce_kernels",
    "tensor_kernels",
    "virtual_gpu.tests.idioms",
    "virtual_gpu.tests.kernels",
    "virtual_gpu.tests.planted",
)
PACKAGE = "numba_cuda_mlir"
_FROM_NUMBA = {
    "cuda": PACKAGE,
    "types": PACKAGE,
    "from_dtype": f"{PACKAGE}.numba_cuda.np.numpy_support",
    "literal_unroll": f"{PACKAGE}.cuda",
}
_TYPES = {
    "boolean", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128", "void", "intp", "uintp",
}  # fmt: skip


def swapped(text: str) -> str:
    """Return a Python text with its imports of kernels' names from Numba exchanged.

    A text that does not import ``cuda`` from Numba is returned unchanged: its functions are for the
    CPU. What only Numba has, such as ``njit``, is still imported from there.
    """
    nodes = [node for node in ast.walk(ast.parse(text)) if _is_of_numba(node)]
    if not any(alias.name == "cuda" for node in nodes for alias in node.names):
        return text
    lines = text.split("\n")
    for node in nodes:
        indent = lines[node.lineno - 1][: node.col_offset]
        lines[node.lineno - 1] = indent + "; ".join(_statements(node))
        for number in range(node.lineno, node.end_lineno):
            lines[number] = ""
    return "\n".join(lines)


def _is_of_numba(node: ast.AST) -> bool:
    """Return True for an import from ``numba``, ``numba.cuda`` or ``numba.types``."""
    modules = "numba", "numba.cuda", "numba.types"
    return isinstance(node, ast.ImportFrom) and node.module in modules


def _statements(node: ast.ImportFrom) -> list[str]:
    """Return the import statements that take the place of one."""
    statements = []
    for alias in node.names:
        module = node.module
        if module == "numba.cuda":
            module = f"{PACKAGE}.cuda"
        elif alias.name in _TYPES:
            module = f"{PACKAGE}.types"
        else:
            module = _FROM_NUMBA.get(alias.name, module)
        name = alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
        statements.append(f"from {module} import {name}")
    return statements


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from its text, swapped or not, past the cache of bytecode."""

    change: Callable[[str], str]

    def get_code(self, fullname: str):
        path = self.get_filename(fullname)
        text = self.get_data(path).decode("utf-8")
        return compile(self.change(text), path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of the packages of kernels, whose texts it loads after ``change(text)``."""

    def __init__(self, change: Callable[[str], str]):
        self._change = change

    def find_spec(self, name: str, path, target=None):
        if not any(name == package or name.startswith(f"{package}.") for package in KERNELS):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
            spec.loader.change = self._change
        return spec


def load_kernels(with_swapped_imports: bool) -> None:
    """Let this process import the packages of kernels from now on, with or without the exchange."""
    sys.meta_path.insert(0, _Finder(swapped if with_swapped_imports else str))
