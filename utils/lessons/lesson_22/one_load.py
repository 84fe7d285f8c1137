"""A picture of one load of a fragment: the elements of all 32 lanes, and their cache lines."""

from __future__ import annotations

from utils.figures.matrices import matrix, squares
from utils.figures.roles import MATRIX_A, MATRIX_B
from utils.machine.occupancy import WARP
from virtual_gpu.numbers.fragments import COLUMNS, ROWS, element_of_a, element_of_b
from virtual_gpu.pictures.svg import GREY, Picture, path, rect, svg, text

K, LINE, ELEMENT = 8, 128, 2  # steps of k of one mma; bytes of a cache line and of an element
SIZE, LEFT, TOP = 18, 22, 58
BYTE = 1.75  # the width of a byte in pixels
LINES = LEFT + K * SIZE + 26  # the left end of the cache lines
WIDTH = LINES + LINE * BYTE + 4
SIZES = {"a": (ROWS, K), "b": (K, COLUMNS)}


def draw_load(name: str = "a", number: int = 0) -> Picture:
    """Draw which elements of a matrix all lanes load at once, and the cache line of each row.

    name: "a" or "b". number: the position of the elements in the lanes' fragments.
    """
    element, colour = {"a": (element_of_a, MATRIX_A), "b": (element_of_b, MATRIX_B)}[name]
    cells = [element(lane, number) for lane in range(WARP)]
    rows = sorted({row for row, _ in cells})
    title = f"one load of a warp: the squares {number} of {name}"
    body = text(4, 16, title, 14, font_weight="bold")
    body += text(LEFT, TOP - 22, "lane in its square") + text(LINES, TOP - 22, "in memory: a row's")
    body += text(LINES, TOP - 7, f"{LINE} bytes, {LINE // ELEMENT} elements")
    body += _grid(*SIZES[name]) + squares((LEFT, TOP), SIZE, cells, colour)
    for lane, (row, column) in enumerate(cells):
        x, y = LEFT + (column + 0.5) * SIZE, TOP + row * SIZE + 13
        body += text(x, y, lane, 11, "middle", style="fill:#fff")
    for row in rows:
        y = TOP + row * SIZE + 3
        body += path(f"M{LEFT + K * SIZE + 4} {y + 6}H{LINES - 4}", opacity=0.5)
        body += rect(LINES, y, LINE * BYTE, 12, GREY, fill_opacity=0.3)
    for row, column in cells:
        x = LINES + column * ELEMENT * BYTE
        body += rect(x, TOP + row * SIZE + 3, ELEMENT * BYTE, 12, colour)
    alt = (
        f"Load {number} of {name}: {WARP} lanes load one element each, from {len(rows)} rows of "
        f"{name}. Each row is {LINE} bytes of memory, of which the lanes use "
        f"{ELEMENT * WARP // len(rows)}."
    )
    height = TOP + SIZES[name][0] * SIZE + 6
    return Picture(svg(WIDTH, height, body, alt, widest=1.5 * WIDTH), alt)


def _grid(rows: int, columns: int) -> str:
    """Return the SVG of an empty matrix with the numbers of its rows and columns."""
    body = matrix((LEFT, TOP), rows, columns, SIZE, "")
    for column in range(columns):
        body += text(LEFT + (column + 0.5) * SIZE, TOP - 5, column, 11, "middle")
    for row in range(rows):
        body += text(LEFT - 4, TOP + row * SIZE + 13, row, 11, "end")
    return body
