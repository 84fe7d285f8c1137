"""A picture of the library's time over that of kernels, per size of an n×n×n product."""

from __future__ import annotations

import math
from collections.abc import Mapping

from virtual_gpu.pictures.svg import BLUE, GREEN, ORANGE, Picture, path, svg, text

LEFT, RIGHT, TOP, BOTTOM = 44, 420, 62, 262
COLOURS = (ORANGE, GREEN, BLUE)
HIGH = 1.2  # the end of the axis of ratios, which begins at 0
TICKS = (0, 0.25, 0.5, 0.75, 1)


def draw_ratios(title: str, series: Mapping[str, Mapping[int, float]]) -> Picture:
    """Draw a curve per kernel of its ratios against n, with those of the last kernel as numbers.

    series: name of a kernel -> n -> the library's time over the kernel's. There are at most three
    kernels, and ratios up to 1.2 fit.
    """
    sizes = sorted({n for ratios in series.values() for n in ratios})
    first, last = math.log2(sizes[0]), math.log2(sizes[-1])

    def x(n: int) -> float:
        return LEFT + 20 + (RIGHT - LEFT - 40) * (math.log2(n) - first) / (last - first)

    def y(ratio: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * ratio / HIGH

    body = text(4, 16, title, 13, font_weight="bold")
    for tick in TICKS:
        body += path(f"M{LEFT} {y(tick):.1f}H{RIGHT}", opacity=0.8 if tick == 1 else 0.15)
        body += text(LEFT - 8, round(y(tick) + 4, 1), f"{tick:g}", 12, "end")
    for n in sizes:
        body += text(x(n), BOTTOM + 17, f"{n}", 12, "middle")
    body += text((LEFT + RIGHT) / 2, BOTTOM + 35, "n of an n×n×n product", 12, "middle")
    for number, ((name, ratios), colour) in enumerate(zip(series.items(), COLOURS)):
        body += f'<circle cx="{10 + 145 * number}" cy="36" r="4" fill="{colour}"/>'
        body += text(20 + 145 * number, 40, name, 12)
        places = [f"{x(n):.1f} {y(ratio):.1f}" for n, ratio in sorted(ratios.items())]
        body += path(f"M{'L'.join(places)}", stroke=colour, stroke_width=2)
        for place in places:
            cx, cy = place.split()
            body += f'<circle cx="{cx}" cy="{cy}" r="3.5" fill="{colour}"/>'
    for n, ratio in ratios.items():
        body += text(x(n), round(y(ratio) - 9, 1), f"{ratio:.2f}", 12, "middle")
    shown = (
        f"{name}: {', '.join(f'{ratio:.2f} at {n}' for n, ratio in sorted(ratios.items()))}."
        for name, ratios in series.items()
    )
    alt = f"{title}. {' '.join(shown)}"
    return Picture(svg(RIGHT + 8, BOTTOM + 44, body, alt, widest=620), alt)
