"""A picture of one load of a fragment of a: the elements of all 32 lanes, and their cache lines."""

from __future__ import annotations

from utils.figures.matrices import matrix, squares
from utils.figures.roles import MATRIX_A
from utils.machine.occupancy import WARP
from virtual_gpu.numbers.fragments import ROWS, element_of_a
from virtual_gpu.pictures.svg import GREY, Picture, path, rect, svg, text

K, LINE, ELEMENT = 8, 128, 2  # steps of k of one mma; bytes of a cache line and of an element
SIZE, LEFT, TOP = 18, 22, 58
BYTE = 1.75  # the width of a byte in pixels
LINES = LEFT + K * SIZE + 26  # the left end of the cache lines
WIDTH, HEIGHT = LINES + LINE * BYTE + 4, TOP + ROWS * SIZE + 6


def draw_load(number: int = 0) -> Picture:
    """Draw which elements of a all lanes load at once, and the cache line of each of their rows.

    number: the position of the elements in the lanes' fragments, 0 to 3.
    """
    cells = [element_of_a(lane, number) for lane in range(WARP)]
    rows = sorted({row for row, _ in cells})
    body = text(4, 16, f"one load of a warp: the squares {number} of a", 14, font_weight="bold")
    body += text(LEFT, TOP - 22, "lane in its square") + text(LINES, TOP - 22, "in memory: a row's")
    body += text(LINES, TOP - 7, f"{LINE} bytes, {LINE // ELEMENT} elements")
    for column in range(K):
        body += text(LEFT + (column + 0.5) * SIZE, TOP - 5, column, 11, "middle")
    for row in range(ROWS):
        body += text(LEFT - 4, TOP + row * SIZE + 13, row, 11, "end")
    body += matrix((LEFT, TOP), ROWS, K, SIZE, "") + squares((LEFT, TOP), SIZE, cells, MATRIX_A)
    for lane, (row, column) in enumerate(cells):
        x, y = LEFT + (column + 0.5) * SIZE, TOP + row * SIZE + 13
        body += text(x, y, lane, 11, "middle", style="fill:#fff")
    for row in rows:
        y = TOP + row * SIZE + 3
        body += path(f"M{LEFT + K * SIZE + 4} {y + 6}H{LINES - 4}", opacity=0.5)
        body += rect(LINES, y, LINE * BYTE, 12, GREY, fill_opacity=0.3)
    for row, column in cells:
        x = LINES + column * ELEMENT * BYTE
        body += rect(x, TOP + row * SIZE + 3, ELEMENT * BYTE, 12, MATRIX_A)
    alt = (
        f"Load {number} of a: {WARP} lanes load one element each, from {len(rows)} rows of a. "
        f"Each row is {LINE} bytes of memory, of which the lanes use "
        f"{ELEMENT * WARP // len(rows)}."
    )
    return Picture(svg(WIDTH, HEIGHT, body, alt, widest=1.2 * WIDTH), alt)
