"""Bars of the reader's kernel beside the course's, and the staircase of all the reader's kernels.

A role has the same colour in all of these pictures: the reader's kernel, the course's step, the
step before it, and the library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, PURPLE, Picture, path, rect, svg, text

ROLES = {"before": GREY, "mine": ORANGE, "course": BLUE, "library": PURPLE}
WIDTH, LEFT, BAR, PITCH = 412, 8, 13, 17


@dataclass(frozen=True)
class Bar:
    """A bar of a group: the reader's kernel, the course's, or another role.

    role: a key of `ROLES`. value: the length in any unit. words: the text at its end.
    """

    role: str
    value: float
    words: str


def draw_groups(
    title: str,
    where: str,
    names: Mapping[str, str],
    groups: Mapping[str, Sequence[Bar]],
    limits: Mapping[str, float] | None = None,
) -> Picture:
    """Draw groups of horizontal bars from a common zero on one linear axis; return the picture.

    where: the line below the title, such as the shape and the device. names: role -> the words of
    the legend; a role without words is not in it. groups: heading -> its bars, from top to bottom;
    a group without bars is left out. At least one bar has a length above 0. limits: heading -> the
    length at which the group's first bar has a dashed line.
    """
    groups = {heading: bars for heading, bars in groups.items() if bars}
    longest = max(bar.value for bars in groups.values() for bar in bars)
    body, y = text(0, 15, title, 13, font_weight="bold") + text(0, 32, where), 41
    for role, words in names.items():
        body += rect(0, y, BAR, BAR, ROLES[role]) + text(BAR + 6, y + 11, words)
        y += PITCH
    y += 16
    for heading, bars in groups.items():
        body += text(0, y, heading, 13, font_weight="600")
        y += 7
        top, limit = y, (limits or {}).get(heading, 0)
        for number, bar in enumerate(bars):
            width = max(round((WIDTH - LEFT - 90) * bar.value / longest, 1), 1)
            body += rect(LEFT, y, width, BAR, ROLES[bar.role])
            if limit and number == 0:
                end = round((WIDTH - LEFT - 90) * limit / longest, 1)
                dashes = {"stroke_width": 2, "stroke_dasharray": "4 2"}
                body += path(f"M{LEFT + end} {y - 4}V{y + BAR + 3}", **dashes)
                width = max(width, end)
            body += text(LEFT + width + 6, y + 11, bar.words)
            y += PITCH
        body += path(f"M{LEFT - 1} {top - 2}V{y - 2}", opacity=0.5)
        y += 20
    said = {
        heading: (f"{names.get(bar.role, '')} {bar.words}".strip() for bar in bars)
        for heading, bars in groups.items()
    }
    sentences = [f"{heading}: {', '.join(words)}" for heading, words in said.items()]
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, y - 14, body, alt, widest=520), alt)


@dataclass(frozen=True)
class Stair:
    """A kernel of the reader's in the staircase.

    lesson: the lesson's number, such as "07". name: the kernel's name. bound: the share of the
    peak, a fraction, that the tightest bound allows. limit: the resource of that bound. measured:
    the share that was measured here, None without a GPU.
    """

    lesson: str
    name: str
    bound: float
    limit: str
    measured: float | None = None


def draw_stairs(title: str, stairs: Sequence[Stair]) -> Picture:
    """Draw one bar per kernel in the given order, from 0 to 100 % of the data sheet's peak.

    The outline of a bar is the bound, with the limiting resource in words, and the filled part is
    the measured share. If no kernel was measured, the bounds are filled. A dashed line marks the
    best value among the kernels down to each row.
    """
    left, right, top, pitch = 118, 388, 58, 34
    bottom, measured = top + pitch * len(stairs), any(stair.measured for stair in stairs)

    def x(share: float) -> float:
        return round(left + (right - left) * min(share, 1.0), 1)

    body = text(0, 15, title, 13, font_weight="bold")
    for share in (0, 0.25, 0.5, 0.75, 1):
        body += path(f"M{x(share)} {top - 6}V{bottom}", opacity=0.2)
        body += text(x(share), top - 10, f"{share:.0%}", 12, "middle")
    body += text(0, 33, "of the peak: measured, below its bound" if measured else
                 "of the peak, at most")  # fmt: skip
    best, corners, words = 0.0, f"M{left} {top - 4}", []
    for row, stair in enumerate(stairs):
        y = top + pitch * row
        reached = stair.measured if measured else stair.bound
        body += text(left - 8, y + 12, stair.name, 12, "end")
        body += text(left - 8, y + 26, f"lesson {stair.lesson}", 12, "end", opacity=0.7)
        if reached:
            body += rect(left, y, x(reached) - left, 14, ROLES["mine"])
        outline = {"stroke": "currentColor", "stroke_width": 1}
        body += rect(left, y, x(stair.bound) - left, 14, "none", **outline)
        numbers = f"at most {stair.bound:.1%}, {stair.limit}"
        if stair.measured:
            numbers = f"{stair.measured:.1%}; {numbers}"
        body += text(left + 2, y + 27, numbers)
        words.append(f"{stair.name} of lesson {stair.lesson}: {numbers}")
        best = max(best, reached or 0.0)
        corners += f"H{x(best)}V{y + pitch - 4}"
    body += path(corners, opacity=0.6, stroke_dasharray="3 3")
    alt = f"{title}. {'; '.join(words)}."
    return Picture(svg(WIDTH, bottom + 6, body, alt, widest=520), alt)
