"""Times beside each other: what a count asks for and what was recorded, and how times grow."""

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


def draw_estimates(times: Mapping[str, tuple[float, float]], title: str) -> Picture:
    """A row for each name: a ring where the estimate is, a dot where the record is, in ms.

    times: estimated and recorded, each above 0; the recorded one stands at the end of the row too.
    The axis is logarithmic.
    """
    left, right, top, pitch, end = 104, 340, 46, 25, 408
    bottom = top + pitch * len(times)
    low, high = (
        side(value for pair in times.values() for value in pair) * room
        for side, room in ((min, 0.85), (max, 1.15))
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
    for place, (name, (estimate, recorded)) in enumerate(times.items()):
        y = top + pitch * (place + 0.5)
        body += text(left - 8, y + 4, name, 12, "end")
        body += path(f"M{x(estimate):.1f} {y}H{x(recorded):.1f}", stroke=GREY, stroke_width=2)
        body += _dot(x(estimate), y, ORANGE, ring=True) + _dot(x(recorded), y, BLUE)
        body += text(end, y + 4, f"{recorded:.3g}", 12, "end")
    told = [f"{name}: estimate {one:.3g}, recorded {two:.3g}" for name, (one, two) in times.items()]
    alt = f"{title}, in ms. {'; '.join(told)}."
    return Picture(svg(412, bottom + 24, body, alt, widest=520), alt)


def draw_growth(
    title: str, at: Sequence[int], times: Mapping[str, Sequence[float]], note: str = ""
) -> Picture:
    """Each series of times over its first one, as a curve of its own; at most four.

    title: what the numbers `at` are. note: a sentence below. The axis is logarithmic.
    """
    left, right, top, bottom = 38, 340, 44 + 17 * len(times), 260 + 17 * len(times)
    ratios = {name: [ms / series[0] for ms in series] for name, series in times.items()}
    every = [1.0, *(ratio for series in ratios.values() for ratio in series)]
    low, high = math.floor(math.log2(min(every))), math.ceil(math.log2(max(every)))

    def x(place: int) -> float:
        return left + 10 + (right - left - 20) * place / (len(at) - 1)

    def y(ratio: float) -> float:
        return bottom - (bottom - top) * (math.log2(ratio) - low) / max(high - low, 1)

    body = text(4, 15, "Time, relative to the first", 13, font_weight="bold")
    for power in range(low, high + 1):
        body += path(f"M{left} {y(2**power):.1f}H{right}", opacity=0.15 if power else 0.6)
        body += text(left - 8, round(y(2**power) + 4, 1), f"{2**power:g}", 12, "end")
    for place, number in enumerate(at):
        body += text(x(place), bottom + 17, number, 12, "middle")
    body += text((left + right) / 2, bottom + 35, title, 12, "middle")
    ends = _apart([y(series[-1]) for series in ratios.values()], 17)
    for place, (name, series) in enumerate(ratios.items()):
        colour = (ORANGE, PURPLE, GREEN, BLUE)[place]
        points = [(x(number), y(ratio)) for number, ratio in enumerate(series)]
        corners = "L".join(f"{across:.1f} {down:.1f}" for across, down in points)
        body += path(f"M{corners}", stroke=colour, stroke_width=2.5)
        body += "".join(_dot(across, down, colour) for across, down in points)
        end = {"style": f"fill:{colour}", "font_weight": "bold"}
        body += text(right + 6, round(ends[place] + 4, 1), f"×{series[-1]:.3g}", 12, **end)
        body += rect(6, 26 + 17 * place, 18, 3, colour) + text(30, 32 + 17 * place, name)
    told = [
        f"{name}: {', '.join(f'{ratio:.2f}' for ratio in series)}"
        for name, series in ratios.items()
    ]
    alt = f"Time for {', '.join(map(str, at))} {title}, relative to the first. {'; '.join(told)}."
    below = f"<p>{note}</p>" if note else ""
    return Picture(svg(404, bottom + 44, body, alt, widest=520) + below, f"{alt} {note}".strip())


def draw_gains(title: str, gains: Mapping[str, float]) -> Picture:
    """How many times faster at each size, as a dot above or below 1, with its number.

    gains: by matrix size, each above 0.
    """
    left, right, top, bottom = 24, 404, 48, 170
    low, high = min(1.0, *gains.values()), max(1.0, *gains.values())
    below = bottom + (18 if low == 1 else 36)

    def y(gain: float) -> float:
        return bottom - (bottom - top) * (gain - low) / max(high - low, 1e-9)

    body = text(4, 15, title, 13, font_weight="bold")
    body += path(f"M{left} {y(1):.1f}H{right}", opacity=0.6)
    body += text(left - 8, round(y(1) + 4, 1), "1", 12, "end")
    pitch = (right - left) / len(gains)
    for place, (size, gain) in enumerate(gains.items()):
        x = round(left + pitch * (place + 0.5), 1)
        body += path(f"M{x} {y(1):.1f}V{y(gain):.1f}", stroke=GREY, stroke_width=2)
        body += _dot(x, y(gain), BLUE)
        aside = -9 if gain >= 1 else 18
        body += text(x, round(y(gain) + aside, 1), f"{gain:.2f}", 12, "middle", font_weight="bold")
        body += text(x, below, size, 12, "middle")
    body += text((left + right) / 2, below + 18, "matrix size n", 12, "middle")
    told = "; ".join(f"{gain:.2f} at {size}" for size, gain in gains.items())
    return Picture(svg(412, below + 26, body, f"{title}: {told}.", widest=520), f"{title}: {told}.")


def _dot(x: float, y: float, colour: str, ring: bool = False) -> str:
    if ring:
        inner = f'r="5.5" fill="none" stroke="{colour}" stroke-width="2"'
    else:
        inner = f'r="4" fill="{colour}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" {inner}/>'


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """The heights moved down as far as two of them would be nearer than the gap."""
    moved, last = [0.0] * len(heights), -math.inf
    for place in sorted(range(len(heights)), key=heights.__getitem__):
        last = moved[place] = max(heights[place], last + gap)
    return moved
