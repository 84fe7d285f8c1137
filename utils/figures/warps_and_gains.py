"""How many times faster several variants became, and whether an SM still holds as many warps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from virtual_gpu.pictures.svg import GREEN, ORANGE, Picture, legend, path, rect, svg, text

LEFT, RIGHT, TOP, PITCH, THICK = 92, 300, 28, 24, 15
STEP = 0.05  # of the axis


@dataclass(frozen=True)
class Gain:
    """One variant. faster: its time before over its time after. before, after: resident warps."""

    name: str
    faster: float
    before: int
    after: int


def draw_gains_and_warps(title: str, gains: Sequence[Gain]) -> Picture:
    """A bar for each from 1, to the right where it became faster; the largest gain first."""
    rows = sorted(gains, key=lambda one: -one.faster)
    low = min(1 - STEP, *(one.faster - STEP / 2 for one in rows))
    high = max(1 + STEP, *(one.faster + STEP / 2 for one in rows))

    def x(faster: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (faster - low) / (high - low), 1)

    bottom = TOP + PITCH * len(rows)
    body = text(0, 15, title, 13, font_weight="bold")
    for tick in _ticks(low, high):
        body += path(f"M{x(tick)} {TOP}V{bottom}", opacity=0.7 if tick == 1 else 0.2)
        body += text(x(tick), bottom + 15, f"{tick:g}", 12, "middle")
    for place, one in enumerate(rows):
        y = TOP + PITCH * place + 4
        begin, end = sorted((x(1), x(one.faster)))
        body += text(LEFT - 8, y + 12, one.name, 12, "end")
        body += rect(begin, y, max(end - begin, 1), THICK, _colour(one))
        body += text(RIGHT + 8, y + 12, _warps(one), 12)
    told = "; ".join(f"{one.name}: {one.faster:.2f} times, {_warps(one)}" for one in rows)
    alt = f"{title}. {told}."
    key = legend(as_many_warps_as_before=GREEN, fewer_warps=ORANGE)
    return Picture(key + svg(412, bottom + 22, body, alt, widest=530), alt)


def _colour(one: Gain) -> str:
    return GREEN if one.after >= one.before else ORANGE


def _warps(one: Gain) -> str:
    if one.after == one.before:
        return f"{one.after} warps"
    return f"{one.before} → {one.after} warps"


def _ticks(low: float, high: float) -> list[float]:
    """Every 0.05, or every 0.1 where that would be more than six."""
    step = STEP if (high - low) / STEP < 6 else 2 * STEP
    places = range(int(low / step), int(high / step) + 2)
    return [round(place * step, 2) for place in places if low <= place * step <= high]
