"""Targets of unrolled loops: iterations, or instructions, per multiply-add of a matrix product."""

from __future__ import annotations

import ast
import math
from collections import Counter

from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Target
from labs.targets.machine_code import machine_code
from utils.translation import translate
from virtual_gpu import Site

MULTIPLICATIONS = ("FFMA", "FMUL")


def iterations_per_multiply_add(at_most: float) -> Target:
    """Return a target: at most `at_most` loop iterations per multiply-add, summed over threads.

    Loops over a `range` of constants do not count, because the compiler unrolls them fully.
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
    unrolled = unrolled_loops(run.tree)
    return {site: count for site, count in run.trace.turns.items() if site.line not in unrolled}


def unrolled_loops(tree: ast.FunctionDef) -> set[int]:
    """Return the line numbers of loops that the compiler unrolls: those over a constant range."""
    nodes = list(ast.walk(tree))
    stores = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    own = {one.id for one in stores} - _own_constants(nodes, Counter(one.id for one in stores))
    own |= {one.arg for one in nodes if isinstance(one, ast.arg)}
    return {
        node.lineno
        for node in nodes
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call)
        if not any(isinstance(one, ast.Name) and one.id in own for one in ast.walk(node.iter))
    }


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
        " Turns over a `range` of constants, such as `range(4)`, are not counted, because the "
        "compiler writes them out. The bounds of this one are computed while the kernel runs, "
        "and the source alone does not say what the compiler makes of it."
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
