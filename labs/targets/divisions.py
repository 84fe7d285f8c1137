"""The target of no division and no remainder inside loops, read from the source code.

A GPU has no instruction for them: each becomes a routine of many instructions, unless the compiler
knows the divisor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import ModuleType

from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Target
from labs.targets.machine_code import machine_code
from utils.translation import translate
from virtual_gpu import Site
from virtual_gpu.common.source import Source, read_source

OPERATORS = (ast.Div, ast.Mod, ast.FloorDiv)
# The names of functions with a dividend and a divisor, in Python, NumPy and libdevice.
FUNCTIONS = frozenset({
    "divide", "divmod", "fast_fdividef", "floor_divide", "floormod", "fmod", "fmodf", "mod",
    "remainder", "remainderf", "remquo", "remquof", "true_divide",
    *(f"{kind}div_{rounding}" for kind in "df" for rounding in ("rd", "rn", "ru", "rz")),
})  # fmt: skip
REPEATED = (ast.For, ast.While, ast.FunctionDef, ast.Lambda)


def no_division_in_loops(most_iterations: int) -> Target:
    """Return the target of no division in a loop, unless its divisor is a constant.

    Remainders count as divisions. Functions that the kernel calls are read, too. The count is the
    number of source lines. If there are none, it is 1 for a kernel whose threads make more than
    `most_iterations` iterations of loops on average, because repeated subtraction divides, too. It
    is also 1 for a kernel with more operations on floats than the input has elements, because a
    product with a reciprocal divides.
    """

    def many_iterations(run: Run) -> bool:
        return sum(_iterations_of_a_thread(run).values()) > most_iterations

    def measure(run: Run) -> float:
        many = many_iterations(run) or _operations_on_floats(run) > run.inputs[0].size
        return float(len(divisions(run.kernel)) or many)

    def cause(run: Run, value: float) -> str:
        if not divisions(run.kernel) and not many_iterations(run):
            return translate(
                "the kernel makes {operations:,} operations on floats for {elements:,} elements, "
                "and the additions of a tree are fewer than its elements. A reciprocal, a power or "
                "a logarithm costs as much as a division. Which bits of the thread's number tell "
                "the remainder at once?",
                operations=_operations_on_floats(run),
                elements=run.inputs[0].size,
            )
        if not divisions(run.kernel):
            site, iterations = max(_iterations_of_a_thread(run).items(), key=lambda one: one[1])
            return translate(
                "the loop at {where} makes {iterations:.3g} iterations per thread, and the tree "
                "has only {steps} steps. A loop that finds the remainder by subtraction costs more "
                "than `%`. Which bits of the thread's number tell it at once?",
                where=at_line(site),
                iterations=iterations,
                steps=most_iterations,
            )
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


def _operations_on_floats(run: Run) -> int:
    """Return the operations on float32 and float64 of all threads."""
    return sum(line.float32_ops + line.float64_ops for line in run.trace.counts.values())


def _iterations_of_a_thread(run: Run) -> dict[Site, float]:
    """Return a dict from the source line of each loop to its iterations per thread, on average."""
    launch = run.job.launch(run.shape)
    threads = launch.blocks * launch.threads
    return {site: count / threads for site, count in run.trace.turns.items()}


def divisions(kernel) -> list[Site]:
    """Return the source lines of divisions and remainders in a kernel's loops.

    Each line is returned once. The lines of the kernel come first, then those of the reader's
    functions that it names, each in ascending order. A division by a constant is left out. All
    lines of a named or an inner function count as lines of a loop. So does a line that names a
    function in FUNCTIONS without calling it, because it can be called by another name.
    """
    source = read_source(kernel.py_func)
    inner = [one for one in ast.walk(source.tree) if isinstance(one, REPEATED)]
    found = {site for one in inner if one is not source.tree for site in _sites(source, one)}
    found.update(_renamed(source))
    for function in named_functions(source, {source.function}):
        found.update(_sites(function, function.tree), _renamed(function))
    return sorted(found, key=lambda site: (site.file != source.file, site.line))


def _sites(source: Source, tree: ast.AST) -> Iterator[Site]:
    """Yield the source lines of divisions by something that is not constant in a syntax tree."""
    for node in ast.walk(tree):
        divisor = _divisor(source, node)
        if divisor is not None and not _is_constant(source, divisor):
            yield source.site(node)


def _divisor(source: Source, node: ast.AST) -> ast.expr | None:
    """Return the divisor of `/`, `//`, `%` or a call in FUNCTIONS, or None for any other node."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, OPERATORS):
        return node.right if isinstance(node, ast.BinOp) else node.value
    if isinstance(node, ast.Call) and len(node.args) >= 2 and _divides(source, node.func):
        return node.args[1]
    return None


def _renamed(source: Source) -> Iterator[Site]:
    """Yield the source lines that use the name of a function in FUNCTIONS without calling it."""
    called = {node.func for node in ast.walk(source.tree) if isinstance(node, ast.Call)}
    for node in ast.walk(source.tree):
        if node not in called and _divides(source, node) and isinstance(node.ctx, ast.Load):
            yield source.site(node)


def _divides(source: Source, node: ast.AST) -> bool:
    """Return True if a node is the name of a function in FUNCTIONS, whatever it is called there.

    The node may also be an attribute of a module, such as `math.fmod`.
    """
    value = _value_of(source, node)
    return not hasattr(value, "py_func") and getattr(value, "__name__", "") in FUNCTIONS


def _value_of(source: Source, node: ast.AST) -> object:
    """Return the value of a name from outside of the function, or of an attribute of a module.

    It is None for a name without such a value, and for any other node.
    """
    if isinstance(node, ast.Name):
        return source.names.get(node.id)
    if isinstance(node, ast.Attribute):
        module = _value_of(source, node.value)
        return getattr(module, node.attr, None) if isinstance(module, ModuleType) else None
    return None


def _is_constant(source: Source, node: ast.expr) -> bool:
    """Return True if an expression has only literals and whole-number constants of the module."""
    local = {
        one.id
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    local.update(one.arg for one in ast.walk(source.tree) if isinstance(one, ast.arg))
    names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    calls = any(isinstance(one, ast.Call | ast.Attribute) for one in ast.walk(node))
    return not calls and all(
        name not in local and isinstance(source.names.get(name), int) for name in names
    )


def named_functions(source: Source, known: set) -> Iterator[Source]:
    """Yield the sources of the reader's functions that a function names, directly or indirectly.

    A name is enough, because a function can be called by another name or as an argument. Each
    source is yielded once. known: functions that are left out; those that are yielded are added to
    it.
    """
    for node in ast.walk(source.tree):
        function = getattr(_value_of(source, node), "py_func", None)
        if function is not None and function not in known:
            known.add(function)
            own = read_source(function)
            yield own
            yield from named_functions(own, known)
