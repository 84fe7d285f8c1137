"""Bars of the share of the peak for each grain, the number of elements of c per thread."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from virtual_gpu.pictures.svg import BLUE, GREY, Picture, legend, rect, svg, text

BAR, PITCH, LEFT, WIDTH = 13, 17, 76, 400


def draw_grain_bars(
    title: str, groups: Mapping[str, Mapping[int, float]], ours: Collection[str]
) -> Picture:
    """Draw a bar per grain in each group, and return the picture with its alt text.

    A bar is the percentage of the peak of the group's GPU. groups: heading -> grain, the elements
    of c per thread -> percentage, each above 0. ours: the headings of the groups that were recorded
    for this course, whose bars are blue; all others are grey.
    """
    most = max(max(shares.values()) for shares in groups.values())
    parts, y = [text(0, 14, title, size=13, font_weight="600")], 38
    for name, shares in groups.items():
        parts.append(text(0, y, name, size=13))
        y += 6
        for grain, percent in shares.items():
            width = (WIDTH - LEFT - 56) * percent / most
            parts.append(text(LEFT - 8, y + 11, f"grain {grain}", anchor="end"))
            parts.append(rect(LEFT, y, width, BAR, BLUE if name in ours else GREY))
            parts.append(text(LEFT + width + 6, y + 11, f"{percent:.1f} %"))
            y += PITCH
        y += 22
    sentences = [
        f"{name}: {', '.join(f'grain {grain} {share:.1f} %' for grain, share in shares.items())}"
        for name, shares in groups.items()
    ]
    alt = f"{title}. {'. '.join(sentences)}."
    key = legend(published=GREY, recorded_for_this_course=BLUE)
    return Picture(key + svg(WIDTH, y - 16, "".join(parts), alt, widest=520), alt)
