"""The usual mistakes of products whose threads compute several elements, by what was seen of a run.

A thread's elements lie in parts of the block's tile of c: its columns a tile apart, or its rows. A
mistake that concerns one part is recognised in that part alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from labs import tile_probes
from labs.exercise import Probes
from labs.product_probes import leaves_a_matrix, what_it_counts
from labs.product_sums import added, constant_off, lost_or_repeated_terms
from labs.run import WORD, Run
from labs.tile_sums import terms_by_tile, tiles_mixed_up
from utils.virtual_gpu import Finding, VirtualGpuError
from utils.virtual_gpu.source import read_source

if TYPE_CHECKING:
    from labs.grains import Grains


def probes(grains: Grains, constant: str, family: Probes) -> Probes:
    """What this family knows, in the order in which it is asked; then what all tiles know."""
    tiles = tile_probes.probes(grains.tile, constant, family, grains.covered.width)
    return replace(
        tiles,
        constants=(partial(_other_tile, grains, constant),),
        findings=(
            _total_not_set,
            _sums_of_all,
            partial(_outside_the_totals, grains),
            partial(_part_not_filled, grains),
            partial(_later_row, grains),
            partial(_below_the_end, grains),
            *tiles.findings,
        ),
        unwritten=(
            partial(_rows_of_a_block, grains),
            partial(_last_row_decides, grains),
            partial(_store_of_a_part, grains),
            *tiles.unwritten,
        ),
        wrong=(
            partial(in_parts, grains),
            partial(_first_rows_of_b, grains),
            partial(_place_of_the_thread, grains),
            *tiles.wrong,
        ),
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
    """Rows of a tile that no thread fills, at the shape where no edge is near."""
    shared = finding.kind == "uninitialised" and "local array" not in finding.message
    if not shared or grains.rows == 1 or seen.shape != seen.exercise.shapes[0]:
        return None
    counts = seen.trace.access_counts
    stored = [one for one in counts if (one.array, one.kind) == (finding.array, "store")]
    blocks, tiles = seen.exercise.launch(seen.shape).blocks, seen.shape[2] // grains.tile
    each = sum(one.lanes for one in stored) / (blocks * tiles * grains.tile**2)
    if not stored:
        return None
    x, y = grains.block
    story = (
        f"The block has {x}×{y} threads, and a tile has {grains.tile}×{grains.tile} elements. So "
        f"each thread must fill {grains.rows} of them, "
    )
    shared_loops = _loops_around(seen, finding.line, stored[0].site.line)
    if each >= 1 and len(shared_loops) > 1:
        return (
            f"Line {stored[0].site.line} fills the tile, and two loops hold both lines (lines "
            f"{shared_loops[0]} and {shared_loops[1]}). So the sums begin when some rows of the "
            "tile are not yet filled. Fill the whole tile, wait at a barrier, and then add."
        )
    if each < 1:
        return f"{story}and here they fill at most {each:.0%} of `{finding.array}`."
    return f"{story}each in a row of its own. Here some rows are filled twice and others never."


def _loops_around(seen: Run, *lines: int) -> list[int]:
    """The lines of the loops that hold all of these lines, from the outside in."""
    return sorted(
        node.lineno
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.For | ast.While)
        and all(node.lineno < line <= node.end_lineno for line in lines)
    )


def _total_not_set(seen: Run, finding: Finding) -> str | None:
    """A sum in a local array that does not begin at zero."""
    if finding.kind != "uninitialised" or "local array" not in finding.message:
        return None
    if len(finding.index) != 1:
        return None
    return "Each sum must begin at zero."


def _sums_of_all(seen: Run, finding: Finding) -> str | None:
    """Sums in shared memory, where every thread needs its own."""
    if finding.kind != "race" or seen.parameter(finding.array) or len(finding.index) != 1:
        return None
    return f"`{finding.array}` is a shared array: all threads of a block add to the same sums."


def _outside_the_totals(grains: Grains, seen: Run, finding: Finding) -> str | None:
    """An index leaves an array of sums, which has one dimension where a tile has two."""
    of_its_own = finding.kind == "out_of_bounds" and seen.parameter(finding.array) is None
    if not of_its_own or len(finding.index) != 1:
        return None
    count = grains.columns * grains.rows
    return f"A thread has {count} sums, number 0 to {count - 1}."


def _later_row(grains: Grains, seen: Run, finding: Finding) -> str | None:
    """The first row of a thread is inside and a later one is not."""
    if grains.rows == 1 or not leaves_a_matrix(seen, finding):
        return None
    what, size = what_it_counts(seen, finding)
    thread = finding.threads[0]
    first, index = thread.block[1] * grains.tile + thread.thread[1], finding.index[finding.axis]
    one_too_far = finding.index_range == (size, size)
    behind = (thread.block[1] + 1) * grains.tile  # the first row that is not the block's
    if what != "row" or not first < size <= index < behind or one_too_far:
        return None
    return (
        f"The first row of this thread, {first}, is inside; a later one, {index}, is not, and no "
        "test stops it there."
    )


def _below_the_end(grains: Grains, seen: Run, finding: Finding) -> str | None:
    """A tile of b from below the first one leaves b in the last turn."""
    of_b = (finding.kind, seen.parameter(finding.array), finding.axis) == ("out_of_bounds", "b", 0)
    if not of_b or grains.columns == 1 or finding.line not in _lines_below(grains, seen):
        return None
    return f"Already in the first turn {_further_down(grains, seen)}"


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


def _last_row_decides(grains: Grains, seen: Run) -> str | None:
    """A thread with its last row outside does nothing for those inside."""
    m, tile = seen.shape[0], grains.tile
    rows = np.flatnonzero(seen.unwritten.all(axis=1))
    first = np.arange(m) // tile * tile + np.arange(m) % grains.block[1]
    last = first + tile - grains.block[1]
    if grains.rows == 1 or not rows.size or not np.array_equal(rows, np.flatnonzero(last >= m)):
        return None
    return (
        f"Row {rows[0]} belongs to a thread whose first row, {first[rows[0]]}, is inside and whose "
        f"last, {last[rows[0]]}, is outside: what stops the last one stops them all."
    )


def _store_of_a_part(grains: Grains, seen: Run) -> str | None:
    """One element of each thread is stored in some blocks and not in others."""
    parts = list(_parts(grains, seen))
    missing = [part for part in parts if part.run.unwritten.any()]
    if len(parts) < 2 or len(missing) != 1:
        return None
    (part,) = missing
    if seen.total("c", "store", "lanes") + seen.unwritten.sum() > seen.out.size:
        return None
    axes = ((1, "row"),) if grains.columns > 1 else ((0, "column"), (1, "row"))
    for axis, what in axes:
        whole = part.run.unwritten.all(axis=axis)
        if whole.any() and not whole.all():
            number = np.flatnonzero(whole)[0]
            number = part.of[number] if what == _what(grains) else number
            return (
                f"Of the {len(parts)} elements of each thread only {_named(grains, part)} lacks a "
                f"{what}, number {number}: the test of its store stops threads that are inside."
            )
    return None


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
    if not seen.out.any():
        return "Every element is 0: nothing was added to the sums."
    parts = list(_parts(grains, seen))
    wrong = [part for part in parts if part.run.wrong.any()]
    if len(parts) < 2:
        return None
    whose = {part.place: _whose(part, parts) for part in wrong}
    if len(wrong) == len(parts):
        if all(_alike(part.run.out, parts[0].run.out) for part in parts):
            return f"All {_what(grains)}s of a thread are alike: they share one total."
        if all(one is not None for one in whose.values()):
            return (
                f"The {_what(grains)}s of a thread are exchanged: {_named(grains, wrong[0])} "
                f"holds what belongs in {_named(grains, parts[whose[wrong[0].place]])}."
            )
        full = next((part for part in parts if _holds_all(part, parts)), None)
        if full is None:
            return None
        return f"Of the {len(parts)} elements of each thread {_named(grains, full)} {_ADDED_UP}."
    many = f"Of the {len(parts)} elements of each thread"
    first = wrong[0]
    if len(wrong) == 1:
        story = f"{many} only {_named(grains, first)} is wrong. "
    else:
        story = f"{many} {len(wrong)} are wrong, the first of them is {_named(grains, first)}. "
    return story + _in_a_part(grains, seen, first, parts, whose[first.place])


def _first_rows_of_b(grains: Grains, seen: Run) -> str | None:
    """Each row of the tile of b holds what belongs in the first row of its thread."""
    a, b = (one.astype(np.float64) for one in seen.inputs)
    terms = np.arange(len(b))
    held = b[terms // grains.tile * grains.tile + terms % grains.block[1]]
    if grains.rows == 1 or not np.array_equal(seen.out, a @ held):
        return None
    return (
        f"Each row of the tile of `{seen.names['b']}` holds one of its first {grains.block[1]} "
        "rows: all rows that a thread fills are loaded from the place of its first one."
    )


def _place_of_the_thread(grains: Grains, seen: Run) -> str | None:
    """The word of the tile of b has the number of the thread's row where another one belongs."""
    (a, b), (m, n, k), tile = seen.inputs, seen.shape, grains.tile
    if grains.rows == 1 or seen.shape != seen.exercise.shapes[0]:
        return None
    a, b = a.astype(np.float64), b.astype(np.float64)
    name, rows, columns = seen.names["b"], np.arange(m), np.arange(n)
    for own in (rows % grains.block[1], rows % tile // grains.rows):
        of_a_tile = a.reshape(m, k // tile, tile).sum(axis=2)
        held = b.reshape(k // tile, tile, n)[:, own]
        if np.array_equal(seen.out, np.einsum("mt,tmn->mn", of_a_tile, held)):
            return (
                f"All terms of a tile are multiplied with one word of the tile of `{name}`: its "
                "row is `ty` of the thread. A sum goes down a column, one row in each step."
            )
        of_own = (a @ b)[rows[:, None], columns // tile * tile + own[:, None]]
        if np.array_equal(seen.out, of_own):
            return (
                f"The word of the tile of `{name}` comes from column `ty` of the thread. An "
                "element of the result needs its own column."
            )
    return None


def _in_a_part(grains: Grains, seen: Run, part: Part, parts: list[Part], whose: int | None) -> str:
    """What became of the elements of this part."""
    if whose is not None:
        return f"It holds what belongs in {_named(grains, parts[whose])}."
    if not part.run.out.any():
        return "It is 0: nothing was added to its sum."
    if _holds_all(part, parts):
        return f"It {_ADDED_UP}."
    return (
        _from_below(grains, seen, part, parts[0])
        or terms_by_tile(grains.tile, part.run, seen)
        or lost_or_repeated_terms(part.run)
        or _zeros(grains, part)
        or constant_off(part.run)
        or added(part.run)
        or tiles_mixed_up(grains.tile, seen, partial(_of_place, grains, part.place))
        or "Which words of the tiles does its sum take, and where is it stored?"
    )


_ADDED_UP = "holds the sums of all elements of its thread, added up: their terms go into one total"


def _holds_all(part: Part, parts: list[Part]) -> bool:
    """Whether all elements of a thread are added up in this one, where all of them exist."""
    rows, columns = (min(part.run.out.shape[axis] for part in parts) for axis in (0, 1))
    every = sum(other.run.right[:rows, :columns] for other in parts)
    return len(parts) > 1 and np.array_equal(part.run.out[:rows, :columns], every)


def _from_below(grains: Grains, seen: Run, part: Part, first: Part) -> str | None:
    """The tile of b comes from below the first one, where its columns lie to the right."""
    b = seen.inputs[1]
    if grains.columns == 1:
        return None
    for of in (part.of, first.of):
        columns = min(part.of.size, of.size)
        held = np.zeros((len(b), columns))
        held[: -grains.tile] = b[grains.tile :, of[:columns]]
        if held.any() and np.array_equal(part.run.out[:, :columns], part.run.inputs[0] @ held):
            lines = _lines_below(grains, seen)
            where = f"In line {lines[0]}" if lines else "There"
            return f"{where} {_further_down(grains, seen)}"
    return None


def _lines_below(grains: Grains, seen: Run) -> list[int]:
    """The lines whose first request to b goes to rows below the first tile."""
    row = grains.tile * seen.shape[1] * WORD
    return [one.site.line for one in seen.accesses("b") if (one.first[0] >= row).any()]


def _further_down(grains: Grains, seen: Run) -> str:
    return (
        f"a tile is loaded from rows of `{seen.names['b']}` that lie {grains.tile} further down. "
        "It needs the same rows as the first tile, and other columns."
    )


def _zeros(grains: Grains, part: Part) -> str | None:
    """Whole rows or columns are zero, and the others of this part are right."""
    by_column = grains.columns > 1
    zero = (part.run.out == 0).all(axis=0 if by_column else 1)
    rest = part.run.wrong[:, ~zero] if by_column else part.run.wrong[~zero]
    if not zero.any() or rest.any():
        return None
    return (
        f"Zero stands in {_what(grains)} {part.of[zero][0]}, and others of them are right: a test "
        "takes for outside what is inside there."
    )


def _of_place(grains: Grains, place: int, result: np.ndarray) -> np.ndarray:
    """For each element of the result whether it is number `place` of its thread."""
    rows, columns = np.indices(result.shape)
    if grains.columns > 1:
        return columns // grains.tile % grains.columns == place
    return rows % grains.tile // grains.block[1] == place


def _parts(grains: Grains, seen: Run) -> Iterator[Part]:
    """The result, taken apart by the place in a thread."""
    (a, b), (m, n, k) = seen.inputs, seen.shape
    for place in range(grains.columns * grains.rows):
        if grains.columns > 1:
            of = np.flatnonzero(_of_place(grains, place, seen.out)[0])
            taken = {"inputs": (a, b[:, of]), "out": seen.out[:, of], "shape": (m, of.size, k)}
        else:
            of = np.flatnonzero(_of_place(grains, place, seen.out)[:, 0])
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
