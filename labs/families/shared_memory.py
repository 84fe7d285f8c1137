"""Helpers for kernels with shared memory: calls in the source code, array sizes, bank conflicts."""

from __future__ import annotations

import ast

from labs.checking.run import WORD, Run
from utils.translation import translate
from virtual_gpu.counts.counters import AccessCount

BANKS = 32


def calls(run: Run, name: str) -> list[ast.Call]:
    """Return the syntax nodes of the kernel's calls of functions with this name, in any module.

    name: such as "syncthreads", without "cuda.".
    """
    return [
        node
        for node in ast.walk(run.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
    ]


def computed_size(kernel, message: str) -> str | None:
    """Return a sentence if a shared array has a computed size, such as TILE + 1, else None.

    message: the error message of the kernel, which cannot be compiled.
    """
    if "a shape that is neither a number" not in message:
        return None
    return translate(
        "The size of a shared array must be known before the kernel runs. Numba takes numbers "
        "and names of constants there, and does not calculate."
    )


def meeting(access: AccessCount) -> str:
    """Return one or two sentences on lanes of a shared-memory request that need the same bank.

    The lanes are those of the first recorded request with a conflict. If none is recorded, the
    sentence names no lanes.
    """
    for lanes in access.first:
        words = {lane: int(at) // WORD for lane, at in enumerate(lanes) if at >= 0}
        for first, word in words.items():
            others = {w: lane for lane, w in words.items() if w % BANKS == word % BANKS}
            if len(others) > 1:
                second = next(lane for w, lane in others.items() if w != word)
                distance = abs(words[second] - word)
                return translate(
                    "Lanes {first} and {second} go to words that lie {distance} apart, a "
                    "multiple of the {banks} banks, so they meet in bank {bank}. {count} "
                    "different words of this request lie there.",
                    first=first,
                    second=second,
                    distance=distance,
                    banks=BANKS,
                    bank=word % BANKS,
                    count=len(others),
                )
    return translate("Lanes of a warp meet in the same bank.")
