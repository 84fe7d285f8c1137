"""A scatter plot of the speed-up of one function's calls over another's, against operations."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from virtual_gpu.pictures.svg import BLUE, GREEN, ORANGE, Picture, path, svg, text

LEFT, RIGHT, TOP, BOTTOM = 44, 420, 66, 276
COLOURS = (GREEN, ORANGE, BLUE)
FEWEST = 4  # dots of a mean that gets a bar
LOW, HIGH = 0.5, 2.6  # ends of the axis of ratios
TICKS = (0.5, 0.7, 1, 1.4, 2)


def draw_speedups(title: str, groups: Mapping[str, Sequence[tuple[float, float]]]) -> Picture:
    """Draw a dot per product, and bars at the geometric means of each power of ten of operations.

    A bar needs at least four dots. A ratio beyond the axis is drawn at its end.

    groups: name -> pairs of a product's floating-point operations and the library's time over ours.
    There are at most three groups. Each has a colour, with its own bars.
    """
    points = [point for group in groups.values() for point in group]
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
    alts = []
    for number, ((name, group), colour) in enumerate(zip(groups.items(), COLOURS)):
        body += f'<circle cx="{10 + 120 * number}" cy="49" r="4" fill="{colour}"/>'
        body += text(20 + 120 * number, 53, name, 12)
        for work, ratio in group:
            position = f'cx="{x(math.log10(work)):.1f}" cy="{y(ratio):.1f}"'
            body += f'<circle {position} r="2.5" fill="{colour}" fill-opacity="0.7"/>'
        means = _means(group, powers)
        for power, mean in means.items():
            bar = f"M{x(power) + 3:.1f} {y(mean):.1f}H{x(power + 1) - 3:.1f}"
            body += path(bar, stroke=colour, stroke_width=3.5)
        shown = (f"10^{power} to 10^{power + 1}: {mean:.2f}" for power, mean in means.items())
        if not means:
            continue
        alts.append(f"{name}, geometric means by operations: {'; '.join(shown)}.")
    alt = f"{title}. {' '.join(alts)}"
    return Picture(svg(RIGHT + 20, BOTTOM + 44, body, alt, widest=620), alt)


def _means(group: Sequence[tuple[float, float]], powers: Sequence[int]) -> dict[int, float]:
    """Return power -> the geometric mean of the ratios of the products of this size.

    They have from 10^power up to 10^(power + 1) operations. Powers with fewer than four products
    are left out.
    """
    ratios = {power: [] for power in powers}
    for work, ratio in group:
        ratios[math.floor(math.log10(work))].append(ratio)
    enough = {power: some for power, some in ratios.items() if len(some) >= FEWEST}
    return {power: statistics.geometric_mean(some) for power, some in enough.items()}


def _raised(number: int) -> str:
    """Return a whole number of at least 0 as superscript digits, such as "¹⁰"."""
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(number))
