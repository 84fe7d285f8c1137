"""A probe for races in shared memory: it says where the source code lacks a barrier."""

from __future__ import annotations

import ast

from labs.checking.run import Run
from utils.translation import translate
from virtual_gpu import Finding

WAITS = ("syncthreads", "syncwarp")


def no_wait(run: Run, finding: Finding) -> str | None:
    """Return a sentence on a missing barrier between the two accesses of a race, or None.

    The race must be a read of a word of shared memory that another thread stored earlier. The
    sentence names the two lines, or the loop if both accesses are on one line. Returns None if a
    barrier may be executed between the two accesses, because then another mistake causes the race.
    finding: the flaw that the virtual GPU found.
    """
    if finding.kind != "race" or run.parameter(finding.array) or finding.other_line is None:
        return None
    if not _reads_what_was_stored(run, finding):
        return None
    line, earlier = finding.line, finding.other_line
    if earlier < line and not _may_wait(run, earlier, line):
        return translate(
            "Nothing makes the threads wait between line {other_line}, which stores this word, and "
            "line {line}, which reads it: it may be read before it is there.",
            line=line,
            other_line=earlier,
        )
    loop = _loop_around(run, line)
    if earlier == line and loop and not _may_wait(run, loop.lineno, loop.end_lineno):
        return translate(
            "Nothing makes the threads wait from one iteration of line {line} to the next: this "
            "word may be read before the other thread has finished it.",
            line=line,
        )
    return None


def _reads_what_was_stored(run: Run, finding: Finding) -> bool:
    """Return True if a race is a load at the finding's line after a store at its other line."""
    lines = {
        (one.kind, one.site.line) for one in run.trace.access_counts if one.array == finding.array
    }
    stores = ("store", finding.other_line) in lines
    return stores and " reads " in finding.message and ("load", finding.line) in lines


def _loop_around(run: Run, line: int) -> ast.While | ast.For | None:
    """Return the innermost loop whose body holds a line, or None.

    The line of the `for` or `while` itself is not in its body, and an `else` part is.
    """
    loops = [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.While | ast.For) and node.lineno < line <= node.end_lineno
    ]
    return max(loops, key=lambda node: node.lineno, default=None)


def _may_wait(run: Run, first: int, last: int) -> bool:
    """Return True if lines call a barrier, or a function of the reader's, which may have one.

    first, last: the numbers of the first and the last line.
    """
    names = run.kernel.py_func.__globals__
    for node in ast.walk(run.tree):
        if isinstance(node, ast.Call) and first <= node.lineno <= last:
            called = ast.unparse(node.func)
            if called.split(".")[-1] in WAITS or hasattr(names.get(called), "py_func"):
                return True
    return False
