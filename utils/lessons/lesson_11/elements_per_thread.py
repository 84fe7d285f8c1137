"""Pictures of one tile computed by fewer threads: the elements and the reads of one thread."""

from __future__ import annotations

from utils.figures.matrices import matrix, squares
from virtual_gpu.pictures.svg import GREEN, ORANGE, PURPLE, Picture, frames, legend, rect, svg, text

CELL = 14
TILE = 8  # rows, and columns, of a tile
GRAINS = (1, 2, 4)
LEFT, TOP = 8, 24
FAR, LOW = LEFT + (TILE + 3) * CELL, TOP + (TILE + 3) * CELL
BLOCK, SA, SB, C = (LEFT, TOP), (LEFT, LOW), (FAR, TOP), (FAR, LOW)
LONG, HIGH = FAR + TILE * CELL + 8, LOW + TILE * CELL + 8
THREAD = (1, 5)  # row and column of the highlighted thread in the block
STEP = 2  # the term of the sum that is drawn


def draw_fewer_threads() -> Picture:
    """Draw a block and one step of one thread, with a slider over 1, 2 and 4 elements of c each."""
    labels = [
        f"grain {grain}: {TILE}×{TILE // grain} threads, "
        f"{('one sum', 'two sums', 'four sums')[index]} in each"
        for index, grain in enumerate(GRAINS)
    ]
    alt_text = (
        f"A block computes a tile of c with {TILE}×{TILE} elements from a tile of a and a tile of "
        "b in shared memory, sa and sb. "
        + " ".join(
            f"With grain {grain} the block has {TILE // grain} rows of threads; one thread "
            f"computes {grain} of the elements of a column, and reads one word of sb and {grain} "
            "of sa in each step."
            for grain in GRAINS
        )
    )
    drawn = [svg(LONG, HIGH, _moment(grain), alt_text, widest=LONG * 1.5) for grain in GRAINS]
    key = legend(one_thread=PURPLE, what_it_reads_in_one_step=ORANGE, its_elements_of_c=GREEN)
    return Picture(key + frames(drawn, labels, "Elements of c per thread"), alt_text)


def _moment(grain: int) -> str:
    """Return SVG of a block whose threads compute `grain` elements of c each.

    One thread is highlighted, with the words that it reads in one step and its elements of c.
    """
    (row, column), stride = THREAD, TILE // grain
    rows = [row + stride * g for g in range(grain)]
    return (
        rect(*C, TILE * CELL, TILE * CELL, GREEN, fill_opacity=0.2)
        + matrix(BLOCK, stride, TILE, CELL, "threads")
        + text(BLOCK[0] + 70, BLOCK[1] - 6, "of the block")
        + matrix(SA, TILE, TILE, CELL, "sa")
        + matrix(SB, TILE, TILE, CELL, "sb")
        + matrix(C, TILE, TILE, CELL, "c")
        + squares(BLOCK, CELL, [(row, column)], PURPLE)
        + squares(SA, CELL, [(each, STEP) for each in rows], ORANGE)
        + squares(SB, CELL, [(STEP, column)], ORANGE)
        + squares(C, CELL, [(each, column) for each in rows], GREEN)
    )
