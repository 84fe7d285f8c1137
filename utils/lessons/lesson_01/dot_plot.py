"""A dot plot of repeated measurements with their medians."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from utils.division import cdiv
from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, path, svg, text

LEFT, RIGHT, TOP, PITCH = 118, 324, 34, 30
MOST_TICKS = 5


def draw_strips(title: str, series: Mapping[str, Sequence[float]]) -> Picture:
    """Draw one row per series of times: a dot per time, and a bar at the median.

    Parameters
    ----------
    title : str
        The heading of the picture.
    series : mapping of str to sequence of float
        Times in ms by the name of their row. All times must be greater than 0. A series of one time
        has no bar.

    Notes
    -----
    The axis is logarithmic and ends at round numbers. All numbers are written in ms if the largest
    median is at least 1 ms, otherwise in us.
    """
    all_times = [ms for times in series.values() for ms in times]
    medians = {name: statistics.median(times) for name, times in series.items()}
    units_per_ms, unit = (1, "ms") if max(medians.values()) >= 1 else (1000, "us")
    ticks = _ticks(min(all_times), max(all_times))
    low, high = ticks[0], ticks[-1]
    bottom = TOP + PITCH * len(series)

    def x(ms: float) -> float:
        return LEFT + (RIGHT - LEFT) * math.log(ms / low) / math.log(high / low)

    def formatted(ms: float) -> str:
        return f"{_number(ms * units_per_ms)} {unit}"

    body = text(4, 20, title, 13, font_weight="bold")
    for tick in ticks:
        body += path(f"M{x(tick):.1f} {TOP}V{bottom}", opacity=0.2)
        body += text(round(x(tick)), bottom + 15, _number(tick * units_per_ms), 12, "middle")
    body += text(RIGHT + 34, bottom + 15, unit)
    descriptions = []
    for row, (name, times) in enumerate(series.items()):
        y, median = TOP + PITCH * (row + 0.5), medians[name]
        body += text(LEFT - 10, y + 4, name, 12, "end")
        if len(times) > 1:
            body += _bar(x(median), y)
            middle, *ends = map(formatted, (median, min(times), max(times)))
            descriptions.append(f"{name}: median {middle}, {' to '.join(ends)}")
        else:
            descriptions.append(f"{name}: {formatted(median)}, once")
        body += "".join(_dot(x(ms), y + _jitter(at)) for at, ms in enumerate(times))
        body += text(RIGHT + 12, y + 4, formatted(median), 12, font_weight="bold")
    alt = f"{title}. {'; '.join(descriptions)}."
    return Picture(_key() + svg(412, bottom + 22, body, alt, widest=560), alt)


def _key() -> str:
    """Return the SVG of the legend: dots and bars."""
    body = _dot(8, 22) + text(18, 26, "one repetition")
    body += _bar(128, 22) + text(136, 26, "their median")
    return svg(220, 36, body, "Dots: single repetitions. Bar: their median.", widest=220)


def _ticks(least: float, most: float) -> list[float]:
    """Return two to five round numbers in ascending order for the ticks of a logarithmic axis.

    They are 1, 2 or 5 times a power of ten, or powers of ten alone if the range is large. The first
    one is at most `least`, and the highest one is above `most`.
    """
    powers = range(math.floor(math.log10(least)) - 1, math.ceil(math.log10(most)) + 2)
    numbers = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    first = max(at for at, number in enumerate(numbers) if number <= least)
    last = min(at for at, number in enumerate(numbers) if number > most)
    inside = numbers[first : last + 1]
    if len(inside) <= MOST_TICKS:
        return inside
    # Too many: use powers of ten only, also at the ends of the axis.
    powers = range(math.floor(math.log10(inside[0])), math.ceil(math.log10(inside[-1])) + 1)
    stride = cdiv(len(powers) - 1, MOST_TICKS - 1)
    return [10.0 ** (powers[0] + stride * at) for at in range(cdiv(len(powers) - 1, stride) + 1)]


def _number(value: float) -> str:
    """Format a number as text: a whole number from 100 on, and three significant digits below.

    Below 0.01 there are only two, so that the text has room at the end of its row.
    """
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 0.01 else f"{value:.2g}"


def _jitter(number: int) -> float:
    """Return the vertical offset in pixels of dot `number` of a row, from -6 to 6.

    Consecutive dots have different offsets, so that they do not cover each other.
    """
    return 6 * ((number * 5) % 7 / 3 - 1)


def _bar(x: float, y: float) -> str:
    """Return the SVG of the vertical bar that marks a median, centred at (x, y)."""
    return path(f"M{x:.1f} {y - 14}v28", stroke=ORANGE, stroke_width=3)


def _dot(x: float, y: float) -> str:
    """Return the SVG of a dot with its centre at (x, y), in pixels."""
    look = f'fill="{BLUE}" fill-opacity="0.8" stroke="currentColor" stroke-width="0.5"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" {look}/>'
