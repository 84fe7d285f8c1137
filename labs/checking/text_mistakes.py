"""Mistakes around barriers and arrays that the text of any kernel shows, once a flaw was found."""

from __future__ import annotations

import ast
import re

from labs.checking.run import Run
from virtual_gpu import Finding

_WAITS = re.compile(r"\bsync(threads|warp)?\w*\(")  # and not a shuffle
_WITHOUT_BRACKETS = ("syncthreads", "syncwarp", "threadfence", "threadfence_block")


def never_called(run: Run, finding: Finding) -> str | None:
    """A barrier or a fence without its brackets."""
    for node in ast.walk(run.tree):
        name = ast.unparse(node.value).split(".")[-1] if isinstance(node, ast.Expr) else ""
        if name in _WITHOUT_BRACKETS:
            what = "barrier" if name.startswith("sync") else "fence"
            return (
                f"`{ast.unparse(node)}` in line {node.lineno} names the {what} and does not call "
                "it: its brackets are missing."
            )
    return None


def in_a_branch(run: Run, finding: Finding) -> str | None:
    """A barrier in a branch or a loop that only some threads take."""
    if finding.kind != "barrier" or not _WAITS.search(finding.site.source):
        return None
    around = [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.If | ast.While | ast.For)
        and node.lineno < finding.line <= node.end_lineno
    ]
    branches = [node for node in around if isinstance(node, ast.If)]
    if branches:
        test = branches[-1]
        return (
            f"The barrier stands in the branch `if {ast.unparse(test.test)}` of line "
            f"{test.lineno}. Threads that do not go there never come to it, and the others wait "
            "for them."
        )
    if around:
        return (
            f"The barrier stands in the loop of line {around[-1].lineno}, and the threads of a "
            "block do not all take the same number of turns."
        )
    return None


def of_each_thread(run: Run, finding: Finding) -> str | None:
    """A local array in place of a shared one."""
    if finding.kind != "uninitialised" or "local array" not in finding.message:
        return None
    adds = any(
        (one.site, one.array, one.kind) == (finding.site, finding.array, "store")
        for one in run.trace.access_counts
    )
    if adds or "syncthreads" not in ast.unparse(run.tree):  # a sum that is not set, or no others
        return None
    return (
        f"`{finding.array}` is a local array: each thread has one of its own, and sees nothing of "
        "what the others store in theirs."
    )


def nobody_stores(run: Run, finding: Finding) -> str | None:
    """A tile into which no line stores."""
    of_a_parameter = run.parameter(finding.array) is not None
    if finding.kind != "uninitialised" or of_a_parameter or "the variable" in finding.message:
        return None
    stores = (
        ast.unparse(node.value)
        for node in ast.walk(run.tree)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    )
    was_stored = any(
        (one.kind, one.array) == ("store", finding.array) for one in run.trace.access_counts
    )
    if was_stored or finding.array in stores:
        return None
    return f"No line of your kernel stores into `{finding.array}`."


TEXT_MISTAKES = (in_a_branch, of_each_thread, nobody_stores)
