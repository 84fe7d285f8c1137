"""The usual mistakes of products whose threads compute several elements, by what was seen of a run.

A thread's elements lie in parts of the block's tile of c: its columns a tile apart, or its rows. A
mistake that concerns one part is recognised in that part alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from labs import tile_probes
from labs.exercise import Probes
from labs.product_probes import leaves_a_matrix, what_it_counts
from labs.run import Run
from labs.tile_sums import terms_by_tile
from labs.words import counted
from utils.virtual_gpu import Finding, VirtualGpuError
from utils.virtual_gpu.source import read_source

if TYPE_CHECKING:
    from labs.grains import Grains


def probes(grains: Grains, constant: str, family: Probes) -> Probes:
    """What this family knows, in the order in which it is asked; then what all tiles know."""
    tiles = tile_probes.probes(grains.tile, constant, family)
    return replace(
        tiles,
        constants=(partial(_other_tile, grains, constant),),
        findings=(
            partial(_part_not_filled, grains),
            partial(_later_row, grains),
            *tiles.findings,
        ),
        unwritten=(partial(_rows_of_a_block, grains), *tiles.unwritten),
        wrong=(partial(in_parts, grains), *tiles.wrong),
    )


def _other_tile(grains: Grains, constant: str, kernel) -> str | None:
    """The reader's constant is not the side of a tile."""
    code = kernel.py_func.__code__
    side = read_source(kernel.py_func).names.get(constant)
    uses = constant in code.co_names + code.co_freevars
    if not uses or not isinstance(side, int) or side == grains.tile:
        return None
    x, y = grains.block
    return (
        f"This launch has blocks of {x}×{y} threads for tiles of {grains.tile}×{grains.tile} "
        f"elements, and your `{constant}` is {side}."
    )


# ----------------------------------------------------------------- what the virtual GPU has found


def _part_not_filled(grains: Grains, seen: Run, finding: Finding) -> str | None:
    """Rows of a tile that no thread fills, because each thread fills one row of it."""
    if finding.kind != "uninitialised" or seen.parameter(finding.array) or grains.rows == 1:
        return None
    stored = [
        one for one in seen.trace.access_counts if (one.array, one.kind) == (finding.array, "store")
    ]
    blocks, tiles = seen.exercise.launch(seen.shape).blocks, -(-seen.shape[2] // grains.tile)
    each = sum(one.lanes for one in stored) / (blocks * tiles * grains.tile**2)
    if not stored or each >= 1 or seen.shape != seen.exercise.shapes[0]:
        return None
    x, y = grains.block
    return (
        f"The block has {x}×{y} threads, and `{finding.array}` has more elements. So each thread "
        f"must fill {grains.rows} of them, and here they fill {each:.0%} of it."
    )


def _later_row(grains: Grains, seen: Run, finding: Finding) -> str | None:
    """The first row of a thread is inside and a later one is not."""
    if grains.rows == 1 or not leaves_a_matrix(seen, finding):
        return None
    what, size = what_it_counts(seen, finding)
    thread = finding.threads[0]
    first, index = thread.block[1] * grains.tile + thread.thread[1], finding.index[finding.axis]
    if what != "row" or first >= size or index < size or index == size:
        return None
    return (
        f"The first row of this thread, {first}, is inside; a later one, {index}, is not, and no "
        "test stops it there."
    )


# ----------------------------------------------------------------- elements that nobody has written


def _rows_of_a_block(grains: Grains, seen: Run) -> str | None:
    """Too few rows of a block's tile, or the same ones several times."""
    if grains.rows == 1:
        return None
    tile = grains.tile
    try:
        alone = seen.at((tile, tile, tile), blocks=1)
    except VirtualGpuError:
        return None
    missing = np.flatnonzero(alone.unwritten.all(axis=1))
    stored = alone.total("c", "store", "lanes") / tile
    if not missing.size or alone.unwritten.any(axis=1).sum() != missing.size:
        return None
    written, each = tile - missing.size, stored / grains.block[1]
    story = (
        f"Of the {tile} rows that a block covers it writes {written}; row {missing[0]} is the "
        "first that is missing. "
    )
    if stored > written:
        return (
            f"{story}And it stores {stored:g} rows in all: threads write the same rows. How far "
            "apart are the rows of one thread?"
        )
    if written % grains.block[1] == 0:
        return f"{story}So each thread writes {each:g}, and the task says {grains.rows}."
    return f"{story}Some rows of a thread lie outside of its block, or a test stops them."


# ------------------------------------------------------------------------------------ wrong values


@dataclass(frozen=True)
class Part:
    """The elements of c that are number `place` of their threads.

    of: which rows or columns of c, as numbers. run: what the kernel did to them alone.
    """

    place: int
    of: np.ndarray
    run: Run


def in_parts(grains: Grains, seen: Run) -> str | None:
    """Some elements of each thread are right and others are not, or they are exchanged."""
    if not (np.isfinite(seen.out).all() and np.isfinite(seen.right).all()):
        return None
    parts = list(_parts(grains, seen))
    wrong = [part for part in parts if part.run.wrong.any()]
    if len(parts) < 2:
        return None
    whose = {part.place: _whose(part, parts) for part in wrong}
    if len(wrong) == len(parts):
        if all(one is not None for one in whose.values()):
            return (
                f"The {_what(grains)}s of a thread are exchanged: {_named(grains, wrong[0])} "
                f"holds what belongs in {_named(grains, parts[whose[wrong[0].place]])}."
            )
        return None
    first = wrong[0]
    story = (
        f"Only {' and '.join(_named(grains, part) for part in wrong)} is wrong of what each "
        "thread computes. "
        if len(wrong) == 1
        else f"{counted(len(wrong), _what(grains))} of each thread are wrong, the first of them "
        f"is {_named(grains, first)}. "
    )
    return story + _in_a_part(grains, first, parts, whose[first.place])


def _in_a_part(grains: Grains, part: Part, parts: list[Part], whose: int | None) -> str:
    """What became of the elements of this part."""
    if whose is not None:
        return f"It holds what belongs in {_named(grains, parts[whose])}."
    if not part.run.out.any():
        return "It is 0: nothing was added to its sum."
    return terms_by_tile(grains.tile, part.run) or (
        "Which words of the tiles does its sum take, and where is it stored?"
    )


def _parts(grains: Grains, seen: Run) -> Iterator[Part]:
    """The result, taken apart by the place in a thread."""
    (a, b), (m, n, k) = seen.inputs, seen.shape
    for place in range(grains.columns * grains.rows):
        if grains.columns > 1:
            of = np.flatnonzero(np.arange(n) // grains.tile % grains.columns == place)
            taken = {"inputs": (a, b[:, of]), "out": seen.out[:, of], "shape": (m, of.size, k)}
        else:
            of = np.flatnonzero(np.arange(m) % grains.tile // grains.block[1] == place)
            taken = {"inputs": (a[of], b), "out": seen.out[of], "shape": (of.size, n, k)}
        if of.size:
            yield Part(place, of, replace(seen, **taken))


def _whose(part: Part, parts: list[Part]) -> int | None:
    """The place whose right values stand in this part."""
    for other in parts:
        if other.place != part.place and _alike(part.run.out, other.run.right):
            return other.place
    return None


def _alike(found: np.ndarray, right: np.ndarray) -> bool:
    """Whether two parts agree where both have elements."""
    rows, columns = (min(sizes) for sizes in zip(found.shape, right.shape))
    mine, theirs = found[:rows, :columns], right[:rows, :columns]
    return mine.any() and np.array_equal(mine, theirs)


def _what(grains: Grains) -> str:
    return "column" if grains.columns > 1 else "row"


def _named(grains: Grains, part: Part) -> str:
    """The part as a sentence calls it."""
    last = part.of[:1] + (grains.tile if grains.columns > 1 else grains.block[1]) - 1
    number = ("first", "second", "third", "fourth")[part.place]
    what = _what(grains)
    return f"the {number} ({what}s {part.of[0]} to {last[0]} of the first block)"
