"""Pictures of the fragments of one mma: which elements of a, b and c each lane of a warp holds."""

from __future__ import annotations

from collections.abc import Callable

from utils.figures.matrices import matrix, squares
from utils.figures.roles import MATRIX_A, MATRIX_B, MATRIX_C
from virtual_gpu.numbers.fragments import (
    COLUMNS,
    ROWS,
    SUMS,
    element_of_a,
    element_of_b,
    element_of_c,
)
from virtual_gpu.pictures.svg import GREY, Picture, frames, legend, rect, svg, text

K = 8  # of the mma that is drawn
WARP = 32
SIZE = 16  # the edge of a square in pixels
LEFT, TOP, GAP = 24, 40, 52
OF_A, OF_B = ROWS * K // WARP, K * COLUMNS // WARP  # elements per lane
A = (LEFT, TOP + K * SIZE + GAP)
B = (LEFT + K * SIZE + GAP, TOP)
C = (B[0], A[1])
WIDTH, HEIGHT = B[0] + COLUMNS * SIZE + 4, A[1] + ROWS * SIZE + 4
OPENS = 14  # the lane that is drawn at first
WHITE = "fill:#fff"
WIDEST = 1.45 * WIDTH
ALL = "all lanes"
GRIDS = "grids-of-fragments"  # the name of the drawn grids in a page
FRAGMENTS = (
    ("a", A, ROWS, K, OF_A, element_of_a, MATRIX_A),
    ("b", B, K, COLUMNS, OF_B, element_of_b, MATRIX_B),
    ("c", C, ROWS, COLUMNS, SUMS, element_of_c, MATRIX_C),
)


def draw_fragments(opens: int = OPENS, with_all: bool = False) -> Picture:
    """Draw the elements of a, b and c that one lane holds for an mma of 16×8×8, with a slider.

    The slider chooses the lane. The number in a square is the position of the element in the lane's
    fragment. The rows of a and the columns of b that the lane's sums need are shaded. opens: the
    lane that is drawn at first. with_all: True for all lanes at the end of the slider; there the
    number in a square is the lane.
    """
    drawn = [_lane(lane, with_grids=lane == opens) for lane in range(WARP)]
    labels = [f"lane {lane}" for lane in range(WARP)]
    if with_all:
        drawn.append(_all_lanes())
        labels.append(ALL)
    key = legend(
        elements_of_a=MATRIX_A, of_b=MATRIX_B, of_c=MATRIX_C, factors_of_the_sums_of_one_lane=GREY
    )
    alt = (
        f"Matrices a of {ROWS}×{K}, b of {K}×{COLUMNS} and c of {ROWS}×{COLUMNS} elements, and a "
        f"slider over the {WARP} lanes of a warp. {held_by(opens)} A lane holds {OF_A} elements of "
        f"a, {OF_B} of b and {SUMS} of c."
    )
    return Picture(key + frames(drawn, labels, "lane", opens), alt)


def held_by(lane: int) -> str:
    """Return a sentence with the (row, column) of each element of a, b and c that a lane holds.

    They are in the order of the fragments.
    """
    a, b, c = (
        ", ".join(map(str, cells_of(element, lane, count)))
        for _, _, _, _, count, element, _ in FRAGMENTS
    )
    return f"Lane {lane} holds {a} of a, {b} of b and {c} of c."


def lanes_with_own_factors() -> int:
    """Return the number of lanes that hold an element of b which one of their own sums needs."""
    return sum(
        not {column for _, column in cells_of(element_of_b, lane, OF_B)}.isdisjoint(
            column for _, column in cells_of(element_of_c, lane, SUMS)
        )
        for lane in range(WARP)
    )


def cells_of(element: Callable, lane: int, count: int) -> list[tuple[int, int]]:
    """Return the (row, column) of each element that a lane holds, in the order of its fragment.

    element: a function of `virtual_gpu.numbers.fragments`: (lane, index in the fragment) -> (row,
    column). count: the number of elements in a fragment.
    """
    return [element(lane, i) for i in range(count)]


def fragment(
    at: tuple[float, float], size: float, cells: list[tuple[int, int]], colour: str
) -> str:
    """Return the SVG of the squares of one fragment, each with its position in the fragment.

    at, size: as in `matrix`, which draws the grid. cells: the (row, column) of each element.
    """
    numbers = (_in_square(at, size, cell, i, style=WHITE) for i, cell in enumerate(cells))
    return squares(at, size, cells, colour) + "".join(numbers)


def _lane(lane: int, with_grids: bool) -> str:
    """Return the SVG of the three matrices with the elements that one lane holds.

    with_grids: True to draw the grids, which all other drawings of a page then refer to.
    """
    body = _grids() if with_grids else f'<use href="#{GRIDS}"/>'
    body += _words(lane) + _needed(cells_of(element_of_c, lane, SUMS))
    for _, at, _, _, count, element, colour in FRAGMENTS:
        body += fragment(at, SIZE, cells_of(element, lane, count), colour)
    return svg(WIDTH, HEIGHT, body, held_by(lane), widest=WIDEST)


def _all_lanes() -> str:
    """Return the SVG of the three matrices with the lane of every element."""
    body = f'<use href="#{GRIDS}"/>' + text(4, 16, ALL, 15, font_weight="bold")
    body += text(4, 38, "a square's number", 12) + text(4, 54, "is its lane", 12)
    for _, at, rows, columns, count, element, colour in FRAGMENTS:
        body += rect(*at, columns * SIZE, rows * SIZE, colour, fill_opacity=0.18)
        for lane in range(WARP):
            body += "".join(
                _in_square(at, SIZE, cell, lane) for cell in cells_of(element, lane, count)
            )
    return svg(WIDTH, HEIGHT, body, "Every element of a, b and c with its lane.", widest=WIDEST)


def _in_square(
    at: tuple[float, float], size: float, cell: tuple[int, int], number: int, **more
) -> str:
    """Return the SVG of a number in the square of an element. at, size: as in `matrix`."""
    row, column = cell
    x, y = at[0] + (column + 0.5) * size, at[1] + (row + 0.5) * size + 4
    return text(x, y, number, 11, "middle", **more)


def _grids() -> str:
    """Return the SVG of three empty matrices with their names and numbers, as one group."""
    body = "".join(
        matrix(at, rows, columns, SIZE, "") + _names(at, rows, columns, name)
        for name, at, rows, columns, *_ in FRAGMENTS
    )
    # The page's style for text does not reach what another drawing refers to.
    return f'<g id="{GRIDS}" fill="currentColor">{body}</g>'


def _words(lane: int) -> str:
    """Return the SVG of the lane's number, and of a numbered box per element that it holds."""
    body = text(4, 16, f"lane {lane}", 15, font_weight="bold")
    body += text(4, 38, "in its registers:", 12)
    for line, (name, _, _, _, count, _, colour) in enumerate(FRAGMENTS):
        y = 52 + line * 26
        body += text(4, y + 12, name, 13, font_weight="bold")
        for i in range(count):
            body += rect(22 + i * 20, y, 18, 18, colour)
            body += text(31 + i * 20, y + 13, i, 12, "middle", style=WHITE)
    return body


def _needed(sums: list[tuple[int, int]]) -> str:
    """Return the SVG of the shaded rows of a and columns of b that a lane's sums need."""
    shade = {"fill_opacity": 0.28}
    body = "".join(
        rect(A[0], A[1] + row * SIZE, K * SIZE, SIZE, GREY, **shade)
        for row in sorted({row for row, _ in sums})
    )
    return body + "".join(
        rect(B[0] + column * SIZE, B[1], SIZE, K * SIZE, GREY, **shade)
        for column in sorted({column for _, column in sums})
    )


def _names(at: tuple[float, float], rows: int, columns: int, name: str) -> str:
    """Return the SVG of a matrix's name and size, and of the numbers of its rows and columns."""
    x, y = at
    body = text(x, y - 22, name, 14, font_weight="bold")
    body += text(x + 14, y - 22, f"{rows}×{columns}")
    for row in range(rows):
        body += text(x - 4, y + (row + 0.5) * SIZE + 4, row, 11, "end")
    for column in range(columns):
        body += text(x + (column + 0.5) * SIZE, y - 5, column, 11, "middle")
    return body
