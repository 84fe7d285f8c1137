"""Bars of the time that each resource needs alone, and of the recorded time of each kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from utils.translation import translate
from virtual_gpu.pictures.svg import GREY, Picture, rect, svg, text

WIDTH, LEFT, BAR, PITCH, HEAD = 412, 84, 11, 15, 29
FOR_WORDS = 60  # pixels right of the longest bar
RECORDED = "recorded"  # the last bar of each kernel


@dataclass(frozen=True)
class ResourceTimes:
    """Milliseconds of one kernel: an estimate per resource, each used alone, and the recorded time.

    memory: at the data sheet's bandwidth. wavefronts: one per cycle and SM. instructions: one per
    cycle and scheduler. None means that the time is not known, or not estimated.
    """

    recorded: float | None
    wavefronts: float
    instructions: float | None
    memory: float | None = None


def draw_resources(
    where: str,
    kernels: Mapping[str, ResourceTimes],
    resources: Sequence[str],
    longest: float | None = None,
) -> Picture:
    """Draw the estimates of each kernel as grey bars above the dark bar of its recorded time.

    where: the line below the title, such as the size and the device. kernels: name -> times, from
    top to bottom. resources: the estimates to draw, by the names of their fields, from top to
    bottom. longest: the ms at the end of the scale, for several pictures with the same scale; by
    default, those of the longest bar.
    """
    longest = longest or max(ms or 0 for one in kernels.values() for ms in vars(one).values())
    title = translate("Time that each resource needs alone")
    body, y = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12), 54
    rows, sentences = (*resources, RECORDED), []
    for name, one in kernels.items():
        times = {what: getattr(one, what) for what in rows}
        body += _kernel(name, times, y, (WIDTH - LEFT - FOR_WORDS) / longest)
        y += HEAD + PITCH * len(rows)
        parts = [f"{what} {_ms(ms)}" for what, ms in times.items()]
        sentences.append(f"{name}: {', '.join(parts)}")
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, y - 14, body, alt, widest=1.15 * WIDTH), alt)


def _kernel(name: str, times: Mapping[str, float | None], y: float, scale: float) -> str:
    """Return SVG of one kernel, whose name is at y, with a bar per time below it.

    times: what the bar says -> ms, or None without a time. scale: pixels per millisecond.
    """
    body, top = text(0, y, name, 13, font_weight="600"), y + 6
    for row, (what, ms) in enumerate(times.items()):
        baseline, width = top + PITCH * row + BAR - 1.5, (ms or 0) * scale
        fill = {"fill": "currentColor", "opacity": 0.8} if what == RECORDED else {"fill": GREY}
        body += text(LEFT - 6, baseline, translate(what), 12, "end")
        body += rect(LEFT, top + PITCH * row, round(width, 1), BAR, **fill)
        body += text(LEFT + width + 5, baseline, _ms(ms), 12)
    return body


def _ms(ms: float | None) -> str:
    return "–" if ms is None else f"{ms:.2f}\N{NO-BREAK SPACE}ms"
