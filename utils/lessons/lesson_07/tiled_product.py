"""Pictures of tiling: one block iterates over tiles along its rows of a and columns of b."""

from __future__ import annotations

import math

from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    ORANGE,
    Picture,
    frames,
    legend,
    path,
    rect,
    svg,
    text,
)

CELL = 15
SIDE, TILE = 8, 4  # words per side of a matrix, and of a tile
GAP = 34
LEFT, TOP = 6, 20
FAR = SIDE * CELL + GAP  # distance from the corner to c
WIDTH, HEIGHT = LEFT + FAR + SIDE * CELL + 8, TOP + FAR + SIDE * CELL + 8
SHARED = {"sa": (LEFT, TOP), "sb": (LEFT + (TILE + 1) * CELL, TOP)}
MATRICES = {"a": (LEFT, TOP + FAR), "b": (LEFT + FAR, TOP), "c": (LEFT + FAR, TOP + FAR)}
THREAD = (1, 2)  # row and column of the highlighted thread in each tile


def draw_tile_walk() -> Picture:
    """Draw how one block of 4×4 threads computes its tile of an 8×8 product, with a slider.

    The slider moves through the copies of tiles of a and b to shared memory, each followed by the
    multiplication of these two tiles.
    """
    tiles = SIDE // TILE
    moments = [draw for at in range(tiles) for draw in (_loading(at), _multiplying(at))]
    labels = [
        words
        for at in range(1, tiles + 1)
        for words in (f"copy tile {at} of a and of b", f"multiply tile {at} of {tiles}")
    ]
    alt_text = (
        f"Matrices of {SIDE}×{SIDE} words and one block of {TILE}×{TILE} threads. It copies a tile "
        f"of {TILE}×{TILE} words of a and one of b to shared memory, sa and sb; each thread copies "
        "the word at its own place in either tile. Then each thread reads a row "
        "and a column of these tiles there. It does the same with the next tile along the rows of "
        "a and down the columns of b. At the end each word of a and b has been read from global "
        f"memory once by this block, and {TILE} times from shared memory."
    )
    key = legend(from_global_memory=BLUE, from_shared_memory=ORANGE, one_thread=GREEN)
    drawn = [svg(WIDTH, HEIGHT, moment, alt_text, widest=WIDTH * 1.3) for moment in moments]
    return Picture(key + frames(drawn, labels, "Moment of the walk"), alt_text)


def _loading(at: int) -> str:
    """Return SVG elements that show the copy of a tile of a and one of b into shared memory.

    at: the index of both tiles, counted from 0 along the rows of a and down the columns of b.
    """
    (ax, ay), (bx, by) = _corner("a", at), _corner("b", at)
    (sax, say), (sbx, sby) = SHARED["sa"], SHARED["sb"]
    half, side = TILE * CELL / 2, TILE * CELL
    return (
        _tile(ax, ay, BLUE)
        + _tile(bx, by, BLUE)
        + _tile(sax, say, BLUE, opacity=0.45)
        + _tile(sbx, sby, BLUE, opacity=0.45)
        + "".join(_thread_element(*corner) for corner in ((ax, ay), (bx, by), *SHARED.values()))
        + _thread_element(*MATRICES["c"])
        + _stage()
        + _arrow(ax + half, ay, sax + half, say + side)
        + _arrow(bx, by + half, sbx + side, sby + half)
    )


def _multiplying(at: int) -> str:
    """Return SVG elements that show the multiplication of two tiles in shared memory.

    They highlight the row and the column that one thread reads, and the tiles in a and b from which
    the tiles in shared memory were copied. at: the index of both tiles, counted from 0 along the
    rows of a and down the columns of b.
    """
    row, column = THREAD
    (ax, ay), (bx, by) = _corner("a", at), _corner("b", at)
    (sax, say), (sbx, sby) = SHARED["sa"], SHARED["sb"]
    length = TILE * CELL
    return (
        _tile(ax, ay, BLUE, opacity=0.25)
        + _tile(bx, by, BLUE, opacity=0.25)
        + _tile(sax, say, BLUE, opacity=0.25)
        + _tile(sbx, sby, BLUE, opacity=0.25)
        + rect(sax, say + row * CELL, length, CELL, ORANGE)
        + rect(sbx + column * CELL, sby, CELL, length, ORANGE)
        + _thread_element(*MATRICES["c"])
        + _stage()
    )


def _thread_element(x: float, y: float) -> str:
    """Return the SVG of the highlighted thread's element in a tile.

    x, y: the upper left corner of the tile in pixels.
    """
    row, column = THREAD
    return rect(x + column * CELL, y + row * CELL, CELL, CELL, GREEN)


def _corner(matrix: str, at: int) -> tuple[float, float]:
    """Return the upper left corner (x, y) in pixels of the tile with index `at` of a or b.

    Tiles are counted from 0 along the rows of a and down the columns of b. matrix: "a" or "b".
    """
    x, y = MATRICES[matrix]
    step = at * TILE * CELL
    return (x + step, y) if matrix == "a" else (x, y + step)


def _stage() -> str:
    """Return the SVG of the parts that all drawings have in common.

    They are the outlines of a, b, c and the two tiles in shared memory, and the block's tile of c.
    """
    drawn = [_tile(*MATRICES["c"], GREEN, opacity=0.3)]
    drawn += [_grid(x, y, SIDE) for x, y in MATRICES.values()]
    drawn += [_grid(x, y, TILE) for x, y in SHARED.values()]
    drawn += [
        text(x, y - 5, name, size=13, font_weight="600")
        for name, (x, y) in {**MATRICES, **SHARED}.items()
    ]
    return "".join(drawn) + text(
        LEFT + TILE * CELL - 12, TOP + TILE * CELL + 16, "shared memory", size=12
    )


def _tile(x: float, y: float, colour: str, opacity: float = 1) -> str:
    """Return the SVG of a filled tile whose upper left corner is (x, y)."""
    return rect(x, y, TILE * CELL, TILE * CELL, colour, fill_opacity=opacity)


def _grid(x: float, y: float, side: int) -> str:
    """Return the SVG of a grid of side × side words whose upper left corner is (x, y)."""
    length = side * CELL
    lines = "".join(
        f"M{x:g} {y + at * CELL:g}h{length}M{x + at * CELL:g} {y:g}v{length}"
        for at in range(side + 1)
    )
    return path(lines, stroke_opacity=0.45, stroke_width=0.7)


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """Return the SVG of an arrow from (x, y) to (to_x, to_y)."""
    length = math.hypot(to_x - x, to_y - y)
    along, across = (to_x - x) / length, (to_y - y) / length
    base_x, base_y = to_x - 9 * along, to_y - 9 * across
    head = (
        f"M{to_x:g} {to_y:g}L{base_x - 4.5 * across:.1f} {base_y + 4.5 * along:.1f}"
        f"L{base_x + 4.5 * across:.1f} {base_y - 4.5 * along:.1f}z"
    )
    return path(f"M{x:g} {y:g}L{base_x:.1f} {base_y:.1f}", stroke_width=1.4) + path(
        head, fill="currentColor", stroke="none"
    )
