"""Little's law as a conveyor belt: what is under way is latency times rate."""

from __future__ import annotations

from collections.abc import Sequence

from virtual_gpu.pictures.svg import (
    BLUE,
    GREY,
    ORANGE,
    Picture,
    frames,
    legend,
    path,
    rect,
    svg,
    text,
)

Crew = tuple[int, int]  # how many workers, and how many boxes each has under way

LATENCY = 8  # seconds that a box rides; one box a second fits on the belt
CREWS: tuple[Crew, ...] = ((1, 1), (2, 1), (4, 1), (8, 1), (10, 1), (2, 4))
_NAMES = "ABCDEFGH"  # of the workers, on their boxes
_LEFT, _PLACE, _BOX = 104, 36, 25
_TOP, _BAR = 46, 122
_WIDTH = _LEFT + LATENCY * _PLACE + 14


def draw_belt(crews: Sequence[Crew] = CREWS) -> Picture:
    """A belt that carries one box a second, each for eight seconds, with a slider over crews.

    crews: how many workers, and how many boxes each puts on the belt before it waits until they
    have arrived.
    """
    drawings = [_drawing(crew) for crew in crews]
    labels = [_counted(*crew) for crew in crews]
    alt = f"A belt with room for {LATENCY} boxes. " + " ".join(map(_told, crews))
    colours = legend(under_way=BLUE, waits_for_a_free_place=ORANGE)
    return Picture(colours + frames(drawings, labels, "workers"), alt)


def _drawing(crew: Crew) -> str:
    """The belt when all workers have put their boxes there, or wait for a place."""
    each = crew[1]
    under_way, waiting = _shared_out(crew)
    body = text(0, 16, _counted(*crew), 14, font_weight="bold")
    end = _LEFT + LATENCY * _PLACE
    belt = _TOP + _BOX + 5
    body += path(f"M{_LEFT - 4} {belt}H{end + 6}m-7 -5l7 5l-7 5", stroke_width=3)
    for place in range(LATENCY):
        x = _LEFT + place * _PLACE + (_PLACE - _BOX) / 2
        if place < under_way:
            body += rect(x, _TOP, _BOX, _BOX, BLUE, rx=3)
            middle = x + _BOX / 2
            name = _NAMES[place // each]
            body += text(middle, _TOP + 17, name, 13, "middle", style="fill:#fff")
        else:
            body += rect(x, _TOP, _BOX, _BOX, "none", rx=3, stroke=GREY, stroke_dasharray="3 3")
    for second in range(LATENCY + 1):
        body += text(_LEFT + second * _PLACE, _TOP + _BOX + 21, second, 12, "middle")
    for number in range(waiting):
        body += rect(_LEFT - (number + 1) * (_BOX + 7) - 8, _TOP, _BOX, _BOX, ORANGE, rx=3)
    body += text(_LEFT - 12, _TOP + _BOX + 21, "seconds ridden", 12, "end")
    share = under_way / LATENCY
    body += text(0, _BAR + 12, "boxes a second", 12)
    body += rect(_LEFT, _BAR, LATENCY * _PLACE, 14, "none", stroke=GREY)
    body += rect(_LEFT, _BAR, LATENCY * _PLACE * share, 14, BLUE)
    body += text(_LEFT, _BAR + 32, f"{under_way} in {LATENCY} seconds: {share:.3g} a second", 13)
    return svg(_WIDTH, _BAR + 40, body, _told(crew), widest=1.15 * _WIDTH)


def _shared_out(crew: Crew) -> tuple[int, int]:
    """Boxes on the belt, and boxes that wait for a place there."""
    boxes = crew[0] * crew[1]
    return min(boxes, LATENCY), max(boxes - LATENCY, 0)


def _counted(workers: int, each: int) -> str:
    """The crew in words."""
    boxes = "one box" if each == 1 else f"{each} boxes"
    return f"{workers} worker{'s' * (workers != 1)}, {boxes} each"


def _told(crew: Crew) -> str:
    under_way, waiting = _shared_out(crew)
    rest = f", and {waiting} wait for a free place" if waiting else ""
    rate = f"{under_way / LATENCY:.3g} boxes a second"
    return f"{_counted(*crew)}: {under_way} of {LATENCY} places are full{rest}, {rate}."
