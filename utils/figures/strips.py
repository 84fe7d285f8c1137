"""Repeated measurements as strips of dots: each time, and their median."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, path, svg, text

LEFT, RIGHT, TOP, PITCH = 118, 324, 34, 30
MOST_TICKS = 5


def draw_strips(title: str, series: Mapping[str, Sequence[float]]) -> Picture:
    """A strip for each name: a dot for each time in ms, and for several a bar at their median.

    Times are above 0. The axis is logarithmic and ends at round numbers; all numbers have one
    unit, that of the largest median.
    """
    every = [ms for times in series.values() for ms in times]
    medians = {name: statistics.median(times) for name, times in series.items()}
    in_one_ms, unit = (1, "ms") if max(medians.values()) >= 1 else (1000, "us")
    ticks = _ticks(min(every), max(every))
    low, high = ticks[0], ticks[-1]
    bottom = TOP + PITCH * len(series)

    def x(ms: float) -> float:
        return LEFT + (RIGHT - LEFT) * math.log(ms / low) / math.log(high / low)

    def told(ms: float) -> str:
        return f"{_figure(ms * in_one_ms)} {unit}"

    body = text(4, 20, title, 13, font_weight="bold")
    for tick in ticks:
        body += path(f"M{x(tick):.1f} {TOP}V{bottom}", opacity=0.2)
        body += text(round(x(tick)), bottom + 15, _figure(tick * in_one_ms), 12, "middle")
    body += text(RIGHT + 34, bottom + 15, unit)
    words = []
    for place, (name, times) in enumerate(series.items()):
        y, median = TOP + PITCH * (place + 0.5), medians[name]
        body += text(LEFT - 10, y + 4, name, 12, "end")
        if len(times) > 1:
            body += _bar(x(median), y)
            words.append(f"{name}: median {told(median)}, {told(min(times))} to {told(max(times))}")
        else:
            words.append(f"{name}: {told(median)}, once")
        body += "".join(_dot(x(ms), y + _aside(at)) for at, ms in enumerate(times))
        body += text(RIGHT + 12, y + 4, told(median), 12, font_weight="bold")
    alt = f"{title}. {'; '.join(words)}."
    return Picture(_key() + svg(412, bottom + 22, body, alt, widest=560), alt)


def _key() -> str:
    body = _dot(8, 14) + text(18, 18, "one repetition")
    body += _bar(128, 14) + text(136, 18, "their median")
    return svg(220, 28, body, "Dots: single repetitions. Bar: their median.", widest=220)


def _ticks(least: float, most: float) -> list[float]:
    """Round numbers, the first below all times and the last above; two to five."""
    powers = range(math.floor(math.log10(least)) - 1, math.ceil(math.log10(most)) + 2)
    numbers = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    first = max(at for at, number in enumerate(numbers) if number <= least)
    last = min(at for at, number in enumerate(numbers) if number > most)
    inside = numbers[first : last + 1]
    if len(inside) <= MOST_TICKS:
        return inside
    # Only powers of ten, and the axis ends at such.
    powers = range(math.floor(math.log10(inside[0])), math.ceil(math.log10(inside[-1])) + 1)
    apart = -(-(len(powers) - 1) // (MOST_TICKS - 1))
    return [10.0 ** (powers[0] + apart * at) for at in range(-(-(len(powers) - 1) // apart) + 1)]


def _figure(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _aside(number: int) -> float:
    """Neighbouring repetitions stand a little above and below each other."""
    return 6 * ((number * 5) % 7 / 3 - 1)


def _bar(x: float, y: float) -> str:
    """Behind the dots, and longer than their strip is high."""
    return path(f"M{x:.1f} {y - 14}v28", stroke=ORANGE, stroke_width=3)


def _dot(x: float, y: float) -> str:
    look = f'fill="{BLUE}" fill-opacity="0.8" stroke="currentColor" stroke-width="0.5"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" {look}/>'
