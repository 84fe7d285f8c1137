"""Repeated measurements as strips of dots: each time, and their median."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from utils.figures.times import TICKS
from utils.measuring.durations import duration
from utils.virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, path, svg, text

LEFT, RIGHT, TOP, PITCH = 118, 330, 34, 30
WIDE = 2.6  # at least so many times the left end: 2 and 5 are further apart than others


def draw_strips(title: str, series: Mapping[str, Sequence[float]]) -> Picture:
    """A strip for each name: a dot for each time in ms, a bar and a number for their median.

    Times are above 0; the axis is logarithmic, and wide enough to hold a round number.
    """
    every = [ms for times in series.values() for ms in times]
    low, high = _limits(min(every), max(every))
    bottom = TOP + PITCH * len(series)

    def x(ms: float) -> float:
        return LEFT + (RIGHT - LEFT) * math.log(ms / low) / math.log(high / low)

    body = text(4, 20, title, 13, font_weight="bold")
    for tick in _ticks(low, high):
        body += path(f"M{x(tick):.1f} {TOP}V{bottom}", opacity=0.2)
        body += text(round(x(tick)), bottom + 15, _figure(tick), 12, "middle")
    told = []
    for place, (name, times) in enumerate(series.items()):
        y, median = TOP + PITCH * (place + 0.5), statistics.median(times)
        body += text(LEFT - 10, y + 4, name, 12, "end")
        body += "".join(_dot(x(ms), y + _aside(at)) for at, ms in enumerate(times))
        body += path(f"M{x(median):.1f} {y - 12}v24", stroke=ORANGE, stroke_width=3)
        middle, least, most = (duration(ms / 1000) for ms in (median, min(times), max(times)))
        body += text(RIGHT + 12, y + 4, middle, 12, font_weight="bold")
        told.append(f"{name}: median {middle}, from {least} to {most}")
    alt = f"{title}. {'; '.join(told)}."
    return Picture(_key() + svg(412, bottom + 22, body, alt, widest=560), alt)


def _key() -> str:
    body = _dot(8, 10) + text(18, 14, "one repetition")
    body += path("M128 2v16", stroke=ORANGE, stroke_width=3) + text(136, 14, "their median")
    return svg(220, 20, body, "Dots: single repetitions. Bar: their median.", widest=220)


def _limits(least: float, most: float) -> tuple[float, float]:
    room = max(1.08, math.sqrt(WIDE * least / most))
    return least / room, most * room


def _ticks(low: float, high: float) -> list[float]:
    """At most six round numbers between the limits."""
    inside = [tick for tick in TICKS if low < tick < high]
    tens = [tick for tick in inside if f"{tick:e}".startswith("1.0")]
    if len(inside) <= 6:
        return inside
    return tens[:: -(-len(tens) // 6)]


def _figure(ms: float) -> str:
    return duration(ms / 1000).replace(" ", "\u202f")


def _aside(number: int) -> float:
    """Neighbouring repetitions stand a little above and below each other."""
    return 6 * ((number * 5) % 7 / 3 - 1)


def _dot(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{BLUE}" fill-opacity="0.55"/>'
