"""Pictures of a sum by warp shuffles: arrows from lane to lane."""

from __future__ import annotations

from collections.abc import Sequence

from virtual_gpu.pictures.svg import BLUE, GREEN, GREY, Picture, legend, path, rect, svg, text

NUMBERS = (3, 1, 4, 1, 5, 9, 2, 6)
_LEFT, _LANE, _WIDE, _HIGH, _STEP = 92, 40, 30, 24, 72


def draw_shuffles(numbers: Sequence[int] = NUMBERS) -> Picture:
    """Draw a sum over a few lanes by shuffles, one row of lane values per step.

    `numbers` are the initial values of the lanes; their count is a power of two.
    """
    rows = sums(numbers)
    body = text(0, 14, "lane", 12)
    for lane in range(len(numbers)):
        body += text(_middle(lane), 14, lane, 12, "middle")
    for number, (row, needed) in enumerate(zip(rows, needed_lanes(len(numbers)), strict=True)):
        y = 22 + number * _STEP
        if number:
            distance = len(numbers) >> number
            body += _arrows(y - _STEP + _HIGH, distance, len(numbers))
            body += text(0, y - 20, f"distance {distance}", 12)
        body += _row(y, row, needed)
    total = f"lane 0 has the sum, {rows[-1][0]}"
    body += text(0, 22 + (len(rows) - 1) * _STEP + _HIGH + 20, total, 13)
    alt = (
        f"{len(numbers)} lanes hold {', '.join(map(str, numbers))}. In {len(rows) - 1} steps each "
        "lane adds what the lane 4, then 2, then 1 above it holds; after the last one "
        f"{total}. The other lanes hold sums that nobody needs."
    )
    colours = legend(still_needed=BLUE, the_sum=GREEN)
    width, height = _LEFT + len(numbers) * _LANE, 22 + (len(rows) - 1) * _STEP + _HIGH + 28
    return Picture(colours + svg(width, height, body, alt, widest=1.15 * width), alt)


def sums(numbers: Sequence[int]) -> list[list[int]]:
    """Return the values of all lanes, as one list before the first step and one after each step.

    `numbers` are the initial values. In each step a lane adds the value of the lane that is one
    distance above; the distance halves per step. A lane without such a partner adds its own value.
    """
    rows, distance = [list(numbers)], len(numbers) // 2
    while distance:
        old = rows[-1]
        partners = [
            old[lane + distance : lane + distance + 1] or [old[lane]] for lane in range(len(old))
        ]
        rows.append([own + other for own, (other,) in zip(old, partners, strict=True)])
        distance //= 2
    return rows


def needed_lanes(lanes: int) -> list[int]:
    """Return how many of the first lanes hold a value that the sum still needs.

    The list has one count before the first step and one after each step, such as [8, 4, 2, 1] for 8
    lanes.
    """
    return [lanes >> step for step in range(lanes.bit_length())]


def _middle(lane: int) -> float:
    """Return x, in pixels, of the middle of a lane's box."""
    return _LEFT + lane * _LANE + _WIDE / 2


def _row(y: float, row: Sequence[int], needed: int) -> str:
    """Return the SVG of the values of all lanes as boxes whose top is at y.

    `needed` is the number of lanes, from lane 0 on, whose value is still needed. The other lanes
    have dashed boxes. If only lane 0 is needed, its box has another colour, because it holds the
    sum.
    """
    body = ""
    for lane, value in enumerate(row):
        x = _LEFT + lane * _LANE
        if lane >= needed:
            body += rect(x, y, _WIDE, _HIGH, "none", stroke=GREY, stroke_dasharray="3 3")
            body += text(_middle(lane), y + 17, value, 13, "middle", opacity=0.55)
        else:
            body += rect(x, y, _WIDE, _HIGH, GREEN if needed == 1 else BLUE, rx=3)
            body += text(_middle(lane), y + 17, value, 13, "middle", style="fill:#fff")
    return body


def _arrows(y: float, distance: int, lanes: int) -> str:
    """Return SVG of arrows from each lane to the lane, `distance` below it, that adds its value.

    `y` is the lower edge of the row above the arrows. Arrows to values that nobody needs are pale.
    A line marks a value that its own lane keeps. Lanes below `distance` have no arrow.
    """
    body, end = "", y + _STEP - _HIGH - 3
    for lane in range(lanes - distance):
        needed = lane < distance
        start, to = _middle(lane + distance), _middle(lane) + 5
        strength = {"opacity": 1 if needed else 0.25, "stroke_width": 2 if needed else 1}
        body += path(
            f"M{start:g} {y + 2:g}L{to:g} {end:g}", stroke=BLUE if needed else GREY, **strength
        )
        if needed:
            body += path(f"M{_middle(lane) - 5:g} {y + 2:g}V{end:g}", opacity=0.5)
            body += path(
                f"M{to + 8:g} {end - 2:g}L{to:g} {end:g}L{to + 3:g} {end - 8:g}",
                stroke=BLUE,
                stroke_width=2,
            )
    return body
