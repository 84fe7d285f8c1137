"""Banks and calls that several families of kernels ask for."""

from __future__ import annotations

import ast

from labs.checking.run import WORD, Run
from virtual_gpu.counts.counters import AccessCount

BANKS = 32


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
