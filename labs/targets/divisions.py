"""The target of no integer division and no remainder inside loops, read from the source code.

A GPU has no instruction for them: each becomes a routine of many instructions, unless the compiler
knows the divisor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Target
from labs.targets.machine_code import machine_code
from utils.translation import translate
from virtual_gpu import Site
from virtual_gpu.common.source import Source, read_source

OPERATORS = (ast.Mod, ast.FloorDiv)
FUNCTIONS = ("divmod", "fmod", "remainder", "mod", "floor_divide", "floormod")


def no_division_in_loops() -> Target:
    """Return the target of no integer division in a loop, unless its divisor is a constant.

    Remainders count as divisions. Functions that the kernel calls are read, too. The count is the
    number of source lines.
    """

    def measure(run: Run) -> float:
        return float(len(divisions(run.kernel)))

    def cause(run: Run, value: float) -> str:
        code = machine_code(run)
        if code is not None and not code.loops:
            return translate(
                "{where} still has a division or a remainder. Your loop ends at a constant, so the "
                "compiler unrolls it, knows every divisor and need not divide. This task asks for "
                "a test without a division, so that nothing depends on the compiler.",
                where=at_line(divisions(run.kernel)[0]),
            )
        return translate(
            "{where} divides in every iteration, and its divisor changes. Write a test without a "
            "division. Is there something special about these divisors?",
            where=at_line(divisions(run.kernel)[0]),
        )

    words = "no remainder and no division in a loop, unless the divisor is a constant"
    return Target("divisions in loops", 0, words, measure, cause)


def divisions(kernel) -> list[Site]:
    """Return the source lines of whole-number divisions and remainders in a kernel's loops.

    Each line is returned once. The lines of the kernel come first, then those of functions that it
    calls, each in ascending order. A division by a constant is left out. All lines of a called
    function count as lines of a loop.
    """
    source = read_source(kernel.py_func)
    loops = [one for one in ast.walk(source.tree) if isinstance(one, ast.For | ast.While)]
    found = {site for loop in loops for site in _sites(source, loop)}
    for function in _called(source, {source.function}):
        found.update(_sites(function, function.tree))
    return sorted(found, key=lambda site: (site.file != source.file, site.line))


def _sites(source: Source, tree: ast.AST) -> Iterator[Site]:
    """Yield the source lines of divisions by something that is not constant in a syntax tree."""
    for node in ast.walk(tree):
        divisor = _divisor(node)
        if divisor is not None and not _is_constant(source, divisor):
            yield source.site(node)


def _divisor(node: ast.AST) -> ast.expr | None:
    """Return the divisor of `//`, of `%` or of a call in FUNCTIONS, or None for any other node."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, OPERATORS):
        return node.right if isinstance(node, ast.BinOp) else node.value
    if isinstance(node, ast.Call) and len(node.args) == 2:
        name = ast.unparse(node.func).split(".")[-1]
        return node.args[1] if name in FUNCTIONS else None
    return None


def _is_constant(source: Source, node: ast.expr) -> bool:
    """Return True if an expression has only literals and whole-number constants of the module."""
    local = {
        one.id
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    local.update(source.parameters)
    names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    calls = any(isinstance(one, ast.Call | ast.Attribute) for one in ast.walk(node))
    return not calls and all(
        name not in local and isinstance(source.names.get(name), int) for name in names
    )


def _called(source: Source, known: set) -> Iterator[Source]:
    """Yield the sources of the reader's functions that a function calls, directly or indirectly.

    Each is yielded once. known: functions that are left out; those that are yielded are added to
    it.
    """
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            function = getattr(source.names.get(node.func.id), "py_func", None)
            if function is not None and function not in known:
                known.add(function)
                own = read_source(function)
                yield own
                yield from _called(own, known)
