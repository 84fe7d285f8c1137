"""Targets of kernels whose loops are unrolled: turns in the code, and instructions of the loop.

Both count for a multiply-add of a matrix product.
"""

from __future__ import annotations

import ast
import math
from collections import Counter

from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Target
from labs.targets.machine_code import machine_code
from virtual_gpu import Site

MULTIPLICATIONS = ("FFMA", "FMUL")


def turns_per_multiply_add(at_most: float) -> Target:
    """Turns of all loops but those over a `range` of constants, which the compiler writes out."""

    def measure(seen: Run) -> float:
        return sum(turns_of_kept_loops(seen).values()) / math.prod(seen.shape)

    def cause(seen: Run, value: float) -> str:
        turns = turns_of_kept_loops(seen)
        most = max(turns, key=turns.__getitem__)
        m, n, k = seen.shape
        others = " Other loops make the rest." if turns[most] < sum(turns.values()) else ""
        why = _why_it_counts(seen.tree, most.line)
        return (
            f"{at_line(most)} makes {turns[most] / (m * n):.4g} turns in each thread, for the {k} "
            f"terms of a sum.{others}{why} That is {value:.3g} for each multiply-add; the target "
            f"is {at_most:g}."
        )

    words = f"at most {at_most:g} turns of a loop per multiply-add"
    return Target("turns per multiply-add", at_most, words, measure, cause)


def turns_of_kept_loops(seen: Run) -> dict[Site, int]:
    """For each loop that stays a loop its turns, summed over threads."""
    gone = written_out(seen.tree)
    return {site: turns for site, turns in seen.trace.turns.items() if site.line not in gone}


def written_out(tree: ast.FunctionDef) -> set[int]:
    """The source lines of loops over a range whose bounds are known to the compiler."""
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
    """The names that a kernel sets once, to a number: `U = 4`."""
    return {
        node.targets[0].id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        if isinstance(node.targets[0], ast.Name) and stores[node.targets[0].id] == 1
    }


def _why_it_counts(tree: ast.FunctionDef, line: int) -> str:
    """Why the turns of a `for` loop inside another loop are counted; "" for other loops."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    inner = {node for loop in loops for node in ast.walk(loop) if node is not loop}
    if not any(isinstance(one, ast.For) and one.lineno == line for one in inner):
        return ""
    return (
        " Turns over a `range` of constants, such as `range(4)`, are not counted, because the "
        "compiler writes them out. The bounds of this one are computed while the kernel runs, and "
        "the source alone does not say what the compiler makes of it."
    )


def instructions_per_multiply_add(at_most: float) -> Target:
    """Instructions of the innermost loop of the machine code; unknown without a compiler."""

    def measure(seen: Run) -> float | None:
        code = machine_code(seen)
        if code is None:
            return None
        body = code.hot.body if code.hot else code.code
        return len(body) / max(1, _count(body, *MULTIPLICATIONS))

    def cause(seen: Run, value: float) -> str:
        code = machine_code(seen)
        body = code.hot.body if code.hot else code.code
        return (
            f"in the machine code ({code.arch}) the loop with the most multiply-adds has "
            f"{len(body)} instructions for {_count(body, *MULTIPLICATIONS)} of them. That is "
            f"{value:.3g} for each; the target is {at_most:g}. {_what_they_do(body)}"
        )

    words = f"at most {at_most:g} instructions per multiply-add in the machine code"
    return Target("instructions per multiply-add", at_most, words, measure, cause, of_machine=True)


def _what_they_do(body) -> str:
    """The instructions of a loop that an unrolled one does not need."""
    multiplications = _count(body, *MULTIPLICATIONS)
    # One that is the same in all lanes has a U before its name.
    selects, tests = _count(body, "SEL", "USEL"), _count(body, "ISETP", "UISETP")
    if _count(body, "DSETP", "DADD", "DFMA", "I2F"):
        return (
            "Some convert an index to float64 and compare there: Numba does so where a `uint32` "
            "meets an integer that may be negative."
        )
    if selects:
        return (
            f"{selects} instructions (`SEL`, `USEL`) choose between two values of an index: here "
            "the compiler does not know that the index is never negative. Lesson 06 says why it "
            "asks."
        )
    if tests > max(2, multiplications / 2):
        return (
            f"{tests} instructions (`ISETP`) compare: is there a test for each term, and not one "
            "for each turn?"
        )
    return "How many multiply-adds share one comparison and one jump?"


def _count(body, *names: str) -> int:
    return sum(one.name in names for one in body)
