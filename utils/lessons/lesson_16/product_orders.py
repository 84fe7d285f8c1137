"""Pictures of the order of the multiply-adds in an outer product, as paths over its sums."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from virtual_gpu.pictures.svg import BLUE, GREEN, Picture, path, svg, text

SIDE, CELL, GAP = 8, 14, 24
Cells = Sequence[tuple[int, int]]


def row_by_row(n: int) -> Cells:
    """Return the (row, column) of n×n sums, row by row, each row from left to right."""
    return [(i, j) for i in range(n) for j in range(n)]


def back_and_forth(n: int) -> Cells:
    """Return the (row, column) of n×n sums, row by row, every second row from right to left."""
    return [(i, j if i % 2 == 0 else n - 1 - j) for i in range(n) for j in range(n)]


def spiral(n: int, first: int = 0) -> Cells:
    """Return the (row, column) of n×n sums, clockwise from the corner (0, 0) to the middle.

    `first` leaves out this number of rings at the edge.
    """
    last = n - 1 - first
    if first > last:
        return []
    if first == last:
        return [(first, first)]
    top = [(first, j) for j in range(first, last + 1)]
    right = [(i, last) for i in range(first + 1, last + 1)]
    bottom = [(last, j) for j in range(last - 1, first - 1, -1)]
    left = [(i, first) for i in range(last - 1, first, -1)]
    return [*top, *right, *bottom, *left, *spiral(n, first + 1)]


ORDERS = {"row by row": row_by_row, "back and forth": back_and_forth, "in a spiral": spiral}


def shared(cells: Cells) -> int:
    """Count the steps from one cell to the next that stay in the same row or column.

    In such a step one operand of the multiply-add is the same as before.
    """
    pairs = itertools.pairwise(cells)
    return sum(one[0] == two[0] or one[1] == two[1] for one, two in pairs)


def draw_orders() -> Picture:
    """Draw the three orders of `ORDERS` as paths over 8×8 sums; a dot marks each path's start."""
    width = SIDE * CELL
    body, descriptions = "", []
    for index, (name, order) in enumerate(ORDERS.items()):
        x, cells = index * (width + GAP) + 8, order(SIDE)
        body += text(x, 14, name, 13, font_weight="bold")
        for at in range(SIDE + 1):
            body += path(f"M{x} {24 + at * CELL}h{width}", opacity=0.25)
            body += path(f"M{x + at * CELL} 24v{width}", opacity=0.25)
        corners = [(x + (j + 0.5) * CELL, 24 + (i + 0.5) * CELL) for i, j in cells]
        line = "L".join(f"{across:g} {down:g}" for across, down in corners)
        body += path(f"M{line}", stroke=BLUE, stroke_width=2)
        body += f'<circle cx="{corners[0][0]:g}" cy="{corners[0][1]:g}" r="4" fill="{GREEN}"/>'
        jumps = len(cells) - 1 - shared(cells)
        descriptions.append(f"{name}: {jumps} steps change both row and column")
    body += text(8, width + 44, "Each cell is one of 8×8 sums; in a row a stays, in a column b.")
    alt = f"Three orders of 64 multiply-adds. {'; '.join(descriptions)}."
    return Picture(svg(416, width + 52, body, alt, widest=520), alt)
