"""Probes for mistakes that are seen in the text: barriers, shared arrays, missing brackets.

Each reads the source code and returns a sentence, or None if it does not see its mistake.
"""

from __future__ import annotations

import ast
import re

from labs.checking.run import Run
from utils.translation import translate
from virtual_gpu import Finding
from virtual_gpu.common.errors import Unsupported
from virtual_gpu.common.source import read_source

_WAITS = re.compile(r"\bsync(threads|warp)?\w*\(")  # and not a shuffle
_OWN_LANE = "does not name this lane"  # a mask is wrong, and not the place of the barrier
_INDICES = ("cuda.grid", "cuda.gridsize")
_WITHOUT_BRACKETS = ("syncthreads", "syncwarp", "threadfence", "threadfence_block")


def never_called(run: Run, finding: Finding) -> str | None:
    """Return a sentence on a barrier or fence without brackets, `cuda.syncthreads`, or None.

    finding: the flaw that the virtual GPU found; it is not used.
    """
    for node in ast.walk(run.tree):
        name = ast.unparse(node.value).split(".")[-1] if isinstance(node, ast.Expr) else ""
        if name in _WITHOUT_BRACKETS:
            values = {"code": ast.unparse(node), "line": node.lineno}
            if name.startswith("sync"):
                return translate(
                    "`{code}` in line {line} names the barrier and does not call it: its brackets "
                    "are missing.",
                    **values,
                )
            return translate(
                "`{code}` in line {line} names the fence and does not call it: its brackets are "
                "missing.",
                **values,
            )
    return None


def index_never_called(kernel, message: str) -> str | None:
    """Return a sentence on a `cuda.grid` or `cuda.gridsize` without brackets, or None.

    message: the error message of the kernel, which cannot be compiled; it is not used.
    """
    try:
        tree = read_source(kernel.py_func).tree
    except Unsupported:  # `message` says it
        return None
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        is_index = isinstance(node, ast.Attribute) and ast.unparse(node) in _INDICES
        if is_index and id(node) not in called:
            return translate(
                "`{code}` in line {line} is a function, and nothing calls it. For a grid of one "
                "dimension, write `{code}(1)`.",
                code=ast.unparse(node),
                line=node.lineno,
            )
    return None


def never_reached(run: Run) -> str | None:
    """Return sentences for a kernel that accesses no array, or None if no line of it stores.

    They name the first line that stores and the innermost test or loop around it. run: the run of a
    kernel whose threads accessed no array.
    """
    stores = [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    ]
    if not stores:
        return None
    line = min(node.lineno for node in stores)
    told = translate(
        "{where} no thread reads or writes any array: none comes to line {line}.",
        where=run.where,
        line=line,
    )
    return f"{told} {_question_on_the_way(run, line)}"


def _question_on_the_way(run: Run, line: int) -> str:
    """Return a question on the innermost test or loop around a line that no thread reaches.

    If there is none, ask whether all threads return before the line.
    """
    around = [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.If | ast.While | ast.For) and node.lineno < line <= node.end_lineno
    ]
    if not around:
        return translate("Do all threads return before it?")
    inner = max(around, key=lambda node: node.lineno)
    if isinstance(inner, ast.If):
        return translate(
            "The test `{test}` of line {line} decides about that. For which threads is it true?",
            test=ast.unparse(inner.test),
            line=inner.lineno,
        )
    return translate(
        "Does any thread make an iteration of the loop in line {line}?", line=inner.lineno
    )


def result_renamed(run: Run) -> str | None:
    """Return sentences on a line that assigns to the name of the result, or None."""
    targets = (
        target
        for node in ast.walk(run.tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
    )
    for target in targets:
        if isinstance(target, ast.Name) and target.id == run.result:
            return translate(
                "Line {line} only gives the name `{result}` to another value. To store into the "
                "array, write an element of it on the left: `{result}[…]`.",
                line=target.lineno,
                result=run.result,
            )
    return None


def barrier_in_a_branch(run: Run, finding: Finding) -> str | None:
    """Return a sentence on a barrier in a branch or a loop that only some threads take, or None.

    finding: the flaw that the virtual GPU found. Its line must be a barrier, not a warp shuffle.
    Returns None, too, if the mask of a `syncwarp` is the flaw.
    """
    if finding.kind != "barrier" or not _WAITS.search(finding.site.source):
        return None
    if _OWN_LANE in finding.message:
        return None
    around = [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.If | ast.While | ast.For)
        and node.lineno < finding.line <= node.end_lineno
    ]
    if finding.other_line is not None:  # of a syncwarp: the branch or loop that lanes leave
        around = [node for node in around if node.lineno == finding.other_line]
    branches = [node for node in around if isinstance(node, ast.If)]
    if branches:
        test = branches[-1]
        return translate(
            "The barrier stands in the branch `if {test}` of line {line}. Threads that do not go "
            "there never come to it, and the others wait for them.",
            test=ast.unparse(test.test),
            line=test.lineno,
        )
    if around:
        return translate(
            "The barrier stands in the loop of line {line}, and the threads of a block do not all "
            "take the same number of turns.",
            line=around[-1].lineno,
        )
    return None


def local_instead_of_shared(run: Run, finding: Finding) -> str | None:
    """Return a sentence if the finding is about a local array that should be a shared one, or None.

    That is assumed if the kernel reads an unset element of a local array into which another line
    stores, and calls `syncthreads`. finding: the flaw that the virtual GPU found.
    """
    if finding.kind != "uninitialised" or "local array" not in finding.message:
        return None
    adds = any(
        (one.site, one.array, one.kind) == (finding.site, finding.array, "store")
        for one in run.trace.access_counts
    )
    if adds or "syncthreads" not in ast.unparse(run.tree):  # a sum that is not set, or no others
        return None
    if not _is_stored(run, finding.array):
        return None
    return translate(
        "`{array}` is a local array: each thread has one of its own, and sees nothing of what the "
        "others store in theirs.",
        array=finding.array,
    )


def tile_never_stored(run: Run, finding: Finding) -> str | None:
    """Return a sentence if the finding is about an array into which no line stores, or None.

    The array is shared or local. finding: the flaw that the virtual GPU found.
    """
    of_a_parameter = run.parameter(finding.array) is not None
    if finding.kind != "uninitialised" or of_a_parameter or "the variable" in finding.message:
        return None
    if _is_stored(run, finding.array):
        return None
    return translate("No line of your kernel stores into `{array}`.", array=finding.array)


def _is_stored(run: Run, array: str) -> bool:
    """Return True if a line of the kernel stores into an array, or may do so in a call.

    A call may store into each array that it gets as a whole, such as `ldmatrix_x4(of_a, ...)`.
    """
    if any((one.kind, one.array) == ("store", array) for one in run.trace.access_counts):
        return True
    nodes = list(ast.walk(run.tree))
    stored = {
        ast.unparse(node.value)
        for node in nodes
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    }
    given = {ast.unparse(one) for node in nodes if isinstance(node, ast.Call) for one in node.args}
    return array in stored | given


TEXT_MISTAKES = (barrier_in_a_branch, local_instead_of_shared, tile_never_stored)
