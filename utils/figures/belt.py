"""Little's law as a conveyor belt: what is under way is latency times rate."""

from __future__ import annotations

from collections.abc import Sequence

from utils.virtual_gpu.pictures.svg import (
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

LATENCY = 8  # seconds that a box rides; one box a second fits on the belt
_LEFT, _PLACE, _BOX = 104, 36, 25
_TOP, _BAR = 46, 122
_WIDTH = _LEFT + LATENCY * _PLACE + 14


def draw_belt(workers: Sequence[int] = (1, 2, 4, 6, 8, 10)) -> Picture:
    """A belt that carries one box a second, each for eight seconds, with a slider over workers.

    workers: each puts a box on the belt, waits until it has arrived, and takes the next one.
    """
    drawings = [_drawing(number) for number in workers]
    labels = [_counted(number) for number in workers]
    alt = f"A belt with room for {LATENCY} boxes. " + " ".join(map(_told, workers))
    colours = legend(under_way=BLUE, waits_for_a_free_place=ORANGE)
    return Picture(colours + frames(drawings, labels, "workers"), alt)


def _drawing(workers: int) -> str:
    """The belt when all workers have put their boxes there, or wait for a place."""
    under_way, waiting = min(workers, LATENCY), max(workers - LATENCY, 0)
    body = text(0, 16, f"{_counted(workers)}, one box each", 14, font_weight="bold")
    end = _LEFT + LATENCY * _PLACE
    belt = _TOP + _BOX + 5
    body += path(f"M{_LEFT - 4} {belt}H{end + 6}m-7 -5l7 5l-7 5", stroke_width=3)
    for place in range(LATENCY):
        x = _LEFT + place * _PLACE + (_PLACE - _BOX) / 2
        if place < under_way:
            body += rect(x, _TOP, _BOX, _BOX, BLUE, rx=3)
        else:
            body += rect(x, _TOP, _BOX, _BOX, "none", rx=3, stroke=GREY, stroke_dasharray="3 3")
        middle = _LEFT + (place + 0.5) * _PLACE
        body += text(middle, _TOP + _BOX + 21, place + 1, 12, "middle")
    for number in range(waiting):
        body += rect(_LEFT - (number + 1) * (_BOX + 7) - 8, _TOP, _BOX, _BOX, ORANGE, rx=3)
    body += text(_LEFT - 12, _TOP + _BOX + 21, "second", 12, "end")
    share = under_way / LATENCY
    body += text(0, _BAR + 12, "boxes a second", 12)
    body += rect(_LEFT, _BAR, LATENCY * _PLACE, 14, "none", stroke=GREY)
    body += rect(_LEFT, _BAR, LATENCY * _PLACE * share, 14, BLUE)
    body += text(_LEFT, _BAR + 32, f"{under_way} in {LATENCY} seconds: {share:.3g} a second", 13)
    return svg(_WIDTH, _BAR + 40, body, _told(workers), widest=1.15 * _WIDTH)


def _counted(workers: int) -> str:
    return f"{workers} worker{'s' * (workers != 1)}"


def _told(workers: int) -> str:
    under_way, waiting = min(workers, LATENCY), max(workers - LATENCY, 0)
    rest = f", and {waiting} wait for a free place" if waiting else ""
    rate = f"{under_way / LATENCY:.3g} boxes a second"
    return f"{_counted(workers)}: {under_way} of {LATENCY} places are full{rest}, {rate}."
