"""Targets and probes for a kernel that stores a tile row by row, by way of shared memory."""

from __future__ import annotations

import ast
import math

from labs.checking.phrasing import at_line, element
from labs.checking.run import WORD, Run
from labs.checking.target import Target
from labs.checking.text_mistakes import barrier_in_a_branch
from utils.translation import translate
from virtual_gpu import Finding
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount

ROWS, COLUMNS, QUAD = 16, 32, 4  # a tile's rows and columns; each lane has 4 by 4 of its elements
BANKS = 32
SHORTEST = 48  # words of a row: the fewest without a bank conflict of a store4


def other_arguments(kernel) -> str | None:
    """Return a sentence on a call of load4 or store4 with a wrong number of arguments, or None.

    load4 needs two arguments, and store4 needs three.
    """
    for node in ast.walk(read_source(kernel.py_func).tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        needed = {"load4": 2, "store4": 3}.get(name)
        if needed and len(node.args) != needed:
            usage = {2: "`load4(x, place)`", 3: "`store4(x, place, four)`"}[needed]
            return translate(
                "Line {line}, `{code}`: {name} takes {needed} arguments, {usage}.",
                line=node.lineno,
                code=ast.unparse(node),
                name=name,
                needed=needed,
                usage=usage,
            )
    return None


def local_rows(kernel, message: str) -> str | None:
    """Return a sentence if load4 or store4 gets a local array that it cannot use, else None.

    It may have got a local array instead of a shared one, or a part of a local array instead of
    four numbers. message: the error message of the kernel, which cannot be compiled.
    """
    if "a wide store needs a tuple" in message:
        return translate(
            "`store4` takes four numbers in brackets: `(p, q, r, s)`. Name each of them with "
            "both its indices."
        )
    if "needs an array in global or shared memory" not in message:
        return None
    return translate(
        "A local array is no memory that `load4` and `store4` know, and each lane has one of "
        "its own: other lanes see nothing of it."
    )


def barrier_of_some_lanes(run: Run, finding: Finding) -> str | None:
    """Return sentences on a barrier in a branch that only some lanes take, or None.

    Such a barrier is the cause of races that are found before it. finding: it is not used.
    """
    barriers = (one for one in run.trace.findings if one.kind == "barrier")
    causes = (barrier_in_a_branch(run, one) for one in barriers)
    return next((cause for cause in causes if cause), None)


def length_of_rows(run: Run) -> str | None:
    """Return a sentence on a shared array that has no unused words, or too many, else None.

    An array of QUAD rows of COLUMNS words has none, and avoids bank conflicts only by another order
    of the words. An array of more than QUAD rows of SHORTEST words is larger than needed, whatever
    its shape. Its shape must be a number or a tuple of numbers in the source code.
    """
    for node in ast.walk(read_source(run.kernel.py_func).tree):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("shared.array")):
            continue
        words = _words_of(node.args[0])
        if words == QUAD * COLUMNS:
            return translate(
                "Your rows have no unused words: another order within a row avoids the bank "
                "conflict, too, and needs no more shared memory."
            )
        if words > QUAD * SHORTEST:
            return translate(
                "Four rows of {fewest} words have no bank conflict either. They are {needed} "
                "words, and your array has {words}, so a block needs more shared memory.",
                fewest=SHORTEST,
                needed=QUAD * SHORTEST,
                words=words,
            )
    return None


def _words_of(shape: ast.expr) -> int:
    """Return the number of words of an array with this shape, or 0 if it is not made of numbers."""
    sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    numbers = [one.value for one in sizes if isinstance(one, ast.Constant)]
    return math.prod(numbers) if len(numbers) == len(sizes) else 0


# ------------------------------------------------------------------------------------- targets


def _accesses(run: Run, space: str, kind: str) -> list[AccessCount]:
    """Return a run's AccessCounts of this space and this kind, one per source line and array.

    space: such as "shared". kind: such as "load".
    """
    return [one for one in run.trace.access_counts if (one.space, one.kind) == (space, kind)]


def _warps(run: Run) -> int:
    """Return the number of warps in the launch of a run, whose blocks have one warp each."""
    return run.job.launch(run.shape).blocks


def loaded_once() -> Target:
    """Return the target of at most 4 requests per warp that load from x.

    The given lines of the starter make 4.
    """

    def measure(run: Run) -> float:
        return run.total("x", "load", "requests") / _warps(run)

    def cause(run: Run, value: float) -> str:
        most = max(run.accesses("x"), key=lambda one: one.requests)
        return translate(
            "a warp makes {value:g} requests to load `{x}`, and the given lines make 4. Most "
            "of them are in {where}. In a product the elements are in the registers of other "
            "lanes, and in no memory.",
            value=value,
            x=run.names["x"],
            where=at_line(most.site),
        )

    words = "each lane gets its quad by the given loads alone"
    return Target("load requests of a warp", 4, words, measure, cause)


def sectors_of_stores() -> Target:
    """Return the target of at most 4 sectors per request, for the worst line that stores into c.

    At shapes that do not fill all blocks a request may take one sector more, because a row may
    begin within a sector.
    """

    def worst(run: Run) -> AccessCount:
        return max(run.accesses("c", "store"), key=lambda one: one.sectors / one.requests)

    def measure(run: Run) -> float:
        return worst(run).sectors / worst(run).requests

    def at_edges(run: Run) -> float:
        return measure(run) if measure(run) > 5 else min(measure(run), 4)

    def cause(run: Run, value: float) -> str:
        one = worst(run)
        first = one.first[0]
        indices = [divmod(int(first[lane]) // WORD, run.out.shape[1]) for lane in (0, 1)]
        return translate(
            "{where}: each request to `{array}` reaches into {value:.3g} sectors; the target "
            "is 4. Lane 0 stores {element} and lane 1 {next_element}.",
            where=at_line(one.site),
            array=one.array,
            value=value,
            element=element(one.array, indices[0]),
            next_element=element(one.array, indices[1]),
        )

    words = "4 sectors for each store request to rows that begin at a sector"
    return Target("sectors per store", 4, words, measure, cause, at_edges=at_edges)


def no_conflicts() -> Target:
    """Return the target that no source line has a bank conflict.

    The count is the wavefronts of the worst line divided by the fewest that its words need; only
    loads and stores of shared memory count. It is 1 for a kernel without any.
    """

    def worst(run: Run) -> AccessCount | None:
        lines = [one for kind in ("load", "store") for one in _accesses(run, "shared", kind)]
        return max(lines, key=lambda one: one.wavefronts / one.fewest_wavefronts, default=None)

    def measure(run: Run) -> float:
        one = worst(run)
        return one.wavefronts / one.fewest_wavefronts if one else 1.0

    def cause(run: Run, value: float) -> str:
        one = worst(run)
        each, fewest = (n / one.requests for n in (one.wavefronts, one.fewest_wavefronts))
        return translate(
            "{where}: a {kind} of `{array}` takes {each:.3g} wavefronts, and {fewest:.3g} "
            "would do. {meeting}",
            where=at_line(one.site),
            kind=one.kind,
            array=one.array,
            each=each,
            fewest=fewest,
            meeting=_meeting(one),
        )

    words = "no bank conflict: as few wavefronts as the words need"
    return Target("wavefronts, times the fewest", 1, words, measure, cause)


def _meeting(access: AccessCount) -> str:
    """Return a sentence on two lanes of an access's first request that need the same bank.

    The lanes are among those that are served at the same time. If none are found, the sentence
    names no lanes.
    """
    words = access.first[0] // WORD
    parts = access.bytes_per_lane // WORD
    together = 32 // parts
    for first in range(0, 32, together):
        group = [lane for lane in range(first, first + together) if words[lane] >= 0]
        for index, lane in enumerate(group):
            for other in group[index + 1 :]:
                distance = abs(int(words[other] - words[lane]))
                if distance and distance % BANKS < parts:
                    return translate(
                        "Lanes {lane} and {other} go to words {distance} apart, so they meet "
                        "in bank {bank}.",
                        lane=lane,
                        other=other,
                        distance=distance,
                        bank=int(words[lane]) % BANKS,
                    )
    return translate("Lanes meet in the same bank.")
