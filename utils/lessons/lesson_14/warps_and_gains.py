"""A bar chart of speed-ups, with the change in resident warps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from virtual_gpu.pictures.svg import GREEN, ORANGE, Picture, legend, path, rect, svg, text

LEFT, RIGHT, TOP, PITCH, THICK = 92, 300, 28, 24, 15
STEP = 0.05  # between ticks of the axis


@dataclass(frozen=True)
class Gain:
    """The speed-up of a variant over an older one, and the resident warps per SM of both.

    `name` is shown next to the bar. `faster` is the older variant's time over the newer one's.
    `before` is the number of resident warps of the older variant, and `after` that of the newer
    one.
    """

    name: str
    faster: float
    before: int
    after: int


def draw_gains_and_warps(title: str, gains: Sequence[Gain]) -> Picture:
    """Draw one bar per gain from 1 to its speed-up, with the largest gain at the top.

    The resident warps before and after are written next to each bar.
    """
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
    """Return GREEN if the newer variant has at least as many resident warps, else ORANGE."""
    return GREEN if gain.after >= gain.before else ORANGE


def _warps(gain: Gain) -> str:
    """Return text on the resident warps, such as "16 → 12 warps", or "16 warps"."""
    if gain.after == gain.before:
        return f"{gain.after} warps"
    return f"{gain.before} → {gain.after} warps"


def _ticks(low: float, high: float) -> list[float]:
    """Return the multiples of 0.05 from `low` to `high`, ascending.

    If the range is 0.3 or longer, return the multiples of 0.1.
    """
    step = STEP if (high - low) / STEP < 6 else 2 * STEP
    indices = range(int(low / step), int(high / step) + 2)
    return [round(index * step, 2) for index in indices if low <= index * step <= high]
