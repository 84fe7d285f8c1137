"""Charts of times: estimated beside recorded times, growing times, and speedups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    path,
    rect,
    svg,
    text,
)

TICKS = [digit * 10**power for power in range(-3, 5) for digit in (1, 2, 5)]


def draw_estimates(times: Mapping[str, tuple[float, float | None]], title: str) -> Picture:
    """Draw a row per name, with a ring at the estimated and a dot at the recorded time.

    times: name -> (estimated, recorded) in ms, each above 0; recorded is None if there is no
    record. The axis is logarithmic, and the recorded time is also printed at the right of its row.
    """
    left, right, top, pitch, end = 104, 340, 46, 25, 408
    bottom = top + pitch * len(times)
    low, high = (
        extreme(value for pair in times.values() for value in pair if value) * margin
        for extreme, margin in ((min, 0.85), (max, 1.15))
    )

    def x(ms: float) -> float:
        return left + (right - left) * math.log(ms / low) / math.log(high / low)

    body = text(4, 15, title, 13, font_weight="bold") + _dot(10, 30, ORANGE, ring=True)
    body += text(20, 34, "estimate") + _dot(100, 30, BLUE) + text(110, 34, "recorded")
    body += text(end, 34, "recorded, ms", 12, "end")
    for tick in (tick for tick in TICKS if low < tick < high):
        body += path(f"M{x(tick):.1f} {top}V{bottom}", opacity=0.2)
        body += text(round(x(tick)), bottom + 15, f"{tick:g}", 12, "middle")
    body += text(right + 6, bottom + 15, "ms, log")
    for row, (name, (estimate, recorded)) in enumerate(times.items()):
        y = top + pitch * (row + 0.5)
        body += text(left - 8, y + 4, name, 12, "end")
        if recorded:
            body += path(f"M{x(estimate):.1f} {y}H{x(recorded):.1f}", stroke=GREY, stroke_width=2)
        body += _dot(x(estimate), y, ORANGE, ring=True)
        if recorded:
            body += _dot(x(recorded), y, BLUE)
        body += text(end, y + 4, _ms(recorded) if recorded else "–", 12, "end")
    words = [
        f"{name}: estimate {estimate:.3g}, "
        + (f"recorded {_ms(recorded)}" if recorded else "not recorded")
        for name, (estimate, recorded) in times.items()
    ]
    alt = f"{title}, in ms. {'; '.join(words)}."
    return Picture(svg(412, bottom + 24, body, alt, widest=520), alt)


def _ms(recorded: float) -> str:
    """Return a time in ms with three digits, so "36.0" and not "36", or with more from 1000 on."""
    return f"{recorded:#.3g}".rstrip(".") if recorded < 1000 else f"{recorded:.0f}"


def draw_growth(
    title: str, at: Sequence[int], times: Mapping[str, Sequence[float]], note: str = ""
) -> Picture:
    """Draw a curve per series of times, each divided by its first time, on a logarithmic y-axis.

    title: words below the x-axis that say what the numbers in `at` are. times: name -> a time for
    each number in `at`, in any unit; at most four series. note: a sentence below the picture, as
    HTML; "" for none.
    """
    left, right, top, bottom = 38, 340, 44 + 17 * len(times), 260 + 17 * len(times)
    ratios = {name: [ms / series[0] for ms in series] for name, series in times.items()}
    every = [1.0, *(ratio for series in ratios.values() for ratio in series)]
    low, high = math.floor(math.log2(min(every))), math.ceil(math.log2(max(every)))

    def x(index: int) -> float:
        return left + 10 + (right - left - 20) * index / (len(at) - 1)

    def y(ratio: float) -> float:
        return bottom - (bottom - top) * (math.log2(ratio) - low) / max(high - low, 1)

    body = text(4, 15, "Time, relative to the first", 13, font_weight="bold")
    for power in range(low, high + 1):
        body += path(f"M{left} {y(2**power):.1f}H{right}", opacity=0.15 if power else 0.6)
        body += text(left - 8, round(y(2**power) + 4, 1), f"{2**power:g}", 12, "end")
    for index, number in enumerate(at):
        body += text(x(index), bottom + 17, number, 12, "middle")
    body += text((left + right) / 2, bottom + 35, title, 12, "middle")
    ends = _spread([y(series[-1]) for series in ratios.values()], 17)
    for curve, (name, series) in enumerate(ratios.items()):
        colour = (ORANGE, PURPLE, GREEN, BLUE)[curve]
        points = [(x(index), y(ratio)) for index, ratio in enumerate(series)]
        corners = "L".join(f"{across:.1f} {down:.1f}" for across, down in points)
        body += path(f"M{corners}", stroke=colour, stroke_width=2.5)
        body += "".join(_dot(across, down, colour) for across, down in points)
        end = {"style": f"fill:{colour}", "font_weight": "bold"}
        body += text(right + 6, round(ends[curve] + 4, 1), f"×{series[-1]:.3g}", 12, **end)
        body += rect(6, 26 + 17 * curve, 18, 3, colour) + text(30, 32 + 17 * curve, name)
    words = [
        f"{name}: {', '.join(f'{ratio:.2f}' for ratio in series)}"
        for name, series in ratios.items()
    ]
    alt = f"Time for {', '.join(map(str, at))} {title}, relative to the first. {'; '.join(words)}."
    below = f"<p>{note}</p>" if note else ""
    return Picture(svg(404, bottom + 44, body, alt, widest=520) + below, f"{alt} {note}".strip())


def draw_gains(title: str, gains: Mapping[str, float]) -> Picture:
    """Draw the speedup at each size as a dot above or below a line at 1, with its number.

    gains: matrix size -> speedup, each above 0.
    """
    left, right, top, bottom = 24, 404, 48, 170
    low, high = min(1.0, *gains.values()), max(1.0, *gains.values())
    below = bottom + (18 if low == 1 else 36)

    def y(gain: float) -> float:
        return bottom - (bottom - top) * (gain - low) / max(high - low, 1e-9)

    body = text(4, 15, title, 13, font_weight="bold")
    tenths = range(math.ceil(10 * low), math.floor(10 * high) + 1)
    for tick in (1.0, *(tenth / 10 for tenth in tenths if tenth != 10)):
        body += path(f"M{left} {y(tick):.1f}H{right}", opacity=0.6 if tick == 1 else 0.2)
        body += text(left - 6, round(y(tick) + 4, 1), f"{tick:g}", 12, "end")
    pitch = (right - left) / len(gains)
    for column, (size, gain) in enumerate(gains.items()):
        x = round(left + pitch * (column + 0.5), 1)
        body += path(f"M{x} {y(1):.1f}V{y(gain):.1f}", stroke=GREY, stroke_width=2)
        body += _dot(x, y(gain), BLUE)
        offset = -9 if gain >= 1 else 18
        body += text(x, round(y(gain) + offset, 1), f"{gain:.2f}", 12, "middle", font_weight="bold")
        body += text(x, below, size, 12, "middle")
    body += text((left + right) / 2, below + 18, "matrix size n", 12, "middle")
    alt = f"{title}: {'; '.join(f'{gain:.2f} at {size}' for size, gain in gains.items())}."
    return Picture(svg(412, below + 26, body, alt, widest=520), alt)


def _dot(x: float, y: float, colour: str, ring: bool = False) -> str:
    """Return the SVG of a dot or, if `ring`, of a circle, with its centre at (x, y) in pixels."""
    if ring:
        inner = f'r="5.5" fill="none" stroke="{colour}" stroke-width="2"'
    else:
        inner = f'r="4" fill="{colour}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" {inner}/>'


def _spread(heights: Sequence[float], gap: float) -> list[float]:
    """Return heights, in the given order, moved down just enough to be at least `gap` apart.

    Heights are pixels from the top of the picture.
    """
    moved, last = [0.0] * len(heights), -math.inf
    for index in sorted(range(len(heights)), key=heights.__getitem__):
        last = moved[index] = max(heights[index], last + gap)
    return moved
