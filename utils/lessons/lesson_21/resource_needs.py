"""Bars of the time that each resource needs for a step, above the bar of its recorded time."""

from __future__ import annotations

from collections.abc import Mapping

from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, Picture, path, rect, svg, text

LEFT, RIGHT, TOP, BAR, PITCH = 112, 340, 34, 15, 24


def draw_needs(title: str, needed: Mapping[str, float], recorded: float) -> Picture:
    """Draw a bar per resource and one of the recorded time, on one linear axis.

    The longest bar of a resource is orange. needed: resource -> ms. recorded: ms.
    """
    body, y, longest = text(0, 15, title, 13, font_weight="bold"), TOP, max(needed.values())
    rows = [(name, ms, ORANGE if ms == longest else GREY) for name, ms in needed.items()]
    for name, ms, colour in [*rows, ("recorded", recorded, BLUE)]:
        width = max((RIGHT - LEFT) * ms / recorded, 1)
        weight = {"font_weight": "bold"} if colour != GREY else {}
        body += text(LEFT - 8, y + 12, name, 12, "end", **weight)
        body += rect(LEFT, y, round(width, 1), BAR, colour)
        body += text(round(LEFT + width + 6, 1), y + 12, f"{ms:.2f} ms", 12, **weight)
        y += PITCH
    body += path(f"M{LEFT} {TOP - 4}V{y - 4}", opacity=0.5)
    told = ", ".join(f"{name} {ms:.2f} ms" for name, ms in needed.items())
    alt = f"{title}. {told}; recorded {recorded:.2f} ms."
    return Picture(svg(416, y + 2, body, alt, widest=520), alt)
