"""Targets of an experiment in which each sum reads its words from shared memory again."""

from __future__ import annotations

import ast
import math

from labs.checking.run import Run
from labs.checking.target import Target
from utils.translation import translate
from virtual_gpu.counts.counters import AccessCount

LOOPS = (ast.For, ast.While)
SPARE = 0.25


def reads_per_multiply_add(wanted: float) -> Target:
    """Return the target of exactly `wanted` words read from shared memory per multiply-add.

    The count is the absolute difference from `wanted`, at the first shape, and its limit is 0. At
    shapes that do not fill all blocks, words that are missing count if they are more than SPARE per
    multiply-add that is made, because these include those of padding.
    """

    def reads(run: Run) -> float:
        return sum(one.lanes for one in _shared_loads(run)) / math.prod(run.shape)

    def at_edges(run: Run) -> float:
        made = run.trace.totals["float32_ops"] / 2
        missing = wanted - sum(one.lanes for one in _shared_loads(run)) / max(1, made)
        return missing if missing > SPARE else 0

    def cause(run: Run, value: float) -> str:
        missing = at_edges(run)
        found = wanted - missing if missing else reads(run)
        if found > wanted:
            return translate(
                "a multiply-add costs {found:.4g} reads from shared memory, and this experiment "
                "wants {wanted:g}: one of each tile.",
                found=found,
                wanted=wanted,
            )
        fewest = min(_shared_loads(run), key=lambda one: one.requests)
        return translate(
            "a multiply-add costs {found:.4g} reads from shared memory, and this experiment wants "
            "{wanted:g}. Line {line} reads a word of `{array}` for both sums.",
            found=found,
            wanted=wanted,
            line=fewest.site.line,
            array=fewest.array,
        )

    words = f"{wanted:g} reads from shared memory per multiply-add, not fewer"
    return Target(
        "reads besides the wanted ones",
        0,
        words,
        lambda run: abs(reads(run) - wanted),
        cause,
        at_edges=at_edges,
    )


def warp_barrier_between_sums() -> Target:
    """Return the target that a `syncwarp` is between the loops of two sums.

    The count is 0 if `_is_between` finds a `syncwarp` between two innermost loops that read shared
    words, else 1.
    """

    def cause(run: Run, value: float) -> str:
        calls = _calls(run)
        if _in_one_loop(run):
            return translate(
                "one loop over the words of a tile adds to both sums. Give each sum a loop of its "
                "own, with a `cuda.syncwarp()` between the two loops."
            )
        if not calls:
            return translate(
                "no `cuda.syncwarp()` is between the two sums, so the compiler may keep the words "
                "that the first one has read, and the second one reads nothing again."
            )
        return translate(
            "`syncwarp` in line {line} is not between two loops, the loop of the first sum and "
            "that of the second.",
            line=calls[0].lineno,
        )

    return Target(
        "missing syncwarp between the sums",
        0,
        "a `syncwarp` between the loops of the two sums",
        lambda run: float(not _is_between(run)),
        cause,
    )


def _is_between(run: Run) -> bool:
    """Return True if a syncwarp is between two innermost loops that read shared words.

    It is looked for in the code. A syncwarp in such a loop does not count, and neither does
    one between two loops that add to the same sum. One in two nested loops around such loops does.
    """
    reading, steps = _reading_loops(run)
    for call in _calls(run):
        if any(_holds(loop, call.lineno) for loop in steps):
            continue
        before = [loop for loop in steps if loop.end_lineno < call.lineno]
        after = [loop for loop in steps if loop.lineno > call.lineno]
        if any(_sums(one) & _sums(other) for one in before for other in after):
            continue
        around = [loop for loop in reading if loop not in steps and _holds(loop, call.lineno)]
        if (before and after) or len(around) > 1:
            return True
    return False


def _in_one_loop(run: Run) -> bool:
    """Return True if all shared words are read in one loop, within the loop over the tiles."""
    reading, steps = _reading_loops(run)
    return len(steps) == 1 and len(reading) == 2


def _reading_loops(run: Run) -> tuple[list[ast.For | ast.While], list[ast.For | ast.While]]:
    """Return the loops of the text that read shared words, and the innermost ones of them."""
    lines = {one.site.line for one in _shared_loads(run)}
    loops = [node for node in ast.walk(run.tree) if isinstance(node, LOOPS)]
    reading = [loop for loop in loops if any(_holds(loop, line) for line in lines)]
    steps = [
        loop
        for loop in reading
        if not any(one is not loop and _holds(loop, one.lineno) for one in reading)
    ]
    return reading, steps


def _sums(loop: ast.For | ast.While) -> set[str]:
    """Return the names of the variables that are assigned in a loop and used in what they get.

    The variables in the test of a `while` loop are left out.
    """
    found = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign):
            found.add(ast.unparse(node.target))
        elif isinstance(node, ast.Assign):
            names = {ast.unparse(one) for one in ast.walk(node.value) if isinstance(one, ast.expr)}
            found |= {ast.unparse(one) for one in node.targets} & names
    return found - _indices(loop)


def _indices(loop: ast.For | ast.While) -> set[str]:
    """Return the names of the variables in the test of a `while`, which count its iterations."""
    test = getattr(loop, "test", None)
    return {node.id for node in ast.walk(test) if isinstance(node, ast.Name)} if test else set()


def _calls(run: Run) -> list[ast.Call]:
    """Return the calls of `syncwarp` in a kernel."""
    return [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "syncwarp"
    ]


def _holds(loop: ast.For | ast.While, line: int) -> bool:
    """Return True if a line is in the body of a loop."""
    return loop.lineno < line <= loop.end_lineno


def _shared_loads(run: Run) -> list[AccessCount]:
    """Return the AccessCounts of a run's loads from shared memory, one per line and array."""
    counts = run.trace.access_counts
    return [one for one in counts if (one.space, one.kind) == ("shared", "load")]
