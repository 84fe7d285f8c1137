"""Targets of wide accesses: loads and stores that move four words per lane at once."""

from __future__ import annotations

import ast

from labs.checking.phrasing import at_line
from labs.checking.run import WORD, Run
from labs.checking.target import Target
from utils.translation import translate
from virtual_gpu.counts.counters import AccessCount

WIDE = 4 * WORD  # bytes per lane
TOO_SMALL = (None, 1, 2, 4, 8)  # alignments in bytes; Numba refuses those that are no power of two


def wide_accesses(space: str, kind: str) -> Target:
    """Return the target that each load, or each store, moves four words per lane.

    It concerns one memory. space: "global" or "shared". kind: "load" or "store". The count is the
    number of words that narrower requests move, per element of the result, at the first shape.
    """

    def narrow(run: Run) -> list[AccessCount]:
        counts = [one for one in run.trace.access_counts if (one.space, one.kind) == (space, kind)]
        return [one for one in counts if one.bytes_per_lane < WIDE]

    def measure(run: Run) -> float:
        return sum(one.words for one in narrow(run)) / run.out.size

    def cause(run: Run, value: float) -> str:
        most = max(narrow(run), key=lambda one: one.words)
        values = {
            "where": at_line(most.site),
            "array": most.array,
            "bits": 8 * most.bytes_per_lane,
        }
        if kind == "load":
            return translate(
                "{where} loads {bits} bits of `{array}` per lane at a time, and one instruction "
                "can load 128 bits.",
                **values,
            )
        return translate(
            "{where} stores {bits} bits into `{array}` per lane at a time, and one instruction can "
            "store 128 bits.",
            **values,
        )

    what = f"narrow {kind}s of {space} memory"
    memory = "shared memory" if space == "shared" else "global memory"
    preposition = "from" if kind == "load" else "to"
    words = f"each {kind} {preposition} {memory} moves 128 bits"
    return Target(what, 0, words, measure, cause)


def aligned_arrays() -> Target:
    """Return the target that each shared array begins at a boundary of 16 bytes, as its code says.

    The count is the number of calls of `cuda.shared.array` without `alignment=16`, or with a
    smaller alignment. Wide loads and stores on a GPU need this alignment; the virtual GPU does not.
    """

    def calls(run: Run) -> list[ast.Call]:
        found = (node for node in ast.walk(run.tree) if isinstance(node, ast.Call))
        shared = (one for one in found if ast.unparse(one.func).endswith("shared.array"))
        return [one for one in shared if _alignment(one) in TOO_SMALL]

    def cause(run: Run, value: float) -> str:
        first = calls(run)[0]
        return translate(
            "line {line}, `{code}`: `load4` and `store4` need an array that begins at a boundary "
            "of 16 bytes. On a GPU this is certain only with `alignment=16`.",
            line=first.lineno,
            code=ast.unparse(first),
        )

    words = "shared arrays begin at a boundary of 16 bytes"
    return Target(
        "shared arrays without alignment", 0, words, lambda run: len(calls(run)), cause,
        is_usual=True,
    )  # fmt: skip


def _alignment(call: ast.Call) -> int | None:
    """Return the constant `alignment` of a call, None if it has none, -1 if it is no constant."""
    given = next((one.value for one in call.keywords if one.arg == "alignment"), None)
    return given if given is None else getattr(given, "value", -1)
