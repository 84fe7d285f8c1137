"""A tile that passes through shared memory and is stored row by row: its targets and its text."""

from __future__ import annotations

import ast

from labs.checking.phrasing import at_line, element
from labs.checking.run import WORD, Run
from labs.checking.target import Target
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount

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


# ---------------------------------------------------------------- missing and wrong elements


# ------------------------------------------------------------------------------------- targets


def _of(seen: Run, space: str, kind: str) -> list[AccessCount]:
    return [one for one in seen.trace.access_counts if (one.space, one.kind) == (space, kind)]


def _warps(seen: Run) -> int:
    return seen.job.launch(seen.shape).blocks


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
