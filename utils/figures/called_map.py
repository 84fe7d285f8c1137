"""Calls of a product beside the library's, over sizes of the result and of k: a map of ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import geometric_mean

from utils.virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, rect, svg, text

LEFT, TOP, ACROSS, DOWN = 92, 78, 62, 38
# Where classes of m·n and of k begin, and where the last one ends.
RESULTS = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
DEPTHS = (32, 100, 316, 1000, 3162, 9500)
FULL = 1.6  # a ratio of which the colour is as strong as it gets, and its reciprocal


def draw_called_map(title: str, points: Sequence[tuple[int, int, float]]) -> Picture:
    """A cell for each class of sizes: the geometric mean of its ratios, and how many there are.

    points: elements of the result, k, and the library's time over ours.
    """
    columns = len(DEPTHS) - 1
    body = text(4, 16, title, 13, font_weight="bold")
    body += text(4, 34, "the library's time over ours: blue where ours is faster", 12)
    body += text(4, TOP - 8, "m·n", 12) + text(LEFT + ACROSS * columns / 2, TOP - 26, "k", 12)
    told = []
    for place, first in enumerate(DEPTHS[:-1]):
        body += text(LEFT + ACROSS * (place + 0.5), TOP - 8, f"from {first}", 11, "middle")
    for down, (low, high) in enumerate(pairwise(RESULTS)):
        y = TOP + DOWN * down
        name = f"10{_raised(low)}–10{_raised(high)}"
        body += text(LEFT - 8, y + DOWN * 0.6, name, 12, "end")
        for place, (first, last) in enumerate(pairwise(DEPTHS)):
            own = [r for mn, k, r in points if low <= mn < high and first <= k < last]
            if own:
                mean = geometric_mean(own)
                body += _cell(LEFT + ACROSS * place, y, mean, len(own))
                told.append(f"{name}, {first} to {last}: {mean:.2f} of {len(own)}")
    alt = f"{title}. The library's time over ours, by m·n and k: {'; '.join(told)}."
    height = TOP + DOWN * (len(RESULTS) - 1) + 6
    return Picture(svg(LEFT + ACROSS * columns + 6, height, body, alt, widest=560), alt)


def _cell(x: float, y: float, mean: float, count: int) -> str:
    strength = min(1, abs(math.log(mean)) / math.log(FULL))
    colour = BLUE if mean >= 1 else ORANGE
    shade = f"{0.08 + 0.5 * strength:.2f}"
    body = rect(x + 1, y + 1, ACROSS - 2, DOWN - 2, colour, fill_opacity=shade)
    body += text(x + ACROSS / 2, y + 17, f"{mean:.2f}", 13, "middle", font_weight="bold")
    return body + text(x + ACROSS / 2, y + 31, f"of {count}", 11, "middle")


def _raised(value: float) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(round(math.log10(value))))
