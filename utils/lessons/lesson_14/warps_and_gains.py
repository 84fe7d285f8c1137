"""A bar chart of speed-ups, with the change in resident warps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from virtual_gpu.pictures.svg import GREEN, ORANGE, Picture, legend, path, rect, svg, text

LEFT, RIGHT, TOP, PITCH, THICK = 92, 300, 28, 24, 15
STEP = 0.05  # between ticks of the axis


@dataclass(frozen=True)
class Gain:
    """The speed-up of one variant.

    `faster` is its time before over its time after; `before` and `after` are resident warps per SM.
    """

    name: str
    faster: float
    before: int
    after: int


def draw_gains_and_warps(title: str, gains: Sequence[Gain]) -> Picture:
    """Draw one bar per gain, starting at 1, with the largest gain first."""
    rows = sorted(gains, key=lambda gain: -gain.faster)
    low = min(1 - STEP, *(gain.faster - STEP / 2 for gain in rows))
    high = max(1 + STEP, *(gain.faster + STEP / 2 for gain in rows))

    def x(faster: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (faster - low) / (high - low), 1)

    bottom = TOP + PITCH * len(rows)
    body = text(0, 15, title, 13, font_weight="bold")
    for tick in _ticks(low, high):
        body += path(f"M{x(tick)} {TOP}V{bottom}", opacity=0.7 if tick == 1 else 0.2)
        body += text(x(tick), bottom + 15, f"{tick:g}", 12, "middle")
    for index, gain in enumerate(rows):
        y = TOP + PITCH * index + 4
        begin, end = sorted((x(1), x(gain.faster)))
        body += text(LEFT - 8, y + 12, gain.name, 12, "end")
        body += rect(begin, y, max(end - begin, 1), THICK, _colour(gain))
        body += text(RIGHT + 8, y + 12, _warps(gain), 12)
    description = "; ".join(
        f"{gain.name}: {gain.faster:.2f} times, {_warps(gain)}" for gain in rows
    )
    alt = f"{title}. {description}."
    key = legend(as_many_warps_as_before=GREEN, fewer_warps=ORANGE)
    return Picture(key + svg(412, bottom + 22, body, alt, widest=530), alt)


def _colour(gain: Gain) -> str:
    return GREEN if gain.after >= gain.before else ORANGE


def _warps(gain: Gain) -> str:
    if gain.after == gain.before:
        return f"{gain.after} warps"
    return f"{gain.before} → {gain.after} warps"


def _ticks(low: float, high: float) -> list[float]:
    """Return the multiples of 0.05 in this range, or of 0.1 if there would be more than six."""
    step = STEP if (high - low) / STEP < 6 else 2 * STEP
    indices = range(int(low / step), int(high / step) + 2)
    return [round(index * step, 2) for index in indices if low <= index * step <= high]
