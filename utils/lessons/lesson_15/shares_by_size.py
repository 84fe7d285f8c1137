"""Bars with the share of the peak that steps of a product reach, for square matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from utils.ladder.step import Step
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_15.colours import KERNELS
from utils.lessons.recorded import share_of_library, share_of_peak
from virtual_gpu.pictures.svg import (
    GREY,
    Picture,
    path,
    rect,
    svg,
    text,
)

LIBRARY = "cuBLAS"
_LEFT, _SCALE, _BAR, _GAP, _TOP, _BOTTOM = 46, 3.3, 14, 12, 26, 34


def draw_shares(steps: Sequence[Step], sizes: Sequence[int]) -> Picture:
    """Draw a group of bars per size: the share of the peak of up to three steps, and the library's.

    Each bar has its share in percent, and the names of the colours are above the bars. sizes: n of
    n×n matrices.
    The library's share is that of the first step over the recorded ratio of the two.
    Raises CourseError if there is no record.
    """
    shares = {step.name: [100 * share_of_peak(step, str(n)) for n in sizes] for step in steps}
    ratios = [share_of_library(steps[0], str(n)) for n in sizes]
    first = shares[steps[0].name]
    shares[LIBRARY] = [share / ratio for share, ratio in zip(first, ratios, strict=True)]
    colours = dict(zip(shares, (*KERNELS[: len(steps)], GREY), strict=True))
    group = _BAR * len(shares)
    height = (group + _GAP) * len(sizes)
    body = _axis(height)
    for number, n in enumerate(sizes):
        top = number * (group + _GAP)
        body += text(_LEFT - 8, top + group / 2 + 4, n, 13, "end")
        for bar, (name, values) in enumerate(shares.items()):
            length, y = _SCALE * values[number], top + bar * _BAR
            body += rect(_LEFT, y, length, _BAR - 1, colours[name])
            body += text(_LEFT + length + 4, y + 11, _percent(values[number]), 12)
    said = (
        f"{name} {', '.join(map(_percent, values))}" for name, values in shares.items()
    )
    alt = (
        f"Percent of the peak of an {device_shown().name} at n = {', '.join(map(str, sizes))}: "
        f"{'; '.join(said)}."
    )
    body = f'{_names(colours)}<g transform="translate(0 {_TOP})">{body}</g>'
    size = _LEFT + 100 * _SCALE + 26, _TOP + height + _BOTTOM
    return Picture(svg(*size, body, alt, widest=500), alt)


def _names(colours: Mapping[str, str]) -> str:
    """Return SVG of a row with a coloured square per name, above the bars."""
    body, x = "", 0.0
    for name, colour in colours.items():
        body += rect(x, 4, 11, 11, colour) + text(x + 15, 14, name, 12)
        x += 15 + 7 * len(name) + 16
    return body


def _percent(share: float) -> str:
    """Return a share as text without "%", with one decimal if it is below 10. share: in percent."""
    return f"{share:.0f}" if round(share, 1) >= 10 else f"{share:.1f}"


def _axis(height: float) -> str:
    """Return SVG of vertical lines at 0 to 100 percent, with their numbers below.

    The lines end at y = `height`, in pixels.
    """
    body = text(_LEFT - 22, height + 14, "n", 13, "end")
    for percent in (0, 25, 50, 75, 100):
        x = _LEFT + _SCALE * percent
        words = f"{percent} % of the peak" if percent == 50 else f"{percent} %"
        body += path(f"M{x:g} 0V{height}", stroke=GREY, stroke_opacity=0.4)
        body += text(x, height + 14, words, 12, "middle")
    return body
