"""SVG of a small matrix as a grid of squares, some of which can be filled."""

from __future__ import annotations

from virtual_gpu.pictures.svg import path, rect, text


def matrix(at: tuple[float, float], rows: int, columns: int, size: float, name: str) -> str:
    """Return the SVG of an empty grid of squares, with the matrix's name above it.

    at: (x, y) of its upper left corner. size: the length of a square's edge. name: such as "a
    global memory", whose first word is bold. Lengths are in pixels.
    """
    x, y = at
    across, down = columns * size, rows * size
    lines = "".join(f"M{x} {y + row * size}h{across}" for row in range(1, rows))
    lines += "".join(f"M{x + column * size} {y}v{down}" for column in range(1, columns))
    letter, _, rest = name.partition(" ")
    return (
        rect(x, y, across, down, "none", stroke="currentColor", opacity=0.7)
        + path(lines, stroke_width=0.5, opacity=0.35)
        + text(x, y - 6, letter, 14, font_weight="bold")
        + text(x + 16, y - 6, rest)
    )


def squares(at: tuple[float, float], size: float, cells, colour: str) -> str:
    """Return the SVG of filled squares in a grid that `matrix` drew at the same `at` and `size`.

    at: (x, y) of the grid's upper left corner. size: the length of a square's edge. cells: the
    (row, column) of each filled square, from 0.
    """
    x, y = at
    return "".join(
        rect(x + column * size + 0.5, y + row * size + 0.5, size - 1, size - 1, colour)
        for row, column in cells
    )
