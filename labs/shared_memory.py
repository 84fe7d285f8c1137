"""Mistakes around shared memory and barriers, which several families of kernels have in common."""

from __future__ import annotations

import ast

from labs.run import WORD, Run
from utils.virtual_gpu import Finding
from utils.virtual_gpu.counters import AccessCount

BANKS = 32


def in_shared(seen: Run, finding: Finding, kind: str) -> bool:
    """Whether a finding of this kind is about an array of the kernel's own, and no parameter."""
    return finding.kind == kind and seen.parameter(finding.array) is None


def calls(seen: Run, name: str) -> list[ast.Call]:
    """Where the kernel calls a function of this name, such as syncthreads."""
    return [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
    ]


def computed_size(kernel, message: str) -> str | None:
    """TILE + 1 as the size of a shared array."""
    if "a shape that is neither a number" not in message:
        return None
    return (
        "The size of a shared array must be known before the kernel runs. Numba takes numbers and "
        "names of constants there, and does not calculate."
    )


def never_called(seen: Run, finding: Finding) -> str | None:
    """`cuda.syncthreads` without its brackets."""
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Expr) and ast.unparse(node.value).endswith("syncthreads"):
            return (
                f"`{ast.unparse(node)}` in line {node.lineno} names the barrier and does not call "
                "it: its brackets are missing."
            )
    return None


def in_a_branch(seen: Run, finding: Finding) -> str | None:
    """A barrier in a branch or a loop that only some threads take."""
    if finding.kind != "barrier":
        return None
    around = [
        node
        for node in ast.walk(seen.tree)
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


def of_each_thread(seen: Run, finding: Finding) -> str | None:
    """A local array in place of a shared one."""
    if finding.kind != "uninitialised" or "local array" not in finding.message:
        return None
    return (
        f"`{finding.array}` is a local array: each thread has one of its own, and sees nothing of "
        "what the others store in theirs."
    )


def nobody_stores(seen: Run, finding: Finding) -> str | None:
    """A tile into which no line stores."""
    if not in_shared(seen, finding, "uninitialised") or "the variable" in finding.message:
        return None
    stores = (one for one in seen.trace.access_counts if one.kind == "store")
    if any(one.array == finding.array for one in stores):
        return None
    return f"No line of your kernel stores into `{finding.array}`."


def meeting(access: AccessCount) -> str:
    """Which lanes of a request of shared memory meet in a bank, as a sentence or two."""
    for lanes in access.first:
        words = {lane: int(at) // WORD for lane, at in enumerate(lanes) if at >= 0}
        for first, word in words.items():
            others = {w: lane for lane, w in words.items() if w % BANKS == word % BANKS}
            if len(others) > 1:
                second = next(lane for w, lane in others.items() if w != word)
                apart = abs(words[second] - word)
                return (
                    f"Lanes {first} and {second} go to words that lie {apart} apart, a multiple of "
                    f"the {BANKS} banks, so they meet in bank {word % BANKS}. {len(others)} "
                    "different words of this request lie there."
                )
    return "Lanes of a warp meet in the same bank."
