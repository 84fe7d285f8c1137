"""What students get wrong in a lane map: each probe names what it recognises.

A lane's quads are those of its first requests: the byte addresses that it reads from the shared
arrays and stores to c. The inputs are prime numbers, so that a product tells its factors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from labs.exercise import Target
from labs.run import WORD, Run
from labs.words import at, at_line, counted, element
from utils.virtual_gpu import Finding
from utils.virtual_gpu.counters import AccessCount
from utils.virtual_gpu.source import read_source

ROWS, COLUMNS = 16, 32  # of a tile
QUAD = 4
SHARED = {"sa": ROWS, "sb": COLUMNS}
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


def not_a_quad(seen: Run, finding: Finding) -> str | None:
    """A place that is no multiple of four: the number of a quad is not that of its first word."""
    if "misaligned" not in finding.message:
        return None
    return (
        "Four elements at once begin at a multiple of 4: quad q begins at element 4·q. Is the "
        "place here the number of a quad?"
    )


def outside_of_shared(seen: Run, finding: Finding) -> str | None:
    """A quad that sa or sb does not have."""
    size = SHARED.get(finding.array)
    if finding.kind != "out_of_bounds" or size is None:
        return None
    there = size // QUAD
    asked = finding.index[0] // QUAD
    if not there <= asked < COLUMNS // QUAD:
        return f"`{finding.array}` has {there} quads, with the numbers 0 to {there - 1}."
    return (
        f"That is in quad {asked}, and `{finding.array}` has {there} quads, 0 to {there - 1}: the "
        f"tile has 4 quads down and 8 across. Which of the two counts up to {asked} here?"
    )


def too_many(seen: Run, finding: Finding) -> str | None:
    """More elements of a quad than there are, or of a local array."""
    if finding.kind != "out_of_bounds" or seen.parameter(finding.array) or finding.array in SHARED:
        return None
    return "A quad has four elements, 0 to 3."


def outside(seen: Run, finding: Finding) -> str | None:
    """A store, or a load of the given lines, that leaves its matrix."""
    if finding.kind != "out_of_bounds" or seen.parameter(finding.array) != "c":
        return None
    quads = _stored(seen)
    thread = finding.threads[0]
    lane, block = thread.thread[0], thread.block
    words = f"This is lane {lane} of block ({block[0]}, {block[1]})"
    down, across = quads.get(lane, (0, 0))
    if down >= ROWS // QUAD or across >= COLUMNS // QUAD:
        return (
            f"{words}. In block (0, 0) it stores the quad ({down}, {across}), and a tile has 4 "
            "quads down and 8 across."
        )
    return (
        f"{words}, whose tile begins at row {block[1] * ROWS} and column {block[0] * COLUMNS}. "
        "How far from there may a lane go?"
    )


# -------------------------------------------------------------------------- quads by lane


def _first(accesses: list[AccessCount]) -> np.ndarray | None:
    """Byte addresses by lane in the first request."""
    return accesses[0].first[0] if accesses and accesses[0].first else None


def _stored(seen: Run) -> Mapping[int, tuple[int, int]]:
    """The quad (down, across) of c that each lane of the first block stores first."""
    first, n = _first(seen.accesses("c", "store")), seen.out.shape[1]
    if first is None:
        return {}
    words = first // WORD
    return {
        lane: (int(word) // n // QUAD, int(word) % n // QUAD)
        for lane, word in enumerate(words)
        if word >= 0
    }


def _reads(seen: Run, array: str) -> list[AccessCount]:
    wanted = (array, "load", "shared")
    return [one for one in seen.trace.access_counts if (one.array, one.kind, one.space) == wanted]


def _read(seen: Run, array: str) -> np.ndarray | None:
    """The quad of a shared array that each lane reads first; -1 where it reads none."""
    first = _first(_reads(seen, array))
    return None if first is None else np.where(first < 0, -1, first // BYTES)


def _named(quad: tuple[int, int]) -> str:
    return f"({quad[0]}, {quad[1]})"


# -------------------------------------------------------------------- elements that nobody wrote


def parts_of_quads(seen: Run) -> str | None:
    """Each lane stores fewer than its 16 elements."""
    stores = seen.accesses("c", "store")
    warps = seen.exercise.launch(seen.shape).blocks
    each = sum(one.words for one in stores) / (32 * warps)
    missing = ~seen.unwritten
    rows, columns = (missing.any(axis=axis) for axis in (1, 0))
    lost = [("row", rows), ("column", columns)]
    for what, written in lost:
        inside = np.flatnonzero(~written) % QUAD
        if (
            each < QUAD * QUAD
            and inside.size
            and set(np.flatnonzero(written) % QUAD) != set(range(QUAD))
        ):
            return (
                f"Each lane stores {each:g} elements, and its quad of `{seen.result}` has 16. "
                f"Within each quad {what} {inside[0]} is missing."
            )
    return None


def one_quad_for_two(seen: Run) -> str | None:
    """Two lanes have one quad."""
    owner: dict[tuple[int, int], int] = {}
    quads = _stored(seen)
    for lane, quad in quads.items():
        if quad in owner:
            every = {(d, a) for d in range(ROWS // QUAD) for a in range(COLUMNS // QUAD)}
            left = sorted(every - set(quads.values()))
            nobody = f", and nobody has the quad {_named(left[0])}" if left else ""
            return (
                f"Lanes {owner[quad]} and {lane} both have the quad {_named(quad)}, (down, across)"
                f"{nobody}. 32 lanes need 32 different quads."
            )
        owner[quad] = lane
    idle = 32 - len(quads)
    return f"{counted(idle, 'lane')} of each warp store nothing." if idle and quads else None


def apart_in_c(seen: Run) -> str | None:
    """Quads of c that are not four elements apart."""
    stores = seen.accesses("c", "store")
    first, n = _first(stores), seen.out.shape[1]
    if first is None:
        return None
    for lane, address in enumerate(first):
        row, column = divmod(int(address) // WORD, n)
        if address < 0:
            continue
        if row % QUAD or column % QUAD:
            return (
                f"{at(stores[0].site)}: lane {lane} begins at {element(seen.result, (row, column))}"
                ". A quad begins at a row and a column that are multiples of 4."
            )
    return None


def blocks_overlap(seen: Run) -> str | None:
    """The tile of the first block is whole: the others lie elsewhere than they should."""
    if seen.unwritten[:ROWS, :COLUMNS].any():
        return None
    rows, columns = (np.flatnonzero(seen.unwritten.all(axis=axis)) for axis in (1, 0))
    for what, lost, size, name in (("row", rows, ROWS, "row"), ("column", columns, COLUMNS, "col")):
        if lost.size and lost[0] == size:
            return (
                f"The tile of block (0, 0) is whole, and no tile begins at {what} {size}. Does the "
                f"place where you store have `{name}` in it?"
            )
    return "The tile of block (0, 0) is whole. Where do the tiles of the other blocks begin?"


# ------------------------------------------------------------------------------- wrong values


def _origin(seen: Run, value: float) -> tuple[str, str] | None:
    """The two elements of which a value is the product."""
    a, b = seen.inputs
    known = {float(one): ("a", i) for i, one in enumerate(a)}
    known |= {float(one): ("b", j) for j, one in enumerate(b)}
    for factor, (name, i) in known.items():
        other = known.get(float(value) / factor)
        if other:
            first, second = sorted(((name, i), other))
            return tuple(element(seen.names[which], (at_i,)) for which, at_i in (first, second))
    return None


def other_factors(seen: Run) -> str | None:
    """The product of two elements, but not of these two."""
    row, column = np.argwhere(seen.wrong)[0]
    found = _origin(seen, seen.out[row, column])
    if found is None:
        return None
    story = (
        f"That is {found[0]} times {found[1]}, and {element(seen.result, (row, column))} is "
        f"{element(seen.names['a'], (row,))} times {element(seen.names['b'], (column,))}."
    )
    apart = apart_in_c(seen)
    if apart:
        return f"{story} {apart}"
    return f"{story}{_reads_another_quad(seen, (int(row), int(column)))}"


def _reads_another_quad(seen: Run, place: tuple[int, int]) -> str:
    """Whether the lane that has this element reads other quads than it stores."""
    quad = place[0] // QUAD, place[1] // QUAD
    lane = next((lane for lane, stored in _stored(seen).items() if stored == quad), None)
    if lane is None or place[0] >= ROWS or place[1] >= COLUMNS:
        return ""
    read = [_read(seen, array) for array in SHARED]
    if any(one is None for one in read):
        return ""
    of_a, of_b = (int(one[lane]) for one in read)
    if (of_a, of_b) == quad:
        return f" Lane {lane} has read the right quads. Which of their elements does it multiply?"
    return (
        f" Lane {lane} reads the quads {of_a} of `sa` and {of_b} of `sb`, and stores the quad "
        f"{_named(quad)} of `{seen.result}`."
    )


def no_product(seen: Run) -> str | None:
    """A sum of two elements, or one of them alone."""
    row, column = np.argwhere(seen.wrong)[0]
    value = float(seen.out[row, column])
    a, b = float(seen.inputs[0][row]), float(seen.inputs[1][column])
    if value == a + b:
        return "That is the sum of its two elements, and not their product."
    if value in (a, b):
        name = seen.names["a"] if value == a else seen.names["b"]
        return f"That is the element of `{name}` alone: it is multiplied with nothing."
    return None


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
        warps = seen.exercise.launch(seen.shape).blocks
        return sum(one.wavefronts for one in _reads(seen, array)) / warps

    def cause(seen: Run, value: float) -> str:
        most = max(_reads(seen, array), key=lambda one: one.wavefronts)
        story = (
            f"{at_line(most.site)}: a warp takes {value:.3g} wavefronts to read `{array}`, and the "
            "target is 2. "
        )
        warps = seen.exercise.launch(seen.shape).blocks
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
