"""Wrong values of tiled products: what became of the sums.

Mixed-up indices by the products that they give, tile by tile; wrong turns by the terms that are
missing or count twice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labs.product_sums import times_each_term
from labs.run import Run
from utils.virtual_gpu import Finding, VirtualGpuError


def infinity(seen: Run) -> str | None:
    """At the shape with infinities: an old value of a tile shows as NaN, or one is lost."""
    if np.isfinite(seen.right).all():
        return None
    k = seen.shape[2]
    if np.isnan(seen.out[seen.wrong]).any():
        return (
            f"Here the inputs hold an infinity each. The last tile ends at term {k - 1}; behind it "
            "one tile still holds what the turn before has left there, and the other a zero. "
            "Infinity times 0 is NaN."
        )
    if np.isfinite(seen.out[~np.isfinite(seen.right)]).any():
        return (
            "Here the inputs hold an infinity each, and it is not in the result: somewhere between "
            "them a type does not hold what float32 holds."
        )
    return None


def terms_by_tile(tile: int, seen: Run, of: Run | None = None) -> str | None:
    """Terms that are missing, or counted more than once, tile by tile.

    of: the whole run, where `seen` holds a part of the result.
    """
    found = times_each_term(seen)
    if found is None:
        return None
    m, n, k = (of or seen).shape
    terms, last = np.arange(k), (k - 1) // tile * tile
    lost, inside = np.flatnonzero(found == 0), terms % tile
    if (found == -1).all():
        return "Every term is subtracted, and not added."
    if k > tile and np.array_equal(found, terms >= last):
        return "Only the terms of the last tile are in the sum: each turn forgets the tiles before."
    if k > tile and np.array_equal(found, terms < tile):
        return "Only the terms of the first tile are in the sum."
    if np.array_equal(found, inside != tile - 1):
        return f"In every tile the last term is missing: i = {_few(lost)}."
    if np.array_equal(found, inside != 0):
        return f"In every tile the first term is missing: i = {_few(lost)}."
    names = {m: f"m, the rows of `{seen.names['a']}`", n: f"n, the columns of `{seen.names['b']}`"}
    if lost.size and np.array_equal(found, terms < lost[0]) and lost[0] in names:
        return (
            f"All terms from i = {lost[0]} on are missing. {lost[0]} is {names[lost[0]]}; a sum "
            f"has k = {k} terms."
        )
    if k % tile and lost.size and np.array_equal(found, terms < last):
        return (
            f"The last tile is missing. It is not full: k = {k} is {last // tile} times {tile} and "
            f"{k - last} more."
        )
    if np.array_equal(found, terms < last):
        return "The last tile is missing: the loop ends one tile too early."
    if np.array_equal(found, terms >= tile):
        return "The first tile is missing: the loop starts one tile too late."
    twice = np.flatnonzero(found == 2)
    if k % tile and k > tile and np.array_equal(twice, np.arange(last - tile + k - last, last)):
        return (
            f"The terms {twice[0]} to {twice[-1]} count twice. In the last tile, which is not "
            "full, they still stand where the turn before has stored them."
        )
    repeats = k // tile
    if k > tile and np.array_equal(found, np.where(terms < tile, repeats, 0)):
        return (
            f"Only the terms of the first tile are in the sum, {repeats} times: every turn loads "
            "it again."
        )
    if found[0] == 1 and (np.diff(found[:3]) == 1).all():
        return (
            "Each turn starts one term further, and not one tile further: tiles overlap, and term "
            f"2 counts {found[2]:g} times."
        )
    return None


def _few(numbers: np.ndarray) -> str:
    return ", ".join(map(str, numbers[:3])) + (" …" if numbers.size > 3 else "")


# What becomes of c where indices of tiles are mixed up, as a sum over tiles. a is [r, k, y, i],
# with r and k for the tile, y and i for row and column in it; b is [k, c, i, x], c [r, c, y, x].
# "A" and "B" are the first tiles of a sum in place of all, "R" and "C" the tiles of the first row
# and of the first column of c. Where a letter is missing in the result, all elements are alike.
_MIXED_UP = (
    (
        "ab",
        "rkiy,kcix->rcyx",
        "The tile of `{a}` is read transposed: its two indices are exchanged.",
    ),
    (
        "ab",
        "rkyi,kcxi->rcyx",
        "The tile of `{b}` is read transposed: its two indices are exchanged.",
    ),
    ("ab", "rkiy,kcxi->rcyx", "Both tiles are read transposed: their indices are exchanged."),
    ("ab", "rkxi,kciy->rcyx", "Each tile of `{c}` is transposed: `tx` and `ty` are exchanged."),
    (
        "ab",
        "rkxi,kcix->rcx",
        "In a tile of `{c}` all rows are alike: that of `{a}` is read with `tx` as its row.",
    ),
    (
        "ab",
        "rkyi,kciy->rcy",
        "In a tile of `{c}` all columns are alike: that of `{b}` is read with `ty` as its column.",
    ),
    (
        "ab",
        "rkyy,kcix->rcyx",
        "In a row of the tile of `{a}` all elements are alike: `{a}` is loaded with `ty` as "
        "its column.",
    ),
    (
        "ab",
        "rkyi,kcxx->rcyx",
        "In a column of the tile of `{b}` all elements are alike: `{b}` is loaded with `tx` as "
        "its row.",
    ),
    (
        "ab",
        "rcyi,kcix->rcyx",
        "Every turn loads the same tile of `{a}`, the one at the column of the block.",
    ),
    (
        "ab",
        "rkyi,rcix->rcyx",
        "Every turn loads the same tile of `{b}`, the one at the row of the block.",
    ),
    ("ab", "ckii,kcix->cx", "`{a}` is loaded with the number of the column in place of the row."),
    ("ab", "rkyi,krii->ry", "`{b}` is loaded with the number of the row in place of the column."),
    ("Rb", "rkyi,kcix->rcyx", "Every block loads the rows of `{a}` that the first blocks need."),
    ("aC", "rkyi,kcix->rcyx", "Every block loads the columns of `{b}` that the first blocks need."),
    ("Ab", "rkyi,kcix->rcyx", "Every turn loads the first tile of `{a}` again."),
    ("aB", "rkyi,kcix->rcyx", "Every turn loads the first tile of `{b}` again."),
    (
        "aa",
        "rkyi,rkix->ryx",
        "The tile of `{a}` is multiplied with itself: nothing of `{b}` is in the result.",
    ),
    (
        "bb",
        "kcyi,kcix->cyx",
        "The tile of `{b}` is multiplied with itself: nothing of `{a}` is in the result.",
    ),
)


def mixed_up_outside(tile: int, seen: Run, finding: Finding) -> str | None:
    """Indices that are mixed up leave a matrix that is not square."""
    if finding.kind != "out_of_bounds" or seen.parameter(finding.array) is None:
        return None
    return tiles_mixed_up(tile, seen)


def tiles_mixed_up(
    tile: int, seen: Run, among: Callable[[np.ndarray], np.ndarray] | None = None
) -> str | None:
    """Run on square matrices and recognise what indices give that are mixed up.

    among: the elements to look at, of a result, where a mistake concerns some of them alone.
    """
    try:
        square = seen.at((2 * tile, 2 * tile, 2 * tile))
    except VirtualGpuError:
        return None
    a, b = (_tiles(one.astype(np.float64), tile) for one in square.inputs)
    first = {
        "A": np.broadcast_to(a[:, :1], a.shape),
        "B": np.broadcast_to(b[:1], b.shape),
        "R": np.broadcast_to(a[:1], a.shape),
        "C": np.broadcast_to(b[:, :1], b.shape),
    }
    operands = {"a": a, "b": b, **first}
    written = ~square.unwritten & (among(square.out) if among else True)
    for names, equation, sentence in _MIXED_UP:
        c = np.einsum(equation, *(operands[name] for name in names), optimize=True)
        alike = [at for at, letter in enumerate("rcyx") if letter not in equation.split("->")[1]]
        value = np.broadcast_to(np.expand_dims(c, alike), a.shape).swapaxes(1, 2)
        if np.array_equal(square.out[written], value.reshape(square.out.shape)[written]):
            return sentence.format(**seen.names)
    return None


def _tiles(matrix: np.ndarray, tile: int) -> np.ndarray:
    """The tiles of a matrix: [tile row, tile column, row, column]."""
    rows, columns = (size // tile for size in matrix.shape)
    return matrix.reshape(rows, tile, columns, tile).swapaxes(1, 2)


def other_order(tile: int, seen: Run) -> str | None:
    """An element of a tile is not read where it was stored: the right elements, in another "
    "order."""
    k = 2 * tile
    try:
        square = seen.at((k, k, k))
    except VirtualGpuError:
        return None
    if not np.isfinite(square.out).all():
        return None
    a, b = (one.astype(np.float64) for one in square.inputs)
    factors = {
        "b": (np.linalg.solve(a, square.out), b),
        "a": (np.linalg.solve(b.T, square.out.T), a.T),
    }
    for parameter, (found, right) in factors.items():
        used, needed = (one.reshape(2, tile, k) for one in (found.round(3), right))
        if np.array_equal(used, needed):
            continue
        if np.array_equal(np.sort(used, axis=1), np.sort(needed, axis=1)):
            return (
                f"All elements of a tile of `{seen.names[parameter]}` are used, but in another "
                "order: where it is stored and where it is read do not agree."
            )
    return None


def taken_for_outside(seen: Run) -> str | None:
    """Whole rows or columns are zero, and all others are right: their loads are not made."""
    for axis, what, parameter in ((1, "row", "a"), (0, "column", "b")):
        found = np.flatnonzero((seen.out == 0).all(axis=axis))
        if not found.size or np.delete(seen.wrong, found, axis=1 - axis).any():
            continue
        which = f"{what} {found[0]}" if found.size == 1 else f"{what}s {_few(found)}"
        parameter = _loads_too_little(seen) or parameter
        return (
            f"Zero stands in {which}, and all others are right: a test takes what `"
            f"{seen.names[parameter]}` has there for outside."
        )
    return None


def _loads_too_little(seen: Run) -> str | None:
    """The one input of which some elements are not loaded where they are needed."""
    (m, n, k), grid = seen.shape, seen.exercise.launch(seen.shape).grid
    needed = {"a": m * k * grid[0], "b": k * n * grid[1]}
    less = [one for one, lanes in needed.items() if seen.total(one, "load", "lanes") < lanes]
    return less[0] if len(less) == 1 else None
