"""Lane maps: which quad of two shared arrays each lane reads, and the wavefronts of these reads.

A quad is four consecutive elements, and its index is that of its first element divided by 4. A
lane's quad is the one of its first request. The inputs are prime numbers, so that all products
differ.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache

import numpy as np

from labs.checking.phrasing import at_line, counted
from labs.checking.run import WORD, Run
from labs.checking.target import Target
from labs.targets.counts import atomics_on_the_result
from utils.translation import translate
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount

ROWS, COLUMNS = 16, 32  # of a tile
QUAD = 4
BYTES = QUAD * WORD
SHARED = ("sa", "sb")  # the arrays of the starter, by the number of their elements


@cache
def primes(count: int) -> np.ndarray:
    """Return the first `count` prime numbers, ascending, as an int64 array of shape (count,).

    The array is cached, so callers must not change it.
    """
    numbers = np.arange(2, 20 * count + 20)
    divided = (numbers[:, None] % np.arange(2, int(numbers[-1] ** 0.5) + 2) == 0).sum(axis=1)
    small = numbers <= int(numbers[-1] ** 0.5) + 1
    return numbers[divided == small][:count]


def whole_arrays(kernel) -> str | None:
    """Return a sentence on a call of load4 or store4 with a wrong number of arguments, or None.

    load4 needs two and store4 three; a wrong call is, for example, load4(sa[i]).
    """
    for node in ast.walk(read_source(kernel.py_func).tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        needed = {"load4": 2, "store4": 3}.get(name)
        if needed and len(node.args) != needed:
            usage = "load4(x, (row, column))"
            if name == "store4":
                usage = "store4(x, (row, column), four)"
            return translate(
                "Line {line}, `{code}`: {name} takes {needed} arguments. The place of the first "
                "word is one of them; in a matrix it is a tuple: `{usage}`.",
                line=node.lineno,
                code=ast.unparse(node),
                name=name,
                needed=needed,
                usage=usage,
            )
    return None


def fifth(kernel, message: str) -> str | None:
    """Return a sentence if the error message says that a quad was indexed beyond 3, else None.

    kernel: it is not used.
    """
    return "A quad has four elements, 0 to 3." if "item 4 of 4" in message else None


def whole_quad(kernel, message: str) -> str | None:
    """Return a sentence if the kernel computes with the whole tuple that load4 returns, else None.

    message: the error message of the kernel, which cannot be compiled.
    """
    if not re.search(r"\(\) of .*a tuple of 4\b.* is not known", message):
        return None
    return translate(
        "`load4` gives a tuple of four numbers. Arithmetic, here and on a GPU, takes numbers "
        "and no tuples: take one of the four at a time, such as element 0, 1, 2 or 3 of the "
        "quad of b."
    )


def no_four(kernel, message: str) -> str | None:
    """Return a sentence on a mistake in storing four numbers, or None if there is none.

    The mistakes are: store4 gets something else than a tuple of four float32; a tuple is stored
    into one element; a tuple is made by `tuple()` or from a list. message: the error message of the
    kernel, which cannot be compiled.
    """
    if "store4" in message and "No implementation" in message:
        types = re.search(r"store4\(.*, (?:UniTuple\(\w+ x (\d+)\)|(\w+))\)", message)
        count = types and (types[1] or "1")
        actual = f" Here it is given {counted(int(count), 'number')}." if count else ""
        return translate(
            "`store4(x, place, four)` needs a tuple of four numbers of float32.{actual}",
            actual=actual,
        )
    if re.search(r"storing to .* is not known", message):
        return translate(
            "With brackets one number is stored into one element. `store4(c, place, four)` "
            "stores a tuple of four numbers."
        )
    if "tuple() is not known" in message or "can make no lists" in message:
        return translate("Write the four numbers out, with commas between them: that is a tuple.")
    return None


# -------------------------------------------------------------------------- quads by lane


def _first(accesses: list[AccessCount]) -> np.ndarray | None:
    """Return each lane's byte address in the first request of the first access, or None.

    The address is -1 for an inactive lane. Returns None if there is no request.
    """
    return accesses[0].first[0] if accesses and accesses[0].first else None


def _name_of(run: Run, array: str) -> str:
    """Return a shared array's name in the reader's kernel, which may differ from the starter's.

    array: the starter's name. If no shared array has it, "sa" and "sb" are distinguished by the
    words stored into them: "sa" is the one with fewer. If the number of arrays does not fit, the
    starter's name is returned.
    """
    stored = Counter[str]()
    for one in run.trace.access_counts:
        if (one.kind, one.space) == ("store", "shared"):
            stored[one.array] += one.words
    order = SHARED if array in SHARED else (array,)
    if array in stored or len(stored) != len(order):
        return array
    return sorted(stored, key=stored.get)[order.index(array)]


def _reads(run: Run, array: str) -> list[AccessCount]:
    """Return the AccessCounts of a run's loads from a shared array, one per source line.

    array: the name that the array has in the starter.
    """
    key = (_name_of(run, array), "load", "shared")
    return [one for one in run.trace.access_counts if (one.array, one.kind, one.space) == key]


def _read(run: Run, array: str) -> np.ndarray | None:
    """Return the index of the quad that each lane reads first from a shared array, an int64 array.

    The index is -1 for a lane that reads nothing. Returns None if no line reads the array. array:
    the starter's name of the array.
    """
    first = _first(_reads(run, array))
    return None if first is None else np.where(first < 0, -1, first // BYTES)


def same_quad(run: Run) -> str | None:
    """Return a sentence on two lanes of a warp that store the same elements first, or None."""
    first = _first(run.accesses(run.job.result, "store"))
    if first is None:
        return None
    seen: dict[int, int] = {}
    for lane, address in enumerate(first.tolist()):
        if address >= 0 and seen.setdefault(address, lane) != lane:
            return translate(
                "Lanes {lane} and {other} store the same elements, so other elements have no lane. "
                "Each bit of the lane must occur once, in one of the two indices.",
                lane=seen[address],
                other=lane,
            )
    return None


def other_than_the_zig_zag(run: Run) -> str | None:
    """Return a sentence if the lanes read quads by another map than the zig-zag, else None."""
    lanes = np.arange(32)
    zig_zag = lanes >> 3 & 2 | lanes & 1, lanes >> 1 & 7
    quads = [_read(run, array) for array in SHARED]
    if all(np.array_equal(read, wanted) for read, wanted in zip(quads, zig_zag, strict=True)):
        return None
    return translate(
        "Your map is not the zig-zag, but its reads take two wavefronts as well, and every quad "
        "has its lane."
    )


# ------------------------------------------------------------------------------------- targets


def one_store_per_element(parameter: str = "c") -> Target:
    """Return the target of at most one stored word per element of the result, at every shape.

    The count is an average over all elements, and a store4 stores four words. Atomics on the result
    count as stores. parameter: the task's name of the result.
    """

    def measure(run: Run) -> float:
        written = (run.total(parameter, kind, "words") for kind in ("store", "atomic"))
        return sum(written) / run.out.size

    def cause(run: Run, value: float) -> str:
        if run.accesses(parameter, "atomic"):
            return atomics_on_the_result(run)
        most = max(run.accesses(parameter, "store"), key=lambda one: one.words)
        return translate(
            "{value:.3g} stores are made for an element of `{result}`. Most of them are in "
            "{where}. Does it stand there twice, or in one loop too many?",
            value=value,
            result=run.result,
            where=at_line(most.site),
        )

    return Target("stores per element", 1, "one store per element", measure, cause, True)


def wavefronts_of(array: str) -> Target:
    """Return the target of at most 2 wavefronts per warp for all its reads of one shared array.

    array: the starter's name of the shared array.
    """
    what = f"wavefronts to read {array}"

    def measure(run: Run) -> float:
        warps = run.job.launch(run.shape).blocks
        return sum(one.wavefronts for one in _reads(run, array)) / warps

    def cause(run: Run, value: float) -> str:
        most = max(_reads(run, array), key=lambda one: one.wavefronts)
        story = (
            f"{at_line(most.site)}: a warp takes {value:.3g} wavefronts to read "
            f"`{_name_of(run, array)}`, and the target is 2. "
        )
        warps = run.job.launch(run.shape).blocks
        reads = sum(one.requests for one in _reads(run, array)) / warps
        if most.bytes_per_lane < BYTES:
            return translate(
                "{story}It reads {bits} bits at a time, {reads:g} times.",
                story=story,
                bits=8 * most.bytes_per_lane,
                reads=reads,
            )
        if reads > 1:
            return translate(
                "{story}It reads `{array}` {reads:g} times. Does the line stand in a loop?",
                story=story,
                array=_name_of(run, array),
                reads=reads,
            )
        return story + _without_partner(_read(run, array))

    words = f"at most 2 wavefronts of a warp to read `{array}`"
    return Target(what, 2, words, measure, cause)


def read_from(array: str) -> Target:
    """Return the target that each lane reads its quad from one shared array.

    The count is 4 minus the words that a lane reads from it on average, but at least 0. Only the
    share of the words counts on which the result depends in a drawn block. array: the starter's
    name of the shared array.
    """

    def words(run: Run) -> float:
        """Return the number of words that a lane reads from the array and uses, on average."""
        lanes = 32 * run.job.launch(run.shape).blocks
        used = run.used_shares.get(_name_of(run, array), 0)
        return sum(one.words for one in _reads(run, array)) * used / lanes

    def measure(run: Run) -> float:
        return max(0.0, QUAD - words(run))

    def cause(run: Run, value: float) -> str:
        return translate(
            "a lane uses {words:.3g} of the {quad} words of its quad in `{array}`. The task is to "
            "read the quads from shared memory.",
            words=words(run),
            array=_name_of(run, array),
            quad=QUAD,
        )

    told = f"each lane reads its quad from `{array}`"
    return Target(f"words not read from {array}", 0, told, measure, cause)


def _without_partner(quads: np.ndarray) -> str:
    """Return sentences on two pairs of lanes that read different quads, so that banks conflict.

    One pair is lane and lane ^ 1, the other is lane and lane ^ 2. quads: the index of each lane's
    quad, shape (32,). Raises IndexError if all pairs of one of these kinds read the same quad.
    """
    lanes = np.arange(32)
    next_to, but_one = (int(np.flatnonzero(quads != quads[lanes ^ bit])[0]) for bit in (1, 2))
    return translate(
        "Lanes {next_to} and {neighbour} ask for the quads {quad} and {second}, so not all "
        "neighbours agree. Lanes {but_one} and {beyond} ask for the quads {third} and "
        "{fourth}, so not all next neighbours but one agree. Then eight lanes are served at a "
        "time.",
        next_to=next_to,
        neighbour=next_to ^ 1,
        quad=quads[next_to],
        second=quads[next_to ^ 1],
        but_one=but_one,
        beyond=but_one ^ 2,
        third=quads[but_one],
        fourth=quads[but_one ^ 2],
    )
