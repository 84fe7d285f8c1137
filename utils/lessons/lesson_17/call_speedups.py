"""A scatter plot of the speed-up of one function's calls over another's, against operations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, path, svg, text

LEFT, RIGHT, TOP, BOTTOM = 44, 392, 46, 236
LOW, HIGH = 0.5, 2.6  # ends of the axis of ratios
TICKS = (0.5, 0.7, 1, 1.4, 2)


def draw_speedups(title: str, points: Sequence[tuple[float, float]]) -> Picture:
    """Draw a dot per product, and a bar at the geometric mean of each power of ten of operations.

    `points` are pairs of a product's floating-point operations and the library's time over ours.
    """
    powers = range(
        math.floor(math.log10(min(work for work, _ in points))),
        math.ceil(math.log10(max(work for work, _ in points))),
    )

    def x(power: float) -> float:
        return LEFT + (RIGHT - LEFT) * (power - powers[0]) / len(powers)

    def y(ratio: float) -> float:
        fraction = math.log(ratio / LOW) / math.log(HIGH / LOW)
        return BOTTOM - (BOTTOM - TOP) * min(max(fraction, 0), 1)

    body = text(4, 16, title, 13, font_weight="bold")
    body += text(4, 34, "above 1: ours was faster", 12)
    for tick in TICKS:
        body += path(f"M{LEFT} {y(tick):.1f}H{RIGHT}", opacity=0.8 if tick == 1 else 0.15)
        body += text(LEFT - 8, round(y(tick) + 4, 1), f"{tick:g}", 12, "end")
    for power in (*powers, powers[-1] + 1):
        body += text(x(power), BOTTOM + 17, f"10{_raised(power)}", 12, "middle")
    body += text((LEFT + RIGHT) / 2, BOTTOM + 35, "floating-point operations", 12, "middle")
    for work, ratio in points:
        position = f'cx="{x(math.log10(work)):.1f}" cy="{y(ratio):.1f}"'
        body += f'<circle {position} r="3" fill="{BLUE}" fill-opacity="0.55"/>'
    means = []
    for power in powers:
        ratios = [ratio for work, ratio in points if power <= math.log10(work) < power + 1]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            means.append(f"10^{power} to 10^{power + 1}: {mean:.2f}")
            bar = f"M{x(power) + 3:.1f} {y(mean):.1f}H{x(power + 1) - 3:.1f}"
            body += path(bar, stroke=ORANGE, stroke_width=3.5)
    alt = f"{title}. Geometric mean by operations: {'; '.join(means)}."
    return Picture(svg(412, BOTTOM + 44, body, alt, widest=560), alt)


def _raised(number: int) -> str:
    """Return a whole number of at least 0 as superscript digits, such as "¹⁰"."""
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(number))
