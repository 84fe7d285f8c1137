"""A map of the ratio library's time ÷ our time for matrix products, by the sizes m·n and k."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import geometric_mean

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from utils.figures.look import COLOURS, INK, new_figure, style, with_alt
from utils.measuring.as_called import CallRow

# The lower bounds of the classes of m·n and of k, and the upper bound of the last class.
RESULTS = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
DEPTHS = (32, 100, 316, 1000, 3162, 9500)
FULL = 1.6  # the ratio, or its reciprocal, at which the colour is strongest
HEIGHT = 2.6  # inches
OURS, THEIRS = COLOURS[:2]


def ratio_map(rows: Sequence[CallRow], title: str, where: str) -> Figure:
    """Draw a grid over k and m·n whose cells show the mean of the library's time over ours.

    Each cell is a class of sizes, with the geometric mean of `CallRow.ratio` and the number of
    calls in it. Its colour says whose time is less, and is stronger the more the times differ.
    Calls outside the classes are left out. rows: measured calls of a product. where: the line below
    the title, which names the device.
    """
    with style():
        figure = new_figure(title, where, HEIGHT)
        axes = figure.add_subplot()
        sentences = [_cell(axes, *cell) for cell in _cells(rows)]
        columns, lines = len(DEPTHS) - 1, len(RESULTS) - 1
        axes.set(xlim=(0, columns), ylim=(lines, 0), xlabel="k", ylabel="m·n")
        axes.set_xticks(range(columns + 1), [f"{depth:,}" for depth in DEPTHS])
        axes.set_yticks(range(lines + 1), [_power(size) for size in RESULTS])
    alt = f"{title}. The library's time over ours: {'; '.join(sentences)}. {where}."
    return with_alt(figure, alt)


def _cells(rows: Sequence[CallRow]) -> Iterator[tuple[int, int, list[float]]]:
    """Yield (column, line, ratios) for each class of sizes that has calls.

    column: the index of the class of k. line: the index of the class of m·n; 0 is the smallest.
    """
    for line, (low, high) in enumerate(pairwise(RESULTS)):
        for column, (first, last) in enumerate(pairwise(DEPTHS)):
            ratios = [
                row.ratio for row in rows if low <= row.m * row.n < high and first <= row.k < last
            ]
            if ratios:
                yield column, line, ratios


def _cell(axes: Axes, column: int, line: int, ratios: list[float]) -> str:
    """Draw the geometric mean and the number of ratios in a cell; return words on it as alt text.

    They are such as "m·n from 10⁴, k from 100: 1.12 of 30". column: the index of the class of k.
    line: the index of the class of m·n. ratios: the library's time over ours per call.
    """
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
    """Return the power of ten that is nearest to a size as text, such as "10⁴".

    Raises IndexError for a power above 10⁹.
    """
    return "10" + "⁰¹²³⁴⁵⁶⁷⁸⁹"[round(math.log10(size))]
