"""Little's law as a conveyor belt: items in flight are latency times rate."""

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

Crew = tuple[int, int]  # (workers, boxes in flight per worker)

LATENCY = 8  # seconds that a box rides; the belt takes one box a second
CREWS: tuple[Crew, ...] = ((1, 1), (2, 1), (4, 1), (8, 1), (10, 1), (2, 4))
_NAMES = "ABCDEFGHIJ"  # of the workers, written on their boxes
_LEFT, _PITCH, _BOX = 104, 36, 25
_TOP, _BAR = 46, 122
_WIDTH = _LEFT + LATENCY * _PITCH + 14


def draw_belt(crews: Sequence[Crew] = CREWS) -> Picture:
    """Draw a conveyor belt with boxes in flight, with a slider over crews of workers.

    The belt takes one box per second, and a box rides eight seconds. Each drawing shows the boxes
    on the belt, those that wait, and the rate in boxes per second.

    Parameters
    ----------
    crews : sequence of (int, int)
        One drawing each: the number of workers, and the number of boxes that each puts on the belt
        before it waits for all of them to arrive.
    """
    drawings = [_drawing(crew) for crew in crews]
    labels = [_crew_name(*crew) for crew in crews]
    alt = f"A belt with room for {LATENCY} boxes. " + " ".join(map(_description, crews))
    colours = legend(under_way=BLUE, waits_for_a_free_place=ORANGE)
    return Picture(colours + frames(drawings, labels, "workers"), alt)


def _drawing(crew: Crew) -> str:
    """Return an SVG of the belt of one crew, with the boxes on it, the waiting boxes and the rate.

    The moment is after all workers have placed their boxes or wait for a free place.
    """
    each = crew[1]
    in_flight, waiting = _in_flight_and_waiting(crew)
    body = text(0, 16, _crew_name(*crew), 14, font_weight="bold")
    end = _LEFT + LATENCY * _PITCH
    belt = _TOP + _BOX + 5
    body += path(f"M{_LEFT - 4} {belt}H{end + 6}m-7 -5l7 5l-7 5", stroke_width=3)
    for index in range(LATENCY):
        x = _LEFT + index * _PITCH + (_PITCH - _BOX) / 2
        if index < in_flight:
            body += rect(x, _TOP, _BOX, _BOX, BLUE, rx=3)
            middle = x + _BOX / 2
            name = _NAMES[index // each]
            body += text(middle, _TOP + 17, name, 13, "middle", style="fill:#fff")
        else:
            body += rect(x, _TOP, _BOX, _BOX, "none", rx=3, stroke=GREY, stroke_dasharray="3 3")
    for second in range(LATENCY + 1):
        body += text(_LEFT + second * _PITCH, _TOP + _BOX + 21, second, 12, "middle")
    for number in range(waiting):
        x, name = _LEFT - (number + 1) * (_BOX + 7) - 8, _NAMES[(LATENCY + number) // each]
        body += rect(x, _TOP, _BOX, _BOX, ORANGE, rx=3)
        body += text(x + _BOX / 2, _TOP + 17, name, 13, "middle", style="fill:#fff")
    body += text(_LEFT - 12, _TOP + _BOX + 21, "seconds ridden", 12, "end")
    share = in_flight / LATENCY
    body += text(0, _BAR + 12, "boxes a second", 12)
    body += rect(_LEFT, _BAR, LATENCY * _PITCH, 14, "none", stroke=GREY)
    body += rect(_LEFT, _BAR, LATENCY * _PITCH * share, 14, BLUE)
    body += text(_LEFT, _BAR + 32, f"{in_flight} in {LATENCY} seconds: {share:.3g} a second", 13)
    return svg(_WIDTH, _BAR + 40, body, _description(crew), widest=1.15 * _WIDTH)


def _in_flight_and_waiting(crew: Crew) -> tuple[int, int]:
    """Return (number of a crew's boxes on the belt, number that wait for a free place)."""
    boxes = crew[0] * crew[1]
    return min(boxes, LATENCY), max(boxes - LATENCY, 0)


def _crew_name(workers: int, each: int) -> str:
    """Return text on a crew such as "2 workers, one box each"."""
    boxes = "one box" if each == 1 else f"{each} boxes"
    return f"{workers} worker{'s' * (workers != 1)}, {boxes} each"


def _description(crew: Crew) -> str:
    """Return a sentence for the alt text: a crew, the full places on the belt, and the rate.

    If boxes wait for a free place, it has their number too.
    """
    in_flight, waiting = _in_flight_and_waiting(crew)
    rest = f", and {waiting} wait for a free place" if waiting else ""
    rate = f"{in_flight / LATENCY:.3g} boxes a second"
    return f"{_crew_name(*crew)}: {in_flight} of {LATENCY} places are full{rest}, {rate}."
