"""Stacked bars of consecutive durations along a time axis, to scale."""

from __future__ import annotations

import math
from collections.abc import Mapping

from utils.figures.roles import COPY, KERNEL
from virtual_gpu.pictures.svg import (
    GREY,
    PURPLE,
    Picture,
    legend,
    path,
    rect,
    svg,
    text,
)

COLOURS = {
    "kernel": KERNEL,
    "copies and memory": COPY,
    "pages": GREY,
    "kernel that fills": PURPLE,
}
LEFT, RIGHT, TOP, PITCH, THICK = 4, 366, 26, 50, 22


def draw_time_axis(rows: Mapping[str, Mapping[str, float]], title: str) -> Picture:
    """Draw one stacked bar per row, in which each part is as long as its duration in ms.

    Parameters
    ----------
    rows : mapping of str to mapping of str to float
        Durations in ms by the name of the row, then by the name of the part. The parts of a row
        follow one another in time, and their names are keys of `COLOURS`.
    title : str
        The heading of the picture.
    """
    names = dict.fromkeys(part for parts in rows.values() for part in parts)
    longest = max(sum(parts.values()) for parts in rows.values())
    scale = (RIGHT - LEFT) / longest
    bottom = TOP + PITCH * len(rows)
    body = text(LEFT, 14, title, 13, font_weight="bold")
    for tick in ticks(longest):
        x = LEFT + tick * scale
        for top in (TOP + PITCH * row + 17 for row in range(len(rows))):
            body += path(f"M{x:.1f} {top}v{THICK + 6}", opacity=0.35)
        body += text(round(x, 1), bottom + 14, f"{tick:g}", 12, "middle" if tick else "start")
    body += text(RIGHT + 34, bottom + 14, "ms", 12, "end")
    for row, (name, parts) in enumerate(rows.items()):
        x, y = float(LEFT), TOP + PITCH * row + 20
        body += text(x, y - 7, f"{name}: {sum(parts.values()):.2g} ms", 12)
        for part, ms in parts.items():
            body += rect(round(x, 1), y, round(ms * scale, 2), THICK, COLOURS[part])
            x += ms * scale
    description = "; ".join(
        f"{name}: {', '.join(f'{part} {ms:.3g}' for part, ms in parts.items())}"
        for name, parts in rows.items()
    )
    alt = f"{title}, in ms, one after the other. {description}."
    key = legend(**{name.replace(" ", "_"): COLOURS[name] for name in names})
    return Picture(key + svg(RIGHT + 38, bottom + 20, body, alt, widest=560), alt)


def ticks(longest: float) -> list[float]:
    """Return at most six evenly spaced ticks for an axis from 0 to `longest`, in ascending order.

    They are the multiples of a round number, beginning with 0.
    """
    step = 10 ** math.floor(math.log10(longest))
    step = next(step * factor for factor in (0.2, 0.5, 1, 2) if longest / (step * factor) < 6)
    return [at * step for at in range(int(longest / step) + 1)]
