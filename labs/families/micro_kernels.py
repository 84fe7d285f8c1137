"""Probes for micro-kernels of vector primitives that cannot be compiled.

Each probe gets the kernel and the error message, and returns a sentence, or None if it does not
recognise its mistake.
"""

from __future__ import annotations

import ast
import re

import numpy as np

from utils.translation import translate
from virtual_gpu.common.source import read_source

ROWS, LANES = 2, 8
PRIMITIVES = {
    "loadu": "`loadu(x, i, 8)`: the array, the index of the first element, how many floats",
    "broadcast": "`broadcast(x, i, 8)`: the array, the index of the element, how many floats",
    "set1": "`set1(value, 8)`: a float32, such as `float32(0)`, and how many floats",
    "fmadd": "`fmadd(x, y, z)`: three vectors, and the result is x·y + z",
    "mul": "`mul(x, y)`: two vectors, and the result is x·y",
    "storeu": "`storeu(x, i, vector)`: the array, the index of the first element, the vector",
}


def by_step(panel: np.ndarray, width: int) -> np.ndarray:
    """Return a packed panel as a float64 array of shape (steps, width).

    panel: one-dimensional; it holds `width` numbers per step along k.
    """
    return panel.astype(np.float64).reshape(-1, width)


# --------------------------------------------------------------------------------------- probes


def _nodes(kernel, message: str) -> list[ast.AST]:
    """Return the syntax nodes of the kernel on the source line that an error message names.

    If the message names no line, return the nodes that have no line number.
    """
    line = re.search(r"line (\d+)", message)
    tree = read_source(kernel.py_func).tree
    named = int(line[1]) if line else None
    return [node for node in ast.walk(tree) if getattr(node, "lineno", None) == named]


def _calls(nodes, *names: str) -> list[ast.Call]:
    """Return the calls of functions with these names among the nodes, in the nodes' order.

    A name is the last part of what is called, so `simd.fmadd` has the name `fmadd`.
    """
    return [
        node
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names
    ]


def misused(kernel, message: str) -> str | None:
    """Return a sentence if a primitive is called with wrong arguments, else None.

    message: the error message of the kernel, which cannot be compiled. All probes below get it too.
    """
    if "8 or 16 lanes" in message:
        return translate(
            "The last argument of `loadu`, `broadcast` and `set1` is how many floats the "
            "vector has: here 8."
        )
    for name, words in PRIMITIVES.items():
        needed = words.partition("`: ")[0].count(",") + 1
        wrong = [len(call.args) != needed for call in _calls(_nodes(kernel, message), name)]
        if any(wrong) or f"{name} needs" in message:
            return f"It is {words}."
    return None


def exchanged(kernel, message: str) -> str | None:
    """Return a sentence if storeu gets its vector as the first or second argument, else None.

    A vector is a variable to which a result of fmadd is assigned. Only calls on the line that the
    message names are examined. message: why the kernel was refused; the result is None unless it
    says that an operand must be a vector.
    """
    if "operand must be a vector" not in message:
        return None
    sums = {
        ast.unparse(target)
        for node in ast.walk(read_source(kernel.py_func).tree)
        if isinstance(node, ast.Assign) and _calls([node.value], "fmadd")
        for target in node.targets
    }
    for call in _calls(_nodes(kernel, message), "storeu"):
        for ordinal, arg in zip(("first", "second"), map(ast.unparse, call.args), strict=False):
            if arg in sums:
                return translate(
                    "It is {storeu}. Here `{arg}` is the {ordinal}.",
                    storeu=PRIMITIVES["storeu"],
                    arg=arg,
                    ordinal=ordinal,
                )
    return None


def number_for_a_sum(kernel, message: str) -> str | None:
    """Return a sentence on a variable that begins as a number and is used as a vector, or None.

    It is used as a vector if fmadd or storeu gets it on the line that the message names. message:
    the error message; the result is None unless it says that an operand must be a vector.
    """
    if "operand must be a vector" not in message:
        return None
    used = {ast.unparse(arg) for call in _calls(_nodes(kernel, message), "fmadd", "storeu")
            for arg in call.args}  # fmt: skip
    for node in ast.walk(read_source(kernel.py_func).tree):
        names = map(ast.unparse, node.targets) if isinstance(node, ast.Assign) else ()
        if (name := next((one for one in names if one in used), None)) and _is_number(node.value):
            return translate(
                "`{name}` is one number since line {line}, `{code}`. A sum of this tile is a "
                "vector of 8: `set1(float32(0), 8)` has zero 8 times.",
                name=name,
                line=node.lineno,
                code=ast.unparse(node),
            )
    return None


def _is_number(value: ast.expr) -> bool:
    """Return True if an expression is a constant or a call of float32, float or int."""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in ("float32", "float", "int")
    return isinstance(value, ast.Constant)


def no_vector(kernel, message: str) -> str | None:
    """Return a sentence if the message says that an operand must be a vector, else None.

    The sentence explains how `broadcast` makes a vector of one element.
    """
    if "operand must be a vector" not in message:
        return None
    return translate(
        "An element of an array, such as `a[0]`, is one number; `broadcast(a, 0, 8)` is a "
        "vector with that number 8 times."
    )


def never_set(kernel, message: str) -> str | None:
    """Return a sentence if the message says that a variable is read before it is set, else None."""
    if match := re.search(r"(\w+), read before it is set", message):
        return translate(
            "`{match}` has no value before the loop. With what does a sum begin?", match=match[1]
        )
    return None


def made_here(kernel, message: str) -> str | None:
    """Return a sentence if the kernel creates a list or a new array for its sums, else None.

    message: why the kernel was refused. None unless that is because of an array made in it.
    """
    if "made here is not known" not in message:
        return None
    if any(isinstance(node, ast.List) for node in _nodes(kernel, message)):
        return translate(
            "A list lies in memory. Use two names, one for each sum: then they are registers."
        )
    return translate("An array lies in memory. A vector of 8 zeros is `set1(float32(0), 8)`.")


def operators(kernel, message: str) -> str | None:
    """Return a sentence that vectors know no +, * or +=, if the kernel seems to use one, else None.

    That is assumed if the message names a vector type, or if the line that it names has an
    augmented assignment or assigns the result of an operator.
    """
    nodes = _nodes(kernel, message)
    values = [node.value for node in nodes if isinstance(node, ast.Assign)]
    if not (
        re.search(r"float32x\d", message)
        or any(isinstance(node, ast.AugAssign) for node in nodes)
        or any(isinstance(value, ast.BinOp) for value in values)
    ):
        return None
    return translate(
        "Vectors know no `+`, no `*` and no `+=`. The primitives compute with them: `fmadd(x, "
        "y, z)` is x·y + z, for each of the 8 floats."
    )


def stored_as_element(kernel, message: str) -> str | None:
    """Return a sentence if the line that the message names assigns to an element, else None.

    An example of such a line is c[0] = v.
    """
    targets = [node.targets[0] for node in _nodes(kernel, message) if isinstance(node, ast.Assign)]
    if not any(isinstance(target, ast.Subscript) for target in targets):
        return None
    return translate("A vector goes into an array with `storeu(x, i, vector)`.")
