"""Bars of the time that each resource needs alone, on the recorded time of each kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from utils.translation import translate
from virtual_gpu.pictures.svg import GREY, Picture, path, rect, svg, text

WIDTH, LEFT, BAR, PITCH, HEAD = 412, 84, 11, 15, 29
FOR_WORDS = 60  # pixels right of the longest bar
SHADE = 0.13  # opacity of the band of the recorded time


@dataclass(frozen=True)
class ResourceTimes:
    """Times of one kernel in ms: the recorded time, and an estimate for each resource.

    Each estimate assumes that the resource alone limits the kernel. memory: at the data sheet's
    bandwidth. wavefronts: one per cycle and SM. instructions: one per cycle and scheduler. None
    means that the time is not known, or not estimated.
    """

    recorded: float | None
    wavefronts: float
    instructions: float | None
    memory: float | None = None


def draw_resources(
    where: str, kernels: Mapping[str, ResourceTimes], resources: Sequence[str]
) -> Picture:
    """Draw the estimates of each kernel as bars on the pale band of its recorded time.

    The longest estimate of a kernel is in the colour of the text. where: the line below the title,
    such as the size and the device. kernels: name -> times, from top to bottom. resources: the
    estimates to draw, by the names of their fields, from top to bottom.
    """
    longest = max(ms or 0 for one in kernels.values() for ms in vars(one).values())
    title = translate("Time that each resource needs alone")
    body, y = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12), 68
    body += rect(0, 38, 20, BAR, "currentColor", opacity=SHADE) + path(f"M20 38v{BAR}")
    body += text(26, 47.5, translate("recorded time"), 12)
    sentences = []
    for name, one in kernels.items():
        body += _kernel(name, one, resources, y, (WIDTH - LEFT - FOR_WORDS) / longest)
        y += HEAD + PITCH * len(resources)
        parts = [f"{what} {_ms(getattr(one, what))}" for what in (*resources, "recorded")]
        sentences.append(f"{name}: {', '.join(parts)}")
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, y - 14, body, alt, widest=560), alt)


def _kernel(
    name: str, one: ResourceTimes, resources: Sequence[str], y: float, scale: float
) -> str:
    """Return SVG of one kernel's heading and bars.

    y: the baseline of the heading in pixels. scale: pixels per millisecond.
    """
    heading = name if one.recorded is None else f"{name}: {_ms(one.recorded)}"
    body, top = text(0, y, heading, 13, font_weight="600"), y + 6
    band = (one.recorded or 0) * scale
    if one.recorded:
        height = PITCH * len(resources) - 2
        body += rect(LEFT, top - 1, round(band, 1), height, "currentColor", opacity=SHADE)
        body += path(f"M{LEFT + band:.1f} {top - 1}v{height}", stroke_width=1.5)
    estimates = {what: getattr(one, what) for what in resources}
    highest = max(ms for ms in estimates.values() if ms is not None)
    for row, (what, ms) in enumerate(estimates.items()):
        baseline, width = top + PITCH * row + BAR - 1.5, (ms or 0) * scale
        fill = {"fill": "currentColor", "opacity": 0.8} if ms == highest else {"fill": GREY}
        body += text(LEFT - 6, baseline, what, 12, "end")
        body += rect(LEFT, top + PITCH * row, round(width, 1), BAR, **fill)
        body += text(LEFT + max(band, width) + 5, baseline, _ms(ms), 12)
    return body


def _ms(ms: float | None) -> str:
    """Return a time as text, such as "1.23 ms"; "–" for None."""
    return "–" if ms is None else f"{ms:.2f}\N{NO-BREAK SPACE}ms"
