"""The usual mistakes of two tiles in one array, recognised by what was seen of a run.

Halves that overlap by the words that are stored; a number that should follow from the launch by
the first launch with other blocks. What all tiled products have in common is in `labs.tile_probes`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import permutations

from labs.exercise import Probes, Shape
from labs.run import WORD, Run, run
from labs.shared_memory import calls, in_a_branch, in_shared
from labs.tile_probes import of_any_shape
from labs.tile_sums import (
    infinity,
    mixed_up_outside,
    other_order,
    taken_for_outside,
    terms_by_tile,
    tiles_mixed_up,
)
from labs.words import counted
from utils.machine.occupancy import WARP
from utils.virtual_gpu import Finding, VirtualGpuError
from utils.virtual_gpu.counters import AccessCount


def probes(sides: tuple[int, int], family: Probes) -> Probes:
    """What this family knows, in the order in which it is asked; then what all products know.

    sides: of the blocks that are launched, that of the first shape first.
    """
    by_side = {
        side: (
            (*of_any_shape(side), partial(mixed_up_outside, side)),
            (partial(terms_by_tile, side), partial(tiles_mixed_up, side),
             partial(other_order, side)),
        )
        for side in sides
    }  # fmt: skip
    return Probes(
        refused=(_size_of_the_launch,),
        findings=(
            _fixed_number,
            in_a_branch,
            _two_views,
            _outside_the_memory,
            _halves_overlap,
            *_for_the_side(by_side, 0),
            _never_stored,
            *family.findings,
        ),
        unwritten=(_fixed_number, *family.unwritten),
        wrong=(
            infinity,
            _fixed_number,
            _two_views,
            _halves_overlap,
            *_for_the_side(by_side, 1),
            taken_for_outside,
            *family.wrong,
        ),
    )


def side_of(seen: Run) -> int:
    """Threads along x of this launch."""
    return seen.exercise.launch(seen.shape).block[0]


def _for_the_side(by_side: dict[int, tuple], field: int) -> tuple[Callable, ...]:
    """Probes that were made for a side, each asked as that of the launch."""

    def asked(number: int, seen: Run, *finding: Finding) -> str | None:
        return by_side[side_of(seen)][field][number](seen, *finding)

    count = len(next(iter(by_side.values()))[field])
    return tuple(partial(asked, number) for number in range(count))


# --------------------------------------------------------------- where the tiles lie in the memory


def with_one_word_less(seen: Run) -> bool:
    """Whether the kernel goes right with one word of shared memory less than the launch gives."""

    def shorter(shape: Shape):
        given = seen.exercise.launch(shape)
        return replace(given, shared_bytes=given.shared_bytes - WORD)

    try:
        again = run(replace(seen.exercise, launch=shorter), seen.kernel, seen.shape, seen.patience)
    except VirtualGpuError:
        return False
    return not again.wrong.any() and all(one.is_warning for one in again.trace.findings)


def arrays_of_their_own(seen: Run) -> str:
    """The shared arrays whose size stands in the kernel, as a sentence; "" where none does."""
    sized = [call for call in calls(seen, "array") if not _of_the_launch(call)]
    own = [call for call in sized if ast.unparse(call.func).endswith("shared.array")]
    if not own:
        return ""
    lines = " and ".join(str(call.lineno) for call in own)
    return f" The size of a shared array stands in line {lines}. A size of 0 means: the launch's."


def _of_the_launch(call: ast.Call) -> bool:
    return bool(call.args) and ast.unparse(call.args[0]) in ("0", "(0,)")


def _size_of_the_launch(kernel, message: str) -> str | None:
    """A size that only the launch knows."""
    if "a shape that is neither a number" not in message:
        return None
    return (
        "What the launch decides is not known when the kernel is compiled. An array of size 0 is "
        "the memory that the launch asks for, however much that is."
    )


def _two_views(seen: Run, finding: Finding | None = None) -> str | None:
    """Two arrays of size 0 are one."""
    made = [call for call in calls(seen, "array") if _of_the_launch(call)]
    if len(made) < 2:
        return None
    words = _stored(seen)
    apart = len({min(one) for one in words.values()}) > 1
    if not words or (apart and not _meeting(words)):
        return None
    return (
        f"Lines {made[0].lineno} and {made[1].lineno} both name the whole memory of the launch, "
        "from its first element on: what is stored through one of them replaces what the other "
        "holds."
    )


def _halves_overlap(seen: Run, finding: Finding | None = None) -> str | None:
    """The second tile begins before the first one ends."""
    words, size = _stored(seen), side_of(seen) ** 2
    tile = f"A tile of this launch has {counted(size, 'element')}, and there are two of them."
    if words and max(map(max, words.values())) < size:
        return f"All that is stored lies in elements 0 to {size - 1} of the array. {tile}"
    meeting = _meeting(words)
    if not meeting:
        return None
    first, second = meeting
    return (
        f"Line {first} stores into elements {min(words[first])} to {max(words[first])}, and line "
        f"{second} begins at element {min(words[second])}: the tiles overlap. {tile}"
    )


def _stored(seen: Run) -> dict[int, set[int]]:
    """Of each line the elements of the one shared array into which the first block stores at first.

    Empty where there are several arrays, which cannot overlap.
    """
    stores = _shared_stores(seen)
    if len({one.array for one in stores}) > 1:
        return {}
    warps = -(-seen.exercise.launch(seen.shape).threads // WARP)
    words = {
        one.site.line: {int(at) // WORD for lanes in one.first[:warps] for at in lanes if at >= 0}
        for one in stores
    }
    return {line: found for line, found in words.items() if found}


def _shared_stores(seen: Run) -> list[AccessCount]:
    counts = seen.trace.access_counts
    return [one for one in counts if (one.space, one.kind) == ("shared", "store")]


def _meeting(words: dict[int, set[int]]) -> tuple[int, int] | None:
    """Two lines that begin at different elements and store into the same ones, in that order.

    Lines that begin at one element fill one tile, such as a value and the zero in its place.
    """
    for first, second in permutations(words, 2):
        if min(words[first]) < min(words[second]) and words[first] & words[second]:
            return first, second
    return None


def _outside_the_memory(seen: Run, finding: Finding) -> str | None:
    """An index leaves what the launch asks for."""
    if not in_shared(seen, finding, "out_of_bounds"):
        return None
    side = side_of(seen)
    words = 2 * side * side
    return (
        f"This launch has blocks of {side}×{side} threads and asks for {words * WORD:,} bytes: two "
        f"tiles of float32, elements 0 to {words - 1}. This index goes on to "
        f"{finding.index_range[1]}."
    )


def _never_stored(seen: Run, finding: Finding) -> str | None:
    """An element between the tiles, or behind them."""
    if not in_shared(seen, finding, "uninitialised"):
        return None
    if not _shared_stores(seen):
        return "No line of your kernel stores into shared memory."
    return "Which thread should have stored this element, and with which index?"


# ----------------------------------------------------------------------- what the launch decides


def _fixed_number(seen: Run, finding: Finding | None = None) -> str | None:
    """The first launch with other blocks, where nothing else is new: no edge lies in it."""
    first, other = seen.exercise.shapes[:2]
    if seen.shape != other:
        return None
    side, before = side_of(seen), seen.exercise.launch(first).block[0]
    return (
        f"With blocks of {before}×{before} threads the result was right. Here a block has "
        f"{side}×{side} threads, and a tile {side * side} elements: which number in your kernel "
        "does not follow from `cuda.blockDim`?"
    )
