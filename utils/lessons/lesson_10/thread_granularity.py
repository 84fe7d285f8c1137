"""Pictures of thread granularity: a block with one tile of b, and a block with two."""

from __future__ import annotations

from collections.abc import Iterable

from utils.figures.matrices import matrix, squares
from virtual_gpu.pictures.svg import BLUE, GREEN, ORANGE, Picture, frames, legend, rect, svg

CELL = 12
TILE, DEPTH, WIDTH = 4, 8, 16  # words: the side of a tile, the width of a, the width of c
SA, SB = (6, 22), (6 + (TILE + 1) * CELL, 22)
B = (6 + 15 * CELL, 22)
C, A = (B[0], B[1] + (DEPTH + 3) * CELL), (6, B[1] + (DEPTH + 3) * CELL)
LONG, HIGH = C[0] + WIDTH * CELL + 6, C[1] + TILE * CELL + 8
THREAD = (1, 2)  # row and column of the highlighted thread in the block
STEPS = (0, 1)  # the terms of the sum that are drawn

Words = Iterable[tuple[int, int]]


def draw_grain_walk() -> Picture:
    """Draw a block's copy and two steps of one thread, with one tile of b and with two tiles.

    A slider goes through the six moments.
    """
    moments = {}
    for grain, tiles in ((1, "one tile of b"), (2, "two tiles of b")):
        moments[f"{tiles}: copy"] = _copy(grain)
        for step in STEPS:
            b_words = "one word of sb" if grain == 1 else "two words of sb"
            moments[f"{tiles}, step {step + 1}: one word of sa, {b_words}"] = _step(grain, step)
    alt_text = (
        f"A block of {TILE}×{TILE} threads. With one tile of b it copies a tile of a and a tile of "
        "b to shared memory, sa and sb, and computes one tile of c. In each step a thread reads "
        "one word of sa and one word of sb for one multiply-add. With two tiles of b it copies the "
        "same tile of a and two tiles of b, side by side, and computes two tiles of c. In each "
        "step a thread reads one word of sa and two words of sb for two multiply-adds."
    )
    drawn = [svg(LONG, HIGH, body, alt_text, widest=LONG * 1.4) for body in moments.values()]
    key = legend(copied_from_global_memory=BLUE, read_by_one_thread=ORANGE, its_elements=GREEN)
    return Picture(key + frames(drawn, list(moments), "Moment of the walk"), alt_text)


def _copy(grain: int) -> str:
    """Return SVG of all matrices, with the tiles highlighted that a block copies to shared memory.

    `grain` is the number of tiles of b, 1 or 2.
    """
    tiles = ((A, TILE), (SA, TILE), (B, grain * TILE), *((sb, TILE) for sb in _sb(grain)))
    return _stage(grain) + "".join(
        squares(corner, CELL, _cells(TILE, columns), BLUE) for corner, columns in tiles
    )


def _step(grain: int, step: int) -> str:
    """Return SVG of all matrices, with the words highlighted that one thread reads in a step.

    The thread's elements of c are highlighted, too. `grain` is the number of tiles of b, and `step`
    the index of the term of the sum.
    """
    row, column = THREAD
    across = [column + TILE * g for g in range(grain)]
    return (
        _stage(grain)
        + squares(SA, CELL, [(row, step)], ORANGE)
        + "".join(squares(sb, CELL, [(step, column)], ORANGE) for sb in _sb(grain))
        + squares(C, CELL, [(row, one) for one in across], GREEN)
    )


def _stage(grain: int) -> str:
    """Return SVG of a, b, c and the tiles in shared memory, with the block's tiles of c shaded.

    `grain` is the number of tiles of b in shared memory.
    """
    return (
        rect(*C, grain * TILE * CELL, TILE * CELL, GREEN, fill_opacity=0.25)
        + matrix(A, TILE, DEPTH, CELL, "a")
        + matrix(B, DEPTH, WIDTH, CELL, "b")
        + matrix(C, TILE, WIDTH, CELL, "c")
        + matrix(SA, TILE, TILE, CELL, "sa")
        + "".join(matrix(sb, TILE, TILE, CELL, "sb") for sb in _sb(grain))
    )


def _sb(grain: int) -> list[tuple[int, int]]:
    """Return the upper left corners (x, y) in the drawing of the squares sb, one per tile of b."""
    return [(SB[0] + g * (TILE + 1) * CELL, SB[1]) for g in range(grain)]


def _cells(rows: int, columns: int) -> Words:
    """Return the (row, column) of all cells of a grid of this size, row by row, from (0, 0)."""
    return [(row, column) for row in range(rows) for column in range(columns)]
