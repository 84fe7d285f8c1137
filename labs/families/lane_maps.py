"""Lane maps: which quads of two shared arrays a lane reads, and what these reads may cost.

A lane's quads are those of its first requests. The inputs are prime numbers, so that every product
is another number.
"""

from __future__ import annotations

import ast
import re
from functools import cache

import numpy as np

from labs.checking.phrasing import at_line, counted
from labs.checking.run import WORD, Run
from labs.checking.target import Target
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount

ROWS, COLUMNS = 16, 32  # of a tile
QUAD = 4
BYTES = QUAD * WORD


@cache
def primes(count: int) -> np.ndarray:
    """The first prime numbers."""
    numbers = np.arange(2, 20 * count + 20)
    divided = (numbers[:, None] % np.arange(2, int(numbers[-1] ** 0.5) + 2) == 0).sum(axis=1)
    small = numbers <= int(numbers[-1] ** 0.5) + 1
    return numbers[divided == small][:count]


def whole_arrays(kernel) -> str | None:
    """load4(sa[...]) or a slice: the array and the place are two arguments."""
    for node in ast.walk(read_source(kernel.py_func).tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        needed = {"load4": 2, "store4": 3}.get(name)
        if needed and len(node.args) != needed:
            wanted = "`load4(x, place)`" if name == "load4" else "`store4(x, place, four)`"
            return (
                f"Line {node.lineno}, `{ast.unparse(node)}`: {name} takes {needed} arguments, "
                f"{wanted}: the array and the place of its first element are two of them."
            )
    return None


def fifth(kernel, message: str) -> str | None:
    """An element behind the four that a read gives."""
    return "A quad has four elements, 0 to 3." if "item 4 of 4" in message else None


def whole_quad(kernel, message: str) -> str | None:
    """Arithmetic with all that a load4 gives."""
    if not re.search(r"\(\) of .*a tuple of 4\b.* is not known", message):
        return None
    return (
        "`load4` gives a tuple of four numbers. Arithmetic, here and on a GPU, takes numbers and "
        "no tuples: take one of the four at a time, such as element 0, 1, 2 or 3 of the quad of b."
    )


def no_four(kernel, message: str) -> str | None:
    """A store4 of something else, or four numbers that are stored or made in another way."""
    if "store4" in message and "No implementation" in message:
        given = re.search(r"store4\(.*, (?:UniTuple\(\w+ x (\d+)\)|(\w+))\)", message)
        count = given and (given[1] or "1")
        had = f" Here it is given {counted(int(count), 'number')}." if count else ""
        return f"`store4(x, place, four)` needs a tuple of four numbers of float32.{had}"
    if re.search(r"storing to .* is not known", message):
        return (
            "With brackets one number is stored into one element. `store4(c, place, four)` stores "
            "a tuple of four numbers."
        )
    if "tuple() is not known" in message or "can make no lists" in message:
        return "Write the four numbers out, with commas between them: that is a tuple."
    return None


# ----------------------------------------------------------------- what the virtual GPU has found


# -------------------------------------------------------------------------- quads by lane


def _first(accesses: list[AccessCount]) -> np.ndarray | None:
    """Byte addresses by lane in the first request."""
    return accesses[0].first[0] if accesses and accesses[0].first else None


def _reads(seen: Run, array: str) -> list[AccessCount]:
    wanted = (array, "load", "shared")
    return [one for one in seen.trace.access_counts if (one.array, one.kind, one.space) == wanted]


def _read(seen: Run, array: str) -> np.ndarray | None:
    """The quad of a shared array that each lane reads first; -1 where it reads none."""
    first = _first(_reads(seen, array))
    return None if first is None else np.where(first < 0, -1, first // BYTES)


# -------------------------------------------------------------------- elements that nobody wrote


# ------------------------------------------------------------------------------- wrong values


# ------------------------------------------------------------------------------------- targets


def one_store_per_element() -> Target:
    """Each element of c is stored once, alone or with three others."""

    def measure(seen: Run) -> float:
        return seen.total("c", "store", "words") / seen.out.size

    def cause(seen: Run, value: float) -> str:
        most = max(seen.accesses("c", "store"), key=lambda one: one.words)
        return (
            f"{value:.3g} stores are made for an element of `{seen.result}`. Most of them are in "
            f"{at_line(most.site)}. Does it stand there twice, or in one loop too many?"
        )

    return Target("stores per element", 1, "one store per element", measure, cause, True)


def wavefronts_of(array: str) -> Target:
    """Wavefronts that a warp needs to read its quads of one shared array."""
    what = f"wavefronts to read {array}"

    def measure(seen: Run) -> float:
        warps = seen.job.launch(seen.shape).blocks
        return sum(one.wavefronts for one in _reads(seen, array)) / warps

    def cause(seen: Run, value: float) -> str:
        most = max(_reads(seen, array), key=lambda one: one.wavefronts)
        story = (
            f"{at_line(most.site)}: a warp takes {value:.3g} wavefronts to read `{array}`, and the "
            "target is 2. "
        )
        warps = seen.job.launch(seen.shape).blocks
        reads = sum(one.requests for one in _reads(seen, array)) / warps
        if most.bytes_per_lane < BYTES:
            return f"{story}It reads {8 * most.bytes_per_lane} bits at a time, {reads:g} times."
        if reads > 1:
            return f"{story}It reads `{array}` {reads:g} times. Does the line stand in a loop?"
        return story + _without_partner(_read(seen, array))

    words = f"at most 2 wavefronts of a warp to read `{array}`"
    return Target(what, 2, words, measure, cause)


def _without_partner(quads: np.ndarray) -> str:
    """A lane whose neighbour, and one whose next neighbour but one, asks for another quad."""
    lanes = np.arange(32)
    next_to, but_one = (int(np.flatnonzero(quads != quads[lanes ^ apart])[0]) for apart in (1, 2))
    return (
        f"Lanes {next_to} and {next_to ^ 1} ask for the quads {quads[next_to]} and "
        f"{quads[next_to ^ 1]}, so not all neighbours agree. Lanes {but_one} and {but_one ^ 2} ask "
        f"for the quads {quads[but_one]} and {quads[but_one ^ 2]}, so not all next neighbours but "
        "one agree. Then eight lanes are served at a time."
    )
