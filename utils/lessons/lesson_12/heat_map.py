"""A heat map of times: the larger a cell's value, the darker the cell."""

from __future__ import annotations

from collections.abc import Mapping

from virtual_gpu.pictures.svg import BLUE, Picture, path, rect, svg, text

LEFT, TOP, ACROSS, DOWN = 62, 66, 86, 40


def draw_heat_map(
    title: str, axes: tuple[str, str], cells: Mapping[tuple[str, str], float], unit: str
) -> Picture:
    """Draw a grid of numbers with darker cells for larger numbers, and frame the smallest one.

    Parameters
    ----------
    title : str
        The heading of the picture.
    axes : tuple of str
        The heading of the rows, and the heading of the columns.
    cells : mapping of (str, str) to float
        Values by (name of the row, name of the column), in the order of display. At most 4
        columns fit. The values must not all be equal.
    unit : str
        The unit of the values.
    """
    rows, columns = (list(dict.fromkeys(name[at] for name in cells)) for at in (0, 1))
    least, most = min(cells.values()), max(cells.values())
    body = text(4, 16, title, 13, font_weight="bold")
    body += text(4, TOP - 8, axes[0], 12) + text(LEFT + ACROSS * 2, TOP - 26, axes[1], 12, "middle")
    for index, name in enumerate(columns):
        body += text(LEFT + ACROSS * (index + 0.5), TOP - 8, name, 12, "middle", font_weight="bold")
    for index, name in enumerate(rows):
        body += text(LEFT - 8, TOP + DOWN * (index + 0.6), name, 12, "end", font_weight="bold")
    for (row, column), value in cells.items():
        x, y = LEFT + ACROSS * columns.index(column), TOP + DOWN * rows.index(row)
        shade = 0.08 + 0.5 * (value - least) / (most - least)
        body += rect(x + 1, y + 1, ACROSS - 2, DOWN - 2, BLUE, fill_opacity=f"{shade:.2f}")
        best = {"font_weight": "bold"} if value == least else {}
        body += text(x + ACROSS / 2, y + DOWN * 0.6, f"{value:.2f} {unit}", 13, "middle", **best)
        if value == least:
            corners = f"M{x + 2} {y + 2}h{ACROSS - 4}v{DOWN - 4}h{4 - ACROSS}z"
            body += path(corners, stroke_width=2.5)
    values = "; ".join(
        f"{row}, {column}: {value:.2f} {unit}" for (row, column), value in cells.items()
    )
    alt = f"{title}. {axes[0]}, {axes[1]}: {values}."
    height = TOP + DOWN * len(rows) + 6
    return Picture(svg(LEFT + ACROSS * len(columns) + 6, height, body, alt, widest=560), alt)
