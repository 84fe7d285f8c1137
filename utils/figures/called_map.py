"""Calls of a product beside the library's, over sizes of the result and of k: a map of ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import geometric_mean

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from utils.figures.look import COLOURS, INK, new_figure, style, with_alt
from utils.measuring.as_called import Row

# Where classes of m·n and of k begin, and where the last one ends.
RESULTS = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
DEPTHS = (32, 100, 316, 1000, 3162, 9500)
FULL = 1.6  # a ratio of which the colour is as strong as it gets, and its reciprocal
HEIGHT = 2.6  # inches
OURS, THEIRS = COLOURS[:2]


def called_map(rows: Sequence[Row], title: str, where: str) -> Figure:
    """A cell for each class of sizes: the geometric mean of its ratios, and how many there are.

    rows: of products. where: which device they were recorded on.
    """
    with style():
        figure = new_figure(title, where, HEIGHT)
        axes = figure.add_subplot()
        told = [_cell(axes, *cell) for cell in _cells(rows)]
        columns, lines = len(DEPTHS) - 1, len(RESULTS) - 1
        axes.set(xlim=(0, columns), ylim=(lines, 0), xlabel="k", ylabel="m·n")
        axes.set_xticks(range(columns + 1), [f"{depth:,}" for depth in DEPTHS])
        axes.set_yticks(range(lines + 1), [_power(size) for size in RESULTS])
    return with_alt(figure, f"{title}. The library's time over ours: {'; '.join(told)}. {where}.")


def _cells(rows: Sequence[Row]) -> Iterator[tuple[int, int, list[float]]]:
    """(column, line, ratios) of each class that has any."""
    for line, (low, high) in enumerate(pairwise(RESULTS)):
        for column, (first, last) in enumerate(pairwise(DEPTHS)):
            own = [
                row.ratio for row in rows if low <= row.m * row.n < high and first <= row.k < last
            ]
            if own:
                yield column, line, own


def _cell(axes: Axes, column: int, line: int, ratios: list[float]) -> str:
    """Draw one cell, and say it in words."""
    mean = geometric_mean(ratios)
    strength = min(1, abs(math.log(mean)) / math.log(FULL))
    colour = OURS if mean >= 1 else THEIRS
    axes.add_patch(Rectangle((column, line), 1, 1, color=colour, alpha=0.06 + 0.4 * strength, lw=0))
    axes.text(column + 0.5, line + 0.42, f"{mean:.2f}", ha="center", va="center", weight="bold",
              color=INK)  # fmt: skip
    axes.text(column + 0.5, line + 0.78, f"of {len(ratios)}", ha="center", va="center", size=8,
              color=INK)  # fmt: skip
    low, first = _power(RESULTS[line]), DEPTHS[column]
    return f"m·n from {low}, k from {first}: {mean:.2f} of {len(ratios)}"


def _power(size: float) -> str:
    return "10" + "⁰¹²³⁴⁵⁶⁷⁸⁹"[round(math.log10(size))]
