"""What students get wrong where a tile passes through shared memory, row by row of its quads.

Each element of x is another number, so a wrong value tells where it comes from.
"""

from __future__ import annotations

import ast
import re

import numpy as np

from labs.exercise import Target
from labs.run import WORD, Run
from labs.words import at_line, element
from utils.virtual_gpu import Finding
from utils.virtual_gpu.counters import AccessCount
from utils.virtual_gpu.source import read_source

ROWS, COLUMNS, QUAD = 16, 32, 4  # of a tile and of a lane's part of it
BANKS = 32


def other_arguments(kernel) -> str | None:
    """load4 or store4 with one argument too few or too many."""
    for node in ast.walk(read_source(kernel.py_func).tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        needed = {"load4": 2, "store4": 3}.get(name)
        if needed and len(node.args) != needed:
            wanted = {2: "`load4(x, place)`", 3: "`store4(x, place, four)`"}[needed]
            return (
                f"Line {node.lineno}, `{ast.unparse(node)}`: {name} takes {needed} arguments, "
                f"{wanted}."
            )
    return None


def local_rows(kernel, message: str) -> str | None:
    """A local array in place of the shared one, or a row of `mine` in place of four numbers."""
    if "a part of a local array" in message:
        return (
            "`store4` takes four numbers in brackets: `(p, q, r, s)`. Name each of them with both "
            "its indices."
        )
    if "needs an array in global or shared memory" not in message:
        return None
    return (
        "A local array is no memory that `load4` and `store4` know, and each lane has one of its "
        "own: other lanes see nothing of it."
    )


# ----------------------------------------------------------------- what the virtual GPU has found


def _places(seen: Run, array: str, line: int) -> list[tuple[str, ...]]:
    """The indices with which a source line goes to an array, as they are written."""
    found = []
    for node in ast.walk(seen.tree):
        if getattr(node, "lineno", None) != line:
            continue
        index = None
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == array:
            index = node.slice
        if isinstance(node, ast.Call) and len(node.args) > 1 and ast.unparse(node.args[0]) == array:
            index = node.args[1]
        if isinstance(index, ast.Tuple):
            found.append(tuple(ast.unparse(one) for one in index.elts))
    return found


def _shared(seen: Run, finding: Finding, kind: str) -> bool:
    return finding.kind == kind and seen.parameter(finding.array) is None


def never_called(seen: Run, finding: Finding) -> str | None:
    """`cuda.syncwarp` without its brackets."""
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Expr) and ast.unparse(node.value).endswith(
            ("syncwarp", "syncthreads")
        ):
            return (
                f"`{ast.unparse(node)}` in line {node.lineno} names the barrier and does not call "
                "it: its brackets are missing."
            )
    return None


def not_stored_yet(seen: Run, finding: Finding) -> str | None:
    """Read after write: the barrier after the stores is missing."""
    if not _shared(seen, finding, "race") or " reads " not in finding.message:
        return None
    return (
        f"Nothing makes the lanes wait between line {finding.other_line}, which fills the rows, "
        f"and line {finding.line}: the lanes of a warp need not keep step."
    )


def still_needed(seen: Run, finding: Finding) -> str | None:
    """Write after read: the barrier at the end of a turn is missing."""
    if not _shared(seen, finding, "race") or "has read" not in finding.message:
        return None
    return (
        f"Nothing makes the lanes wait after line {finding.other_line}: one lane begins the next "
        "turn and replaces what another still needs."
    )


def same_place(seen: Run, finding: Finding) -> str | None:
    """Write after write."""
    if not _shared(seen, finding, "race"):
        return None
    story = "Two lanes store into one place of shared memory."
    for place in _places(seen, finding.array, finding.line):
        named = {name for index in place for name in re.findall(r"\w+", index)}
        for lost, kept in (("down", "across"), ("across", "down")):
            if kept in named and not named & {lost, "lane"}:
                return (
                    f"{story} Lanes with the same `{kept}` differ in `{lost}`, and the place "
                    f"`{finding.array}[{', '.join(place)}]` does not."
                )
    return story


def never_filled(seen: Run, finding: Finding) -> str | None:
    """A place that no lane has filled."""
    if finding.kind != "uninitialised":
        return None
    if seen.parameter(finding.array) is None:
        return "No lane has stored there. Which rows and columns do the lanes fill at each turn?"
    return None


def no_room(seen: Run, finding: Finding) -> str | None:
    """Outside of the shared array, or of the registers."""
    if not _shared(seen, finding, "out_of_bounds") or "misaligned" in finding.message:
        return None
    for place in _places(seen, finding.array, finding.line):
        index = place[finding.axis or 0]
        if not re.search(r"\b(down|across)\b", index) and finding.array != "mine":
            what = ("row", "column")[finding.axis or 0]
            return (
                f"The {what} is `{index}` there. How many {what}s does `{finding.array}` hold at a "
                "time?"
            )
    return (
        "`down` goes from 0 to 3 and `across` from 0 to 7, and a quad has rows and columns 0 to 3."
    )


def no_boundary(seen: Run, finding: Finding) -> str | None:
    """Four words at once that do not begin at a multiple of four."""
    if "misaligned" not in finding.message:
        return None
    if finding.array == seen.result:
        return _no_wide_store(seen)
    length = _row_length(seen, finding.array)
    if length is None:
        return "Four words at once begin at a multiple of 4."
    if length % 4:
        return (
            f"Four words at once begin at a multiple of 4. With {length} words in a row not every "
            "row begins there."
        )
    return (
        f"Four words at once begin at a multiple of 4. A row of {length} words does; the column "
        "in this line does not."
    )


def _row_length(seen: Run, array: str) -> int | None:
    """The last number of a shared array's shape, where the kernel gives it as a number."""
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == array:
            shape = getattr(node.value, "args", None)
            if shape and isinstance(shape[0], ast.Tuple):
                last = shape[0].elts[-1]
                return last.value if isinstance(last, ast.Constant) else None
    return None


def _no_wide_store(seen: Run) -> str:
    return (
        f"`{seen.result}` may have rows of any length. They may begin anywhere, and end in the "
        "midst of four words: it takes no `store4`."
    )


def _stores_wide(seen: Run, line: int) -> bool:
    """Whether this line stores four words into c at once."""
    return any(
        isinstance(node, ast.Call)
        and node.lineno == line
        and ast.unparse(node.func).endswith("store4")
        and ast.unparse(node.args[0]) == seen.result
        for node in ast.walk(seen.tree)
    )


def over_the_edge(seen: Run, finding: Finding) -> str | None:
    """Stores beyond the last row or column of c."""
    if finding.kind != "out_of_bounds" or finding.array != seen.result or finding.axis is None:
        return None
    if _stores_wide(seen, finding.line):
        return _no_wide_store(seen)
    what = ("row", "column")[finding.axis]
    if any(isinstance(node, ast.If | ast.IfExp) for node in ast.walk(seen.tree)):
        return (
            f"The last tiles hang over the edge, and your test lets this {what} pass. It must "
            "compare the very row and column that are stored."
        )
    return "The last tiles hang over the edge, and no test stops their lanes there."


def left_early(seen: Run, finding: Finding) -> str | None:
    """Lanes at the edge return, and what they should have stored is missing."""
    gone = [node.lineno for node in ast.walk(seen.tree) if isinstance(node, ast.Return)]
    kinds = ("barrier", "uninitialised", "race")
    if not gone or not any(_shared(seen, finding, kind) for kind in kinds):
        return None
    return (
        f"Lanes beyond the edge leave at `return` in line {gone[0]}. But they store for the "
        "others, and the others need them."
    )


def in_a_branch(seen: Run, finding: Finding) -> str | None:
    """A barrier that some lanes never reach."""
    if finding.kind not in ("barrier", "race"):
        return None
    for test in (node for node in ast.walk(seen.tree) if isinstance(node, ast.If)):
        for node in ast.walk(test):
            if isinstance(node, ast.Call) and "sync" in ast.unparse(node.func):
                return (
                    f"The barrier in line {node.lineno} stands in the branch `if "
                    f"{ast.unparse(test.test)}`, which some lanes do not take. All lanes must come "
                    "to it, also those without an element at the edge."
                )
    return None


# ---------------------------------------------------------------- missing and wrong elements


def _sizes(seen: Run) -> dict[str, int]:
    """How the kernel writes the numbers of rows and columns of c: the axis of each."""
    sizes = {f"{seen.result}.shape[{axis}]": axis for axis in (0, 1)}
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.value) == f"{seen.result}.shape":
            names = getattr(node.targets[0], "elts", ())
            sizes |= {ast.unparse(one): axis for axis, one in enumerate(names)}
    return sizes


def _sizes_exchanged(seen: Run) -> str | None:
    """A test of the row against the columns of c, or the other way round."""
    sizes = _sizes(seen)
    nodes = list(ast.walk(seen.tree))
    tests = [node for node in nodes if isinstance(node, ast.Compare)]
    for store in (node for node in nodes if isinstance(node, ast.Subscript)):
        if not isinstance(store.ctx, ast.Store) or ast.unparse(store.value) != seen.result:
            continue
        place = [ast.unparse(one) for one in getattr(store.slice, "elts", ())]
        for test in tests:
            left, right = ast.unparse(test.left), ast.unparse(test.comparators[0])
            for axis, index in enumerate(place[:2]):
                if left == index and sizes.get(right) == 1 - axis:
                    return (
                        f"Line {test.lineno} compares the {('row', 'column')[axis]}, `{left}`, "
                        f"with `{right}`, which is the number of {('columns', 'rows')[axis]}."
                    )
    return None


def rows_missing(seen: Run) -> str | None:
    """Which rows or columns of the first tile nobody stores."""
    exchanged = _sizes_exchanged(seen)
    if exchanged:
        return exchanged
    first = seen.unwritten[:ROWS, :COLUMNS]
    if not first.any():
        return (
            "The first tile is whole, and others are not: do `row` and `col` stand where you store?"
        )
    rows, columns = (np.flatnonzero(first.all(axis=axis)) for axis in (1, 0))
    for what, lost in (("rows", rows), ("columns", columns)):
        if lost.size:
            few = ", ".join(map(str, lost[:4])) + (" …" if lost.size > 4 else "")
            return (
                f"In the first tile the {what} {few} are missing, {lost.size} in all. At turn i "
                "the four rows of `rows` belong to four rows of the tile. Which are they?"
            )
    return None


def other_element(seen: Run) -> str | None:
    """An element of x that belongs elsewhere."""
    row, column = np.argwhere(seen.wrong)[0]
    there = np.argwhere(seen.inputs[0] == seen.out[row, column])
    if len(there) != 1 or seen.out[row, column] == 0:
        if seen.out[row, column] == 0:
            return "0 is what lies beyond the edges of `c`: this lane stores for another place."
        return None
    from_row, from_column = (int(one) for one in there[0])
    story = (
        f"That is {element(seen.names['x'], (from_row, from_column))}, which belongs in row "
        f"{from_row} and column {from_column}."
    )
    if from_row == row:
        return f"{story} The row is right. Which column does this lane read in `rows`?"
    if from_column == column:
        return f"{story} The column is right. Which row of the tile is `rows[r]` at turn i?"
    return story


# ------------------------------------------------------------------------------------- targets


def _of(seen: Run, space: str, kind: str) -> list[AccessCount]:
    return [one for one in seen.trace.access_counts if (one.space, one.kind) == (space, kind)]


def _warps(seen: Run) -> int:
    return seen.exercise.launch(seen.shape).blocks


def loaded_once() -> Target:
    """The given loads, and no others: four requests of a warp."""

    def measure(seen: Run) -> float:
        return seen.total("x", "load", "requests") / _warps(seen)

    def cause(seen: Run, value: float) -> str:
        most = max(seen.accesses("x"), key=lambda one: one.requests)
        return (
            f"a warp makes {value:g} requests to load `{seen.names['x']}`, and the given lines "
            f"make 4. Most of them are in {at_line(most.site)}. In a product the elements are in "
            "the registers of other lanes, and in no memory."
        )

    words = "each lane gets its quad by the given loads alone"
    return Target("load requests of a warp", 4, words, measure, cause)


def sectors_of_stores() -> Target:
    """Sectors of the worst source line that stores into c."""

    def worst(seen: Run) -> AccessCount:
        return max(seen.accesses("c", "store"), key=lambda one: one.sectors / one.requests)

    def measure(seen: Run) -> float:
        return worst(seen).sectors / worst(seen).requests

    def cause(seen: Run, value: float) -> str:
        one = worst(seen)
        first = one.first[0]
        places = [divmod(int(first[lane]) // WORD, seen.out.shape[1]) for lane in (0, 1)]
        return (
            f"{at_line(one.site)}: each request to `{one.array}` reaches into {value:.3g} sectors; "
            f"the target is 4. Lane 0 stores {element(one.array, places[0])} and lane 1 "
            f"{element(one.array, places[1])}."
        )

    return Target("sectors per store", 4, "4 sectors for each store request", measure, cause)


def no_conflicts() -> Target:
    """Wavefronts of shared memory against the fewest that as many lanes can take."""

    def worst(seen: Run) -> AccessCount | None:
        lines = [one for kind in ("load", "store") for one in _of(seen, "shared", kind)]
        return max(lines, key=lambda one: one.wavefronts / one.fewest_wavefronts, default=None)

    def measure(seen: Run) -> float:
        one = worst(seen)
        return one.wavefronts / one.fewest_wavefronts if one else 1.0

    def cause(seen: Run, value: float) -> str:
        one = worst(seen)
        each, fewest = (n / one.requests for n in (one.wavefronts, one.fewest_wavefronts))
        return (
            f"{at_line(one.site)}: a {one.kind} of `{one.array}` takes {each:.3g} wavefronts, and "
            f"{fewest:.3g} would do. {_meeting(one)}"
        )

    words = "no bank conflict: as few wavefronts as the words need"
    return Target("wavefronts, times the fewest", 1, words, measure, cause)


def _meeting(access: AccessCount) -> str:
    """Two lanes that are served together and meet in a bank."""
    words = access.first[0] // WORD
    parts = access.bytes_per_lane // WORD
    together = 32 // parts
    for first in range(0, 32, together):
        group = [lane for lane in range(first, first + together) if words[lane] >= 0]
        for place, lane in enumerate(group):
            for other in group[place + 1 :]:
                apart = abs(int(words[other] - words[lane]))
                if apart and apart % BANKS < parts:
                    return (
                        f"Lanes {lane} and {other} go to words {apart} apart, so they meet in bank "
                        f"{int(words[lane]) % BANKS}."
                    )
    return "Lanes meet in the same bank."
