"""The usual mistakes of tiled products, recognised by what was seen of a run.

A missing barrier by the order of the two accesses; threads that leave, by their `return`; indices
that are mixed up by the products that they give, tile by tile; wrong turns by the terms that are
missing or count twice.
"""

from __future__ import annotations

import ast
import re
from functools import partial

import numpy as np

from labs.exercise import Probes
from labs.product_sums import times_each_term
from labs.run import Run
from utils.virtual_gpu import Finding, VirtualGpuError


def probes(tile: int, family: Probes) -> Probes:
    """What this family knows, in the order in which it is asked; then what all products know."""
    return Probes(
        refused=(_computed_size,),
        findings=(
            _never_called,
            _one_warp_waits,
            _left_before,
            _not_loaded_yet,
            _still_in_use,
            _same_element,
            _in_a_branch,
            _of_each_thread,
            _nobody_stores,
            partial(_larger_than_the_block, tile),
            _left_over,
            partial(_outside_the_tile, tile),
            partial(_last_tile, tile),
            partial(_mixed_up_outside, tile),
            *family.findings,
        ),
        unwritten=(partial(_blocks_exchanged, tile), *family.unwritten),
        wrong=(
            _infinity,
            partial(_terms_by_tile, tile),
            partial(_tiles_mixed_up, tile),
            partial(_other_order, tile),
            _taken_for_outside,
            *family.wrong,
        ),
    )


# ---------------------------------------------------------------------- what cannot be compiled


def _computed_size(kernel, message: str) -> str | None:
    """TILE + 1 as the size of a shared array."""
    if "a shape that is neither a number" not in message:
        return None
    return (
        "The size of a shared array must be known before the kernel runs. Numba takes numbers and "
        "names of constants there, and does not calculate."
    )


# ----------------------------------------------------------------- what the virtual GPU has found


def _in_shared(seen: Run, finding: Finding, kind: str) -> bool:
    return finding.kind == kind and seen.parameter(finding.array) is None


def _calls(seen: Run, name: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
    ]


def _never_called(seen: Run, finding: Finding) -> str | None:
    """`cuda.syncthreads` without its brackets."""
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Expr) and ast.unparse(node.value).endswith("syncthreads"):
            return (
                f"`{ast.unparse(node)}` in line {node.lineno} names the barrier and does not call "
                "it: its brackets are missing."
            )
    return None


def _one_warp_waits(seen: Run, finding: Finding) -> str | None:
    """syncwarp in place of syncthreads."""
    warp = _calls(seen, "syncwarp")
    if not _in_shared(seen, finding, "race") or not warp or _calls(seen, "syncthreads"):
        return None
    x, y = seen.exercise.launch(seen.shape).block
    return (
        f"`syncwarp` in line {warp[0].lineno} makes the 32 threads of a warp wait for each other. "
        f"The tile is loaded by {x * y // 32} warps."
    )


def _left_before(seen: Run, finding: Finding) -> str | None:
    """Threads at the edge return before the barrier, and what they should load is missing."""
    barriers = _calls(seen, "syncthreads")
    gone = [node.lineno for node in ast.walk(seen.tree) if isinstance(node, ast.Return)]
    if not barriers or not gone or min(gone) > min(call.lineno for call in barriers):
        return None
    if not any(_in_shared(seen, finding, kind) for kind in ("uninitialised", "race", "barrier")):
        return None
    return (
        f"At the edge some threads leave at `return` in line {min(gone)}, because they have no "
        f"element of `{seen.result}`. But the others need the elements of the tiles that these "
        "threads should have loaded."
    )


def _not_loaded_yet(seen: Run, finding: Finding) -> str | None:
    """Read after write: the barrier after the loads is missing."""
    if not _in_shared(seen, finding, "race") or " reads " not in finding.message:
        return None
    return (
        f"Nothing makes the threads wait between line {finding.other_line}, which fills the tile, "
        f"and line {finding.line}: this element may be read before it has been loaded."
    )


def _still_in_use(seen: Run, finding: Finding) -> str | None:
    """Write after read: the barrier at the end of the turn is missing."""
    if not _in_shared(seen, finding, "race") or "has read" not in finding.message:
        return None
    return (
        f"Nothing makes the threads wait after line {finding.other_line}: a fast one begins the "
        "next turn and replaces an element that a slow one still needs."
    )


def _same_element(seen: Run, finding: Finding) -> str | None:
    """Write after write: two threads fill one element of the tile."""
    if not _in_shared(seen, finding, "race"):
        return None
    return "Two threads store different values into one element of the tile."


def _in_a_branch(seen: Run, finding: Finding) -> str | None:
    """A barrier in a branch or a loop that only some threads take."""
    if finding.kind != "barrier":
        return None
    around = [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.If | ast.While | ast.For)
        and node.lineno < finding.line <= node.end_lineno
    ]
    branches = [node for node in around if isinstance(node, ast.If)]
    if branches:
        test = branches[-1]
        return (
            f"The barrier stands in the branch `if {ast.unparse(test.test)}` of line "
            f"{test.lineno}. Threads that do not go there never come to it, and the others wait "
            "for them."
        )
    if around:
        return (
            f"The barrier stands in the loop of line {around[-1].lineno}, and the threads of a "
            "block do not all take the same number of turns."
        )
    return None


def _of_each_thread(seen: Run, finding: Finding) -> str | None:
    """A local array in place of a shared one."""
    if finding.kind != "uninitialised" or "local array" not in finding.message:
        return None
    return (
        f"`{finding.array}` is a local array: each thread has one of its own, and sees nothing of "
        "what the others store in theirs."
    )


def _nobody_stores(seen: Run, finding: Finding) -> str | None:
    """A tile into which no line stores."""
    if not _in_shared(seen, finding, "uninitialised"):
        return None
    stores = (one for one in seen.trace.access_counts if one.kind == "store")
    if any(one.array == finding.array for one in stores):
        return None
    return f"No line of your kernel stores into `{finding.array}`."


def _larger_than_the_block(tile: int, seen: Run, finding: Finding) -> str | None:
    """A tile with more elements than the block has threads."""
    if not _in_shared(seen, finding, "uninitialised") or max(finding.index) < tile:
        return None
    return (
        f"A block has {tile}×{tile} threads. If each stores one element of `{finding.array}`, its "
        f"rows and columns are filled from 0 to {tile - 1}."
    )


def _left_over(seen: Run, finding: Finding) -> str | None:
    """Elements of the tile beyond the edge that nobody has filled."""
    if not _in_shared(seen, finding, "uninitialised"):
        return None
    if seen.shape == seen.exercise.shapes[0]:
        return "Which thread should have stored this element?"
    return (
        "The tile reaches over the edge of the matrix there. No thread stores anything in that "
        "part of it, and it is read all the same."
    )


def _outside_the_tile(tile: int, seen: Run, finding: Finding) -> str | None:
    """An index leaves a tile."""
    shape = re.search(r"\(shape \(([\d, ]+)\)\)", finding.message)
    if not _in_shared(seen, finding, "out_of_bounds") or not shape:
        return None
    size = [int(one) for one in shape[1].split(",") if one.strip()][finding.axis]
    high = finding.index_range[1]
    if size < tile:
        return (
            f"A tile of this launch has {tile} rows and {tile} columns; this array has {size} "
            "there."
        )
    if size == tile == high:
        return f"A tile has {tile} of them, 0 to {tile - 1}, and this index takes one more."
    return f"This index goes on to {high}: it is too large, or the array is too small."


def _last_tile(tile: int, seen: Run, finding: Finding) -> str | None:
    """The last tile reaches over the end of the sum, and its loads are not tested."""
    k = seen.shape[2]
    if finding.kind != "out_of_bounds" or (seen.parameter(finding.array), finding.axis) not in (
        ("a", 1),
        ("b", 0),
    ):
        return None
    low, high = finding.index_range
    if k % tile == 0:
        if low != k:
            return None
        return f"k = {k} holds {k // tile} tiles, and this is one more."
    if low == high == k:
        return (
            f"That is one too far: the last term is k - 1 = {k - 1}. A test lets {k} pass: `<=` "
            "stands where `<` is meant, or `>` where `>=` is."
        )
    return (
        f"The last tile reaches over the end of the sum, k = {k}: this index goes from {low} to "
        f"{high}. No test stops it, or one that looks at something else."
    )


# ----------------------------------------------------------------- elements that nobody has written


def _blocks_exchanged(tile: int, seen: Run) -> str | None:
    """x of the block counts rows: as many columns are written as the grid has rows of blocks."""
    try:
        tall = seen.at((2 * tile + 1, 4 * tile, tile))
    except VirtualGpuError:
        return None
    if not np.array_equal(np.flatnonzero(~tall.unwritten.all(axis=0)), np.arange(3 * tile)):
        return None
    return (
        f"As many columns are written as this grid has blocks along `y`, times {tile}: in your "
        "kernel `blockIdx.x` counts rows and `blockIdx.y` columns."
    )


# ------------------------------------------------------------------------------------ wrong values


def _infinity(seen: Run) -> str | None:
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


def _terms_by_tile(tile: int, seen: Run) -> str | None:
    """Terms that are missing, or counted more than once, tile by tile."""
    found = times_each_term(seen)
    if found is None:
        return None
    m, n, k = seen.shape
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


def _mixed_up_outside(tile: int, seen: Run, finding: Finding) -> str | None:
    """Indices that are mixed up leave a matrix that is not square."""
    if finding.kind != "out_of_bounds" or seen.parameter(finding.array) is None:
        return None
    return _tiles_mixed_up(tile, seen)


def _tiles_mixed_up(tile: int, seen: Run) -> str | None:
    """Run on square matrices and recognise what indices give that are mixed up."""
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
    written = ~square.unwritten
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


def _other_order(tile: int, seen: Run) -> str | None:
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


def _taken_for_outside(seen: Run) -> str | None:
    """Whole rows or columns are zero, and all others are right: their loads are not made."""
    for axis, what, parameter in ((1, "row", "a"), (0, "column", "b")):
        found = np.flatnonzero((seen.out == 0).all(axis=axis))
        if not found.size or np.delete(seen.wrong, found, axis=1 - axis).any():
            continue
        which = f"{what} {found[0]}" if found.size == 1 else f"{what}s {_few(found)}"
        return (
            f"Zero stands in {which}, and all others are right: a test takes what `"
            f"{seen.names[parameter]}` has there for outside."
        )
    return None
