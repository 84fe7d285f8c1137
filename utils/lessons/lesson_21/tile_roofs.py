"""A picture of the rooflines of DRAM and L2 for square tiles, drawn by a function of the reader."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from virtual_gpu.pictures.svg import BLUE, GREEN, GREY, Picture, path, svg, text

LEFT, RIGHT, TOP, BOTTOM = 50, 400, 46, 236
FIRST, DOUBLINGS = 2, 7  # the x-axis: sides of tiles from FIRST, doubled seven times
LAST = FIRST * 2**DOUBLINGS
NAMED = (4, 8, 16, 32, 64, 128)
LOW, HIGH = 1_500, 90_000  # GFLOP/s, the ends of the y-axis
COLOURS = (BLUE, GREEN)
STEPS = 32  # points of a curve per doubling of the side, so that the corner at the peak is sharp


def draw(attainable: Callable[..., float], peak: float, rates: Mapping[str, float]) -> Picture:
    """Draw the GFLOP/s that a function allows square tiles, with a curve per memory.

    Parameters
    ----------
    attainable : function
        Takes the two sides of a tile, the peak in GFLOP/s and a bandwidth in GB/s, and returns
        GFLOP/s.
    peak : float
        The peak in GFLOP/s.
    rates : mapping
        Memory -> GB/s, at most two; the one with the larger rate first.
    """

    def x(side: float) -> float:
        return LEFT + (RIGHT - LEFT) * math.log(side / FIRST) / math.log(LAST / FIRST)

    def y(gflops: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * math.log(gflops / LOW) / math.log(HIGH / LOW)

    body = text(0, 15, "GFLOP/s that a tile allows", 14, font_weight="bold")
    body += path(f"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}", opacity=0.7)
    for gflops in (2_000, 5_000, 10_000, 20_000, 50_000):
        body += path(f"M{LEFT} {y(gflops):.1f}H{RIGHT}", opacity=0.15)
        body += text(LEFT - 6, round(y(gflops) + 4, 1), f"{gflops:,}", 12, "end")
    for side in NAMED:
        body += text(round(x(side), 1), BOTTOM + 16, f"{side}", 12, "middle")
    body += text((LEFT + RIGHT) / 2, BOTTOM + 34, "side of a square tile", 12, "middle")
    body += path(f"M{LEFT} {y(peak):.1f}H{RIGHT}", stroke=GREY, stroke_dasharray="4 4")
    body += text(LEFT + 6, round(y(peak) - 6, 1), f"peak {peak:,.0f} GFLOP/s", 12)
    sides = [FIRST * 2 ** (step / STEPS) for step in range(DOUBLINGS * STEPS + 1)]
    words = []
    for (memory, rate), colour in zip(rates.items(), COLOURS, strict=False):
        allowed = [attainable(side, side, peak, rate) for side in sides]
        corners = "L".join(f"{x(s):.1f} {y(g):.1f}" for s, g in zip(sides, allowed, strict=True))
        body += path(f"M{corners}", stroke=colour, stroke_width=2.5)
        for side in NAMED:
            height = y(attainable(side, side, peak, rate))
            body += f'<circle cx="{x(side):.1f}" cy="{height:.1f}" r="5" fill="{colour}"/>'
        at = 6 if colour == BLUE else 20
        label = {"style": f"fill:{colour}", "font_weight": "bold"}
        body += text(round(x(at) - 8, 1), round(y(attainable(at, at, peak, rate)) - 10, 1), memory,
                     13, "end", **label) if colour == BLUE else text(
            round(x(at) + 10, 1), round(y(attainable(at, at, peak, rate)) + 14, 1), memory,
            13, "start", **label)  # fmt: skip
        told = ", ".join(f"{s}: {attainable(s, s, peak, rate):,.0f}" for s in NAMED)
        words.append(f"{memory}, by the side of the tile: {told}")
    alt = f"GFLOP/s that a tile allows, at most {peak:,.0f}. {'. '.join(words)}."
    return Picture(svg(416, BOTTOM + 42, body, alt, widest=520), alt)
