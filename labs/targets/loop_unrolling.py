"""Targets of unrolled loops: iterations, or instructions, per multiply-add of a matrix product."""

from __future__ import annotations

import ast
import math
import operator
from collections import Counter
from collections.abc import Mapping

from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Target
from labs.targets.machine_code import machine_code
from utils.translation import translate
from virtual_gpu import Site
from virtual_gpu.common.source import read_source

MULTIPLICATIONS = ("FFMA", "FMUL")
LONGEST = 16  # copies of a body that the compiler certainly writes out
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def iterations_per_multiply_add(at_most: float) -> Target:
    """Return a target: at most `at_most` loop iterations per multiply-add, summed over threads.

    Loops over a short `range` of constants do not count, because the compiler unrolls them fully.
    """

    def measure(run: Run) -> float:
        return sum(iterations_of_kept_loops(run).values()) / math.prod(run.shape)

    def cause(run: Run, value: float) -> str:
        iterations = iterations_of_kept_loops(run)
        most = max(iterations, key=iterations.__getitem__)
        m, n, k = run.shape
        is_all = iterations[most] == sum(iterations.values())
        others = "" if is_all else " Other loops make the rest."
        why = _why_it_counts(run.tree, most.line)
        return translate(
            "{where} makes {turns:.4g} turns in each thread, for the {k} terms of a "
            "sum.{others}{why} That is {value:.3g} for each multiply-add; the target is "
            "{at_most:g}.",
            where=at_line(most),
            turns=iterations[most] / (m * n),
            k=k,
            others=others,
            why=why,
            value=value,
            at_most=at_most,
        )

    words = f"at most {at_most:g} turns of a loop per multiply-add"
    return Target("turns per multiply-add", at_most, words, measure, cause)


def iterations_of_kept_loops(run: Run) -> dict[Site, int]:
    """Return a dict from the line of each loop that is not fully unrolled to its iterations.

    The iterations are summed over threads.
    """
    unrolled = unrolled_loops(run.tree, read_source(run.kernel.py_func).names)
    return {site: count for site, count in run.trace.turns.items() if site.line not in unrolled}


def terms_per_iteration(at_most: int) -> Target:
    """Return a target for the terms of a sum per iteration of the loops that are kept.

    A kernel that writes out every term, or that hides its loop in a `range` of constants, has no
    such iteration. Its count is k.
    """

    def iterations(run: Run) -> float:
        return sum(iterations_of_kept_loops(run).values()) / math.prod(run.shape[:2])

    def measure(run: Run) -> float:
        return run.shape[2] / max(1.0, iterations(run))

    def cause(run: Run, value: float) -> str:
        return translate(
            "each thread makes {turns:.3g} turns of a loop for the {k} terms of a sum, if loops "
            "over a `range` of constants are left out. `k` can be any number, so the kernel needs "
            "a loop that goes on until `k`, with at most {at_most} terms in a turn.",
            turns=iterations(run),
            k=run.shape[2],
            at_most=at_most,
        )

    words = f"a loop up to k, with at most {at_most} terms in a turn"
    return Target("terms per turn", at_most, words, measure, cause)


def unrolled_loops(
    tree: ast.FunctionDef, constants: Mapping[str, object] | None = None
) -> set[int]:
    """Return the line numbers of loops over a range of constants, which the compiler unrolls.

    constants: the values of names from outside of the function. If they are given, a loop that is
    written out as more than LONGEST copies of its innermost body is left out, because it stays a
    loop.
    """
    nodes = list(ast.walk(tree))
    stores = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    own = {one.id for one in stores} - _own_constants(nodes, Counter(one.id for one in stores))
    own |= {one.arg for one in nodes if isinstance(one, ast.arg)}
    fixed = [
        node
        for node in nodes
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call)
        if not any(isinstance(one, ast.Name) and one.id in own for one in ast.walk(node.iter))
    ]
    if constants is None:
        return {node.lineno for node in fixed}
    known = {**constants, **_own_numbers(nodes)}
    return {node.lineno for node in fixed if _copies(node, fixed, known) <= LONGEST}


def _own_numbers(nodes: list[ast.AST]) -> dict[str, object]:
    """Return a dict from each name that a kernel sets to a constant, as in `U = 4`, to the value.
    """
    return {
        node.targets[0].id: node.value.value
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        if isinstance(node.targets[0], ast.Name)
    }


def _copies(loop: ast.For, fixed: list[ast.For], constants: Mapping[str, object]) -> int:
    """Return how many copies of its innermost body a loop over constants is written out as.

    fixed: all loops over a range of constants; those inside of `loop` multiply the copies.
    """
    inside = {node for node in ast.walk(loop) if node is not loop}
    inner = [_copies(one, fixed, constants) for one in fixed if one in inside]
    return _iterations(loop.iter, constants) * max(inner, default=1)


def _iterations(call: ast.Call, constants: Mapping[str, object]) -> int:
    """Return the iterations of a loop over a `range` of constants, 1 if they are not known.

    Return LONGEST + 1 for a `range` that Python cannot make or count.
    """
    numbers = [_number(one, constants) for one in call.args]
    if ast.unparse(call.func) != "range" or not numbers or None in numbers:
        return 1
    try:
        return len(range(*numbers))
    except (TypeError, ValueError, OverflowError):
        return LONGEST + 1


def _number(node: ast.expr, constants: Mapping[str, object]) -> int | None:
    """Return the whole number that an expression of constants has as its value, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand, constants)
        return None if value is None else -value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _number(node.left, constants), _number(node.right, constants)
        divides = isinstance(node.op, ast.FloorDiv | ast.Mod)
        if left is None or right is None or (divides and right == 0):
            return None
        return _OPERATORS[type(node.op)](left, right)
    value = node.value if isinstance(node, ast.Constant) else constants.get(ast.unparse(node))
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _own_constants(nodes: list[ast.AST], stores: Counter[str]) -> set[str]:
    """Return the names that a kernel sets exactly once, to a constant, such as `U = 4`.

    stores: how often each name is set.
    """
    return {
        node.targets[0].id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        if isinstance(node.targets[0], ast.Name) and stores[node.targets[0].id] == 1
    }


def _why_it_counts(tree: ast.FunctionDef, line: int) -> str:
    """Return sentences on why the iterations of an inner `for` loop are counted.

    Returns "" for any other loop. line: the number of the line on which the loop begins.
    """
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    inner = {node for loop in loops for node in ast.walk(loop) if node is not loop}
    if not any(isinstance(one, ast.For) and one.lineno == line for one in inner):
        return ""
    return translate(
        " Turns over a `range` of constants, such as `range(4)`, are not counted if they are at "
        "most {most}, because the compiler writes them out. This loop is longer, or its bounds are "
        "computed while the kernel runs, and then the source alone does not say what the compiler "
        "makes of it.",
        most=LONGEST,
    )


def instructions_per_multiply_add(at_most: float) -> Target:
    """Return a target: at most `at_most` instructions per multiply-add in the hottest loop.

    They are counted in the machine code; the count is unknown without a compiler.
    """

    def measure(run: Run) -> float | None:
        code = machine_code(run)
        if code is None:
            return None
        body = code.hot.body if code.hot else code.code
        return len(body) / max(1, _count(body, *MULTIPLICATIONS))

    def cause(run: Run, value: float) -> str:
        code = machine_code(run)
        body = code.hot.body if code.hot else code.code
        return translate(
            "in the machine code ({arch}) the loop with the most multiply-adds has {count} "
            "instructions for {wanted} of them. That is {value:.3g} for each; the target is "
            "{at_most:g}. {what_they_do}",
            arch=code.arch,
            count=len(body),
            wanted=_count(body, *MULTIPLICATIONS),
            value=value,
            at_most=at_most,
            what_they_do=_what_they_do(body),
        )

    words = f"at most {at_most:g} instructions per multiply-add in the machine code"
    return Target("instructions per multiply-add", at_most, words, measure, cause, of_machine=True)


def _what_they_do(body) -> str:
    """Return a sentence on the instructions that an unrolled loop does not need, or a question.

    body: the instructions of the loop.
    """
    multiplications = _count(body, *MULTIPLICATIONS)
    # The names of uniform instructions, whose values are the same in all lanes, begin with a U.
    selects, tests = _count(body, "SEL", "USEL"), _count(body, "ISETP", "UISETP")
    if _count(body, "DSETP", "DADD", "DFMA", "I2F"):
        return translate(
            "Some convert an index to float64 and compare there: Numba does so where a "
            "`uint32` meets an integer that may be negative."
        )
    if selects:
        return translate(
            "{selects} instructions (`SEL`, `USEL`) choose between two values of an index: "
            "here the compiler does not know that the index is never negative. Lesson 06 says "
            "why it asks.",
            selects=selects,
        )
    if tests > max(2, multiplications / 2):
        return translate(
            "{tests} instructions (`ISETP`) compare: is there a test for each term, and not "
            "one for each turn?",
            tests=tests,
        )
    return translate("How many multiply-adds share one comparison and one jump?")


def _count(body, *names: str) -> int:
    return sum(one.name in names for one in body)
