"""SVG of a small matrix as a grid of squares, some of which a picture colours."""

from __future__ import annotations

from virtual_gpu.pictures.svg import path, rect, text


def matrix(at: tuple[float, float], rows: int, columns: int, size: float, name: str) -> str:
    """Return the SVG of an empty grid of squares, with the matrix's name above it.

    at: (x, y) of its upper left corner. size: the side of one square. name: its first word is bold.
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
    """Return the SVG of filled squares in a matrix. cells: (row, column) of each, from 0.

    at, size: the same as for `matrix`.
    """
    x, y = at
    return "".join(
        rect(x + column * size + 0.5, y + row * size + 0.5, size - 1, size - 1, colour)
        for row, column in cells
    )
