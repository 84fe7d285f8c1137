"""Bars of the time that each resource needs alone, and of the recorded time of each kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from utils.translation import translate
from virtual_gpu.pictures.svg import GREY, ORANGE, Picture, rect, svg, text

WIDTH, LEFT, BAR, PITCH, HEAD = 412, 84, 11, 15, 29
WIDEST = 1.3 * WIDTH  # pixels on a page
FOR_WORDS = 60  # pixels right of the longest bar
DARK, FAINT = 0.8, 0.35  # the opacity of a recorded bar up to the marked estimate, and beyond it
RECORDED = "recorded"  # the last bar of each kernel


@dataclass(frozen=True)
class ResourceTimes:
    """Milliseconds of one kernel: an estimate per resource, each used alone, and the recorded time.

    memory: at the data sheet's bandwidth, or at the recorded one of the L2 cache. wavefronts: one
    per cycle and SM, or at the recorded rate. instructions: one per cycle and scheduler. None means
    that the time is not known, or not estimated. at_most: True if the estimate of the instructions
    is an upper bound.
    """

    recorded: float | None
    wavefronts: float
    instructions: float | None
    memory: float | None = None
    at_most: bool = False

    def words(self, what: str) -> str:
        """Return the text of a bar, such as "2.60 ms", "≤ 2.60 ms" or "–"; what: its field."""
        ms, is_bound = getattr(self, what), self.at_most and what == "instructions"
        return "–" if ms is None else f"{'≤ ' * is_bound}{ms:.2f}\N{NO-BREAK SPACE}ms"


def draw_resources(
    where: str,
    kernels: Mapping[str, ResourceTimes],
    resources: Sequence[str],
    longest: float | None = None,
    mark_bound: bool = False,
) -> Picture:
    """Draw the estimates of each kernel as grey bars above the dark bar of its recorded time.

    A kernel without a recorded time has no dark bar.

    where: the line below the title, such as the size and the device. kernels: name -> times, from
    top to bottom. resources: the estimates to draw, by the names of their fields, from top to
    bottom. longest: the ms at the end of the scale, for several pictures with the same scale; by
    default, those of the longest bar. mark_bound: if True, the longest estimate of each kernel is
    orange, because the kernel takes at least this time, and the recorded bar is faint beyond it. If
    an estimate is missing, or if the longest one is an upper bound, nothing is marked.
    """
    rows, sentences = (*resources, RECORDED), []
    longest = longest or max(getattr(one, row) or 0 for one in kernels.values() for row in rows)
    title = translate("Time that each resource needs alone")
    body, y = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12), 54
    for name, one in kernels.items():
        body += text(0, y, name, 13, font_weight="600")
        bound = _bound(one, resources) if mark_bound else None
        drawn = resources if one.recorded is None else rows
        body += _bars(one, drawn, y + 6, (WIDTH - LEFT - FOR_WORDS) / longest, bound)
        y += HEAD + PITCH * len(drawn)
        parts = [f"{_words(what)} {one.words(what)}" for what in rows]
        sentences.append(f"{name}: {', '.join(parts)}")
    if mark_bound:
        body, y = body + _key(y, kernels.values(), resources), y + 22
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, y - 14, body, alt, widest=WIDEST), alt)


def _words(what: str) -> str:
    """Return the English words for a field, such as "cache lines" for "cache_lines"."""
    return what.replace("_", " ")


def _bound(one: ResourceTimes, resources: Sequence[str]) -> str | None:
    """Return the resource with the longest estimate of a kernel, or None if it is not known.

    It is not known if an estimate is missing, or if the longest is only an upper bound.
    """
    if any(getattr(one, what) is None for what in resources):
        return None
    longest = max(resources, key=lambda what: getattr(one, what))
    return None if one.at_most and longest == "instructions" else longest


def _bars(
    one: ResourceTimes, rows: Sequence[str], top: float, scale: float, bound: str | None
) -> str:
    """Return SVG of the bars of one kernel from `top` down.

    rows: the names of the fields to draw. scale: pixels per millisecond. bound: the name of the
    field to draw in orange, or None.
    """
    body = ""
    for row, what in enumerate(rows):
        y, width = top + PITCH * row, (getattr(one, what) or 0) * scale
        body += text(LEFT - 6, y + BAR - 1.5, translate(_words(what)), 12, "end")
        if what == RECORDED:
            body += _recorded_bar(y, width, getattr(one, bound) * scale if bound else width)
        else:
            body += rect(LEFT, y, round(width, 1), BAR, ORANGE if what == bound else GREY)
        body += text(LEFT + width + 5, y + BAR - 1.5, one.words(what), 12)
    return body


def _recorded_bar(y: float, width: float, explained: float) -> str:
    """Return SVG of a dark bar at `y` that is faint beyond `explained`; all are in pixels."""
    # The parts do not overlap: two colours on top of each other would be darker than in the legend.
    end = round(min(width, explained), 1)
    dark = rect(LEFT, y, end, BAR, "currentColor", opacity=DARK)
    rest = round(width - end, 1)
    if rest <= 0:
        return dark
    return dark + rect(LEFT + end, y, rest, BAR, "currentColor", opacity=FAINT)


def _key(y: float, kernels: Iterable[ResourceTimes], resources: Sequence[str]) -> str:
    """Return SVG, below y, that names the orange bars and both parts of the recorded bars.

    Without recorded bars it names the orange ones alone, or nothing if there are none of them.
    """
    kernels = list(kernels)
    is_recorded = any(one.recorded is not None for one in kernels)
    is_marked = is_recorded or any(_bound(one, resources) for one in kernels)
    orange = translate("longest estimate"), ORANGE, 1, 0
    dark = translate("recorded, up to it"), "currentColor", DARK, 130
    faint = translate("recorded, beyond it"), "currentColor", FAINT, 268
    return "".join(
        rect(x, y - 8, BAR, BAR, colour, opacity=shade) + text(x + 17, y + 1.5, words, 12)
        for words, colour, shade, x in (*[orange] * is_marked, *[dark, faint] * is_recorded)
    )
