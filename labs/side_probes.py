"""The usual mistakes of double-buffered products: the wrong side, and tiles of the wrong turn.

They are asked before what `labs.tile_probes` knows. A shared array with two sides has three indices
here, of which the first one is the side.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np

from labs.exercise import Probes
from labs.product_sums import times_each_term
from labs.run import Run
from labs.shared_memory import in_shared
from utils.virtual_gpu import Finding, VirtualGpuError


def probes(tile: int, family: Probes) -> Probes:
    """What this family knows, then what all tiled products know."""
    return replace(
        family,
        findings=(_no_such_side, _side_in_use, _empty_side, *family.findings),
        wrong=(
            _nothing_added,
            partial(_tiles_of_wrong_turns, tile),
            *family.wrong,
            partial(_before_or_in_the_loop, tile),
        ),
    )


def _no_such_side(seen: Run, finding: Finding) -> str | None:
    """The number of the side leaves 0 and 1."""
    if not in_shared(seen, finding, "out_of_bounds") or not _has_sides(finding):
        return None
    if finding.axis != 0:
        return None
    sides = re.search(r"\(shape \((\d+)", finding.message)[1]
    return (
        f"The first index of `{finding.array}` is the side. The array has {sides} of them, counted "
        f"from 0, and the index is {finding.index[0]}."
    )


def _side_in_use(seen: Run, finding: Finding) -> str | None:
    """The next tile is stored where the tile of this turn is still read."""
    if not in_shared(seen, finding, "race") or "has read" not in finding.message:
        return None
    if finding.line <= finding.other_line:
        return None
    where = f"side {finding.index[0]} of" if _has_sides(finding) else "the one tile that is in"
    return (
        f"Line {finding.line} stores the next tile into {where} `{finding.array}`, from which line "
        f"{finding.other_line} reads in the same turn. No barrier stands between the two, and a "
        "slow thread still needs what is replaced."
    )


def _empty_side(seen: Run, finding: Finding) -> str | None:
    """A side is read before any tile was stored there."""
    if not in_shared(seen, finding, "uninitialised") or not _has_sides(finding):
        return None
    side = finding.index[0] % 2  # -1 is the last one
    filled = _filled_before(seen, finding, side)
    if filled is None or side in filled:
        return None
    if not filled:
        return f"Nobody has stored a tile into `{finding.array}` before this line first reads it."
    return (
        f"Up to here only side {min(filled)} of `{finding.array}` holds a tile, and this line "
        f"reads side {side}."
    )


def _has_sides(finding: Finding) -> bool:
    return len(finding.index) == 3 or "(shape (2," in finding.message


def _filled_before(seen: Run, finding: Finding, side: int) -> set[int] | None:
    """The sides of an array into which block 0 stores before a line first reads one of them."""
    recording = seen.recorded(0)
    array = next((one for one in recording.arrays if one.name == finding.array), None)
    if array is None:
        return None
    filled: set[int] = set()
    for event in recording.events:
        if event.array != finding.array:
            continue
        sides = set(event.first[event.first >= 0] // array.strides[0])
        if event.kind == "store":
            filled |= sides
        elif event.line == finding.line and side in sides:
            return {int(one) for one in filled}
    return None


def _nothing_added(seen: Run) -> str | None:
    """All sums stay 0."""
    if seen.out.any() or not seen.right.any():
        return None
    return f"Every element of `{seen.result}` is 0: nothing is added to the sums."


def _tiles_of_wrong_turns(tile: int, seen: Run) -> str | None:
    """Whole tiles are missing, or count twice, though they were loaded."""
    found, k = times_each_term(seen), seen.shape[2]
    if found is None or k <= tile:
        return None
    number, tiles = np.arange(k) // tile, -(-k // tile)
    if np.array_equal(found, number < tiles - 1) and _loads_all(tile, seen):
        return (
            "The last tile is missing. It has been loaded, and no turn multiplies it: a turn "
            "multiplies the tile that the turn before has stored."
        )
    if np.array_equal(found, np.where(number == 0, 2, number < tiles - 1)):
        return (
            "The first tile counts twice, and the last one is missing: in its turn each tile is "
            "loaded once more, in place of the next."
        )
    if np.array_equal(found, np.where(number == 0, tiles, 0)) and _loads_all(tile, seen):
        return (
            f"Only the terms of the first tile are in the sum, {tiles} times. All tiles are "
            "loaded, but every turn reads the same side."
        )
    if np.array_equal(found, number % 2 == 0):
        return "Every second tile is missing."
    return None


def _before_or_in_the_loop(tile: int, seen: Run) -> str | None:
    """Whether the tile that is loaded before the loop is right by itself."""
    m, n, k = seen.shape
    if k <= tile:
        return None
    try:
        alone = seen.at((m, n, tile))
    except VirtualGpuError:
        return None
    story = f"With k = {tile} there is one tile only, the first, and the result is"
    if alone.wrong.any():
        return f"{story} wrong there, too. Where and how is this tile loaded, stored and read?"
    return f"{story} right there. Where and how are the tiles behind it loaded, stored and read?"


def _loads_all(tile: int, seen: Run) -> bool:
    """Whether block 0 loads something of every tile of both inputs."""
    k, columns = seen.shape[2], {"a": seen.shape[2], "b": seen.shape[1]}
    loaded: dict[str, set[int]] = {"a": set(), "b": set()}
    for event in seen.recorded(0).events:
        parameter = seen.parameter(event.array)
        if event.kind == "load" and parameter in loaded:
            places = np.divmod(event.first[event.first >= 0], columns[parameter])
            loaded[parameter] |= set(places[parameter == "a"] // tile)
    return all(len(tiles) == -(-k // tile) for tiles in loaded.values())
