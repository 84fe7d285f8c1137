"""Bars with the share of the peak that steps of a product reach, for square matrices."""

from __future__ import annotations

from collections.abc import Sequence

from utils.ladder.step import Step
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import share_of_library, share_of_peak
from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Picture,
    legend,
    path,
    rect,
    svg,
    text,
)

LIBRARY = "cuBLAS"
_COLOURS = (BLUE, ORANGE, GREEN)
_LEFT, _BOTTOM, _HEIGHT, _BAR, _GROUP = 44, 172, 150, 13, 66


def draw_shares(steps: Sequence[Step], sizes: Sequence[int]) -> Picture:
    """Draw a group of bars per size: the share of the peak of up to three steps, and the library's.

    sizes: n of n×n matrices. The library's share is that of the first step over the recorded ratio
    of the two. Raises CourseError if there is no record.
    """
    shares = {step.name: [100 * share_of_peak(step, str(n)) for n in sizes] for step in steps}
    ratios = [share_of_library(steps[0], str(n)) for n in sizes]
    first = shares[steps[0].name]
    shares[LIBRARY] = [share / ratio for share, ratio in zip(first, ratios, strict=True)]
    colours = dict(zip(shares, (*_COLOURS[: len(steps)], GREY), strict=True))
    width = _LEFT + _GROUP * len(sizes)
    body = _axis(width)
    for number, (name, values) in enumerate(shares.items()):
        for group, value in enumerate(values):
            height = _HEIGHT * value / 100
            x = _LEFT + 6 + group * _GROUP + number * _BAR
            body += rect(x, _BOTTOM - height, _BAR - 1, height, colours[name])
    for group, n in enumerate(sizes):
        body += text(_LEFT + group * _GROUP + 32, _BOTTOM + 18, n, 13, "middle")
    body += text(_LEFT + _GROUP * len(sizes) / 2, _BOTTOM + 38, "n of n×n matrices", 13, "middle")
    said = (
        f"{name} {', '.join(f'{value:.0f}' for value in values)}" for name, values in shares.items()
    )
    alt = (
        f"Percent of the peak of an {device_shown().name} at n = {', '.join(map(str, sizes))}: "
        f"{'; '.join(said)}."
    )
    return Picture(legend(**colours) + svg(width, _BOTTOM + 46, body, alt, widest=640), alt)


def _axis(width: float) -> str:
    """Return SVG of horizontal lines at 0 to 100 percent, with numbers and the words "of the peak".

    The lines end at x = `width`, in pixels.
    """
    body = ""
    for percent in (0, 25, 50, 75, 100):
        y = _BOTTOM - _HEIGHT * percent / 100
        body += path(f"M{_LEFT} {y:g}H{width}", stroke=GREY, stroke_opacity=0.4)
        body += text(_LEFT - 6, y + 4, f"{percent} %", 12, "end")
    return body + text(_LEFT, _BOTTOM - _HEIGHT - 8, "of the peak", 12)
