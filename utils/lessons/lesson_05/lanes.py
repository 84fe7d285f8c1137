"""Pictures of lanes: their position in a block, the words they read, and the columns they own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from utils.figures.matrices import matrix, squares
from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    ORANGE,
    PALE,
    PURPLE,
    Picture,
    frames,
    legend,
    path,
    rect,
    svg,
    text,
)

SIDE = 8  # number of lanes, and of words per row; a row is one sector
LINE = 3  # the row or column of c that the lanes compute
WHITE = "fill:#fff"


def draw_directions() -> Picture:
    """Draw the words of a and b that eight lanes read in a product, with a slider.

    Two cases are drawn next to each other: the lanes compute a column of c, or a row of c. The
    slider moves through the iterations of the loop over k.
    """
    drawings = [
        f'<div class="row">{_iteration(True, i)}{_iteration(False, i)}</div>' for i in range(SIDE)
    ]
    labels = [f"i = {i}" for i in range(SIDE)]
    colours = legend(belongs_to_a_lane=GREEN, read_by_a_lane=BLUE, comes_with_it=PALE)
    return Picture(
        colours + frames(drawings, labels, "iteration"),
        "Eight lanes and matrices of 8×8 words, where a row is a sector. Lanes that go down a "
        "column of c read in each iteration a column of a, one word in each of its rows, and one "
        "word of b. Lanes that go along a row of c read one word of a, and a row of b.",
    )


def _iteration(down: bool, i: int) -> str:
    """Return an SVG of a, b and c with the words that the lanes read in iteration `i`.

    The lanes compute a column of c if `down`, otherwise a row. The sectors of the words that they
    read, and the words of c that they compute, are highlighted too.
    """
    size, gap, top = 17, 30, 40
    side = SIDE * size
    a, b, c = (4, top + side + gap), (4 + side + gap, top), (4 + side + gap, top + side + gap)
    lanes = [(lane, LINE) if down else (LINE, lane) for lane in range(SIDE)]
    a_words = sorted({(row, i) for row, _ in lanes})
    b_words = sorted({(i, column) for _, column in lanes})
    body = text(4, 16, "lanes go down" if down else "lanes go along", 14, font_weight="bold")
    for name, at, read in (("a", a, a_words), ("b", b, b_words), ("c", c, [])):
        body += matrix(at, SIDE, SIDE, size, f"{name} 8×8 words")
        loaded = {(row, column) for row, _ in read for column in range(SIDE)} - set(read)
        body += squares(at, size, sorted(loaded), PALE) + squares(at, size, read, BLUE)
    body += squares(c, size, lanes, GREEN)
    for lane, (row, column) in enumerate(lanes):
        x, y = c[0] + (column + 0.5) * size, c[1] + row * size + 13
        body += text(x, y, lane, 12, "middle", style=WHITE)
    direction = "down a column" if down else "along a row"
    words = f"{len(a_words)} words of a and {len(b_words)} words of b"
    alt = f"Iteration {i}, lanes {direction} of c: {words}"
    return svg(2 * side + gap + 10, c[1] + side + 6, body, alt, widest=330)


def draw_threads(numbers: np.ndarray, block: tuple[int, int]) -> Picture:
    """Draw a grid of threads with the number that each thread wrote, and gaps between blocks.

    Parameters
    ----------
    numbers : ndarray, shape (rows, columns)
        The number that each thread wrote, from 0 to the threads per block minus 1. Rows run along
        y, and columns along x.
    block : tuple of int
        Threads per block along x and along y.
    """
    (rows, columns), (width, height) = numbers.shape, block
    size, gap, left, top = 30, 6, 46, 22

    def x(column: int) -> float:
        return left + column * size + gap * (column // width)

    def y(row: int) -> float:
        return top + row * size + gap * (row // height)

    body = ""
    for (row, column), number in np.ndenumerate(numbers):
        shade = f"{0.2 + 0.5 * number / (width * height - 1):.2f}"
        body += rect(x(column), y(row), size - 2, size - 2, BLUE, opacity=shade, rx=3)
        body += text(x(column) + size / 2 - 1, y(row) + 19, f"{number:.0f}", 13, "middle")
    for column in range(columns):
        name = column if column else "x=0"
        body += text(x(column) + size / 2 - 1, 15, name, 12, "middle")
    for row in range(rows):
        body += text(36, y(row) + 19, row if row else "y=0", 12, "end")
    alt = (
        f"{rows} rows and {columns} columns of threads in blocks of {width}×{height}. In each "
        "block the numbers of the lanes run along x first, and go on with the next y."
    )
    return Picture(svg(x(columns), y(rows) + 2, body, alt, widest=x(columns)), alt)


def draw_owners() -> Picture:
    """Draw two ways to assign the 16 columns of a row of c to four lanes.

    A lane computes four adjacent columns, or every fourth column.
    """
    adjacent = _owners("adjacent", 24, lambda column: column // 4)
    strided = _owners("4 apart", 90, lambda column: column % 4)
    alt = (
        "A row of c with 16 columns for 4 lanes. Adjacent: lanes 0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3. "
        "4 apart: 0 1 2 3 four times. The first column of each lane is underlined."
    )
    return Picture(svg(376, 122, adjacent + strided, alt), alt)


def _owners(title: str, top: float, owner: Callable[[int], int]) -> str:
    """Return the SVG of a row of 16 columns, each with the number and the colour of its lane.

    The first column of each lane is underlined. top: y of the row. owner: a function from a column
    to its lane, 0 to 3.
    """
    size, left, colours = 23, 4, (BLUE, ORANGE, GREEN, PURPLE)
    body, labelled = text(left, top - 8, title, 13, font_weight="bold"), set()
    for column in range(16):
        lane, x = owner(column), left + column * size
        body += rect(x, top, size - 2, size - 2, colours[lane], rx=3)
        body += text(x + size / 2 - 1, top + 15.5, lane, 12, "middle", style=WHITE)
        if lane not in labelled:
            body += path(f"M{x} {top + size + 2}h{size - 2}", stroke_width=3)
        labelled.add(lane)
    return body
