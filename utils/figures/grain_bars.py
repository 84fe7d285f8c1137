"""Shares of the peak by the elements of c that a thread computes, published and recorded."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from virtual_gpu.pictures.svg import BLUE, GREY, Picture, legend, rect, svg, text

BAR, ROOM, LEFT, WIDTH = 13, 17, 76, 400


def draw_grain_bars(
    title: str, groups: Mapping[str, Mapping[int, float]], ours: Collection[str]
) -> Picture:
    """A bar for each grain in each group, in % of the peak of its GPU.

    groups: by their headings, the percentages by grain, each above 0. ours: the headings of those
    that were recorded for this course.
    """
    most = max(max(each.values()) for each in groups.values())
    drawn, y = [text(0, 14, title, size=13, font_weight="600")], 38
    for name, shares in groups.items():
        drawn.append(text(0, y, name, size=13))
        y += 6
        for grain, percent in shares.items():
            long = (WIDTH - LEFT - 56) * percent / most
            drawn.append(text(LEFT - 8, y + 11, f"grain {grain}", anchor="end"))
            drawn.append(rect(LEFT, y, long, BAR, BLUE if name in ours else GREY))
            drawn.append(text(LEFT + long + 6, y + 11, f"{percent:.1f} %"))
            y += ROOM
        y += 22
    told = [
        f"{name}: {', '.join(f'grain {grain} {share:.1f} %' for grain, share in shares.items())}"
        for name, shares in groups.items()
    ]
    alt = f"{title}. {'. '.join(told)}."
    key = legend(published=GREY, recorded_for_this_course=BLUE)
    return Picture(key + svg(WIDTH, y - 16, "".join(drawn), alt, widest=520), alt)
