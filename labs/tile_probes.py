"""The usual mistakes of tiled products, recognised by what was seen of a run.

A missing barrier by the order of the two accesses; threads that leave, by their `return`. What is
told by wrong values stands in `tile_sums`.
"""

from __future__ import annotations

import ast
import re
from functools import partial

import numpy as np

from labs.exercise import Probes
from labs.run import Run
from labs.shared_memory import (
    calls,
    computed_size,
    in_a_branch,
    in_shared,
    never_called,
    nobody_stores,
    of_each_thread,
)
from labs.tile_sums import (
    infinity,
    mixed_up_outside,
    other_order,
    taken_for_outside,
    terms_by_tile,
    tiles_mixed_up,
)
from utils.machine.occupancy import WARP
from utils.virtual_gpu import Finding, VirtualGpuError
from utils.virtual_gpu.source import read_source


def probes(tile: int, constant: str, family: Probes, width: int | None = None) -> Probes:
    """What this family knows, in the order in which it is asked; then what all products know.

    width: columns of c that a block covers, where they are more than `tile`.
    """
    return Probes(
        constants=(partial(_other_side, tile, constant),),
        refused=(computed_size,),
        findings=(
            never_called,
            _one_warp_waits,
            _left_before,
            _not_loaded_yet,
            _still_in_use,
            _same_element,
            in_a_branch,
            of_each_thread,
            nobody_stores,
            partial(_larger_than_the_block, tile),
            _left_over,
            partial(_outside_the_tile, tile),
            partial(_last_tile, tile),
            partial(mixed_up_outside, tile),
            *family.findings,
        ),
        unwritten=(partial(_blocks_exchanged, tile, width or tile), *family.unwritten),
        wrong=(
            infinity,
            partial(terms_by_tile, tile),
            partial(tiles_mixed_up, tile),
            partial(other_order, tile),
            taken_for_outside,
            *family.wrong,
        ),
    )


def of_any_shape(depth: int) -> tuple:
    """What of the findings holds for tiles of any shape. depth: terms of a sum in a tile."""
    return (
        never_called,
        _one_warp_waits,
        _left_before,
        _not_loaded_yet,
        _still_in_use,
        _same_element,
        in_a_branch,
        nobody_stores,
        partial(_last_tile, depth),
    )


# -------------------------------------------------------------------- what does not fit the launch


def _other_side(tile: int, constant: str, kernel) -> str | None:
    """The reader's constant is not the side of a block."""
    code = kernel.py_func.__code__
    side = read_source(kernel.py_func).names.get(constant)
    uses = constant in code.co_names + code.co_freevars
    if not uses or not isinstance(side, int) or side == tile:
        return None
    return (
        f"This launch has blocks of {tile}×{tile} threads, and your `{constant}` is {side}. Each "
        "thread loads one element of a tile, so a tile is as wide and as high as the block."
    )


# ----------------------------------------------------------------- what the virtual GPU has found


def _one_warp_waits(seen: Run, finding: Finding) -> str | None:
    """syncwarp in place of syncthreads."""
    warp = calls(seen, "syncwarp")
    if not in_shared(seen, finding, "race") or not warp or calls(seen, "syncthreads"):
        return None
    warps = seen.exercise.launch(seen.shape).threads // WARP
    return (
        f"`syncwarp` in line {warp[0].lineno} makes the 32 threads of a warp wait for each other. "
        f"The tile is loaded by {warps} warps."
    )


def _left_before(seen: Run, finding: Finding) -> str | None:
    """Threads at the edge return before the barrier, and what they should load is missing."""
    barriers = calls(seen, "syncthreads")
    gone = [node.lineno for node in ast.walk(seen.tree) if isinstance(node, ast.Return)]
    if not barriers or not gone or min(gone) > min(call.lineno for call in barriers):
        return None
    if not any(in_shared(seen, finding, kind) for kind in ("uninitialised", "race", "barrier")):
        return None
    return (
        f"At the edge some threads leave at `return` in line {min(gone)}, because they have no "
        f"element of `{seen.result}`. But the others need the elements of the tiles that these "
        "threads should have loaded."
    )


def _not_loaded_yet(seen: Run, finding: Finding) -> str | None:
    """Read after write: the barrier after the loads is missing."""
    if not in_shared(seen, finding, "race") or " reads " not in finding.message:
        return None
    return (
        f"Nothing makes the threads wait between line {finding.other_line}, which fills the tile, "
        f"and line {finding.line}: this element may be read before it has been loaded."
    )


def _still_in_use(seen: Run, finding: Finding) -> str | None:
    """Write after read: the barrier at the end of the turn is missing."""
    if not in_shared(seen, finding, "race") or "has read" not in finding.message:
        return None
    return (
        f"Nothing makes the threads wait after line {finding.other_line}: a fast one begins the "
        "next turn and replaces an element that a slow one still needs."
    )


def _same_element(seen: Run, finding: Finding) -> str | None:
    """Write after write: two threads fill one element of the tile."""
    if not in_shared(seen, finding, "race"):
        return None
    return "Two threads store different values into one element of the tile."


def _larger_than_the_block(tile: int, seen: Run, finding: Finding) -> str | None:
    """A tile with more elements than the block has threads."""
    if not in_shared(seen, finding, "uninitialised") or max(finding.index) < tile:
        return None
    return (
        f"A block has {tile}×{tile} threads. If each stores one element of `{finding.array}`, its "
        f"rows and columns are filled from 0 to {tile - 1}."
    )


def _left_over(seen: Run, finding: Finding) -> str | None:
    """Elements of the tile beyond the edge that nobody has filled."""
    if not in_shared(seen, finding, "uninitialised"):
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
    if not in_shared(seen, finding, "out_of_bounds") or not shape:
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


def _blocks_exchanged(tile: int, width: int, seen: Run) -> str | None:
    """x of the block counts rows: as many columns are written as the grid has rows of blocks."""
    try:
        tall = seen.at((2 * tile + 1, 4 * width, tile))
    except VirtualGpuError:
        return None
    if not np.array_equal(np.flatnonzero(~tall.unwritten.all(axis=0)), np.arange(3 * width)):
        return None
    return (
        f"As many columns are written as this grid has blocks along `y`, times {width}: in your "
        "kernel `blockIdx.x` counts rows and `blockIdx.y` columns."
    )
