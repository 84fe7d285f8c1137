"""Time lines of one warp that copies four words: one load at a time, or all loads first."""

from __future__ import annotations

from itertools import pairwise

from utils.figures.roles import READ, WRITE
from virtual_gpu.pictures.svg import GREY, Picture, legend, path, rect, svg, text

WORDS = 4
STEP, LATENCY = 9, 72  # in units of the drawing: an instruction, a load from issue to arrival
_LEFT, _ROW, _WIDTH = 4, 11, 400

Issue = tuple[int, int]  # (moment of issue, index of the word)


def draw_loads_in_time() -> Picture:
    """Draw two time lines of one warp that copies four words.

    In the first, each word is loaded and stored before the next load. In the second, all loads are
    issued before the first store.
    """
    time_lines = {"one load at a time": one_at_a_time(), "four loads under way": all_at_once()}
    body, y = "", 16
    for title, (loads, stores) in time_lines.items():
        body += text(_LEFT, y, title, 14, font_weight="bold")
        body += _time_line(y + 10, loads, stores)
        y += 10 + (WORDS + 2) * _ROW + 40
    descriptions = [
        f"{title}: done after {_end(stores)} units" for title, (_, stores) in time_lines.items()
    ]
    alt = (
        f"One warp copies {WORDS} words. A load takes {LATENCY} units until its word is there, an "
        f"instruction {STEP}. {'; '.join(descriptions)}."
    )
    colours = legend(load=READ, on_its_way=GREY, store=WRITE)
    return Picture(colours + svg(_WIDTH, y - 14, body, alt, widest=1.2 * _WIDTH), alt)


def one_at_a_time() -> tuple[list[Issue], list[Issue]]:
    """Return the loads and the stores of a warp that stores each word before it loads the next.

    Both lists hold (moment of issue in units of the drawing, index of the word), in time order.
    """
    period = LATENCY + STEP
    return [(word * period, word) for word in range(WORDS)], [
        (word * period + LATENCY, word) for word in range(WORDS)
    ]


def all_at_once() -> tuple[list[Issue], list[Issue]]:
    """Return the loads and the stores of a warp that issues all loads before the first store.

    Both lists hold (moment of issue in units of the drawing, index of the word), in time order.
    """
    loads = [(word * STEP, word) for word in range(WORDS)]
    return loads, [(start + LATENCY, word) for start, word in loads]


def _end(stores: list[Issue]) -> int:
    """Return the moment, in units of the drawing, at which the last store is done.

    stores: (moment of issue, index of the word) of each store, in time order.
    """
    return stores[-1][0] + STEP


def waits(loads: list[Issue], stores: list[Issue]) -> list[tuple[int, int]]:
    """Return the intervals (begin, end) in which the warp waits between two instructions.

    They are in time order, in units of the drawing. loads, stores: (moment of issue, index of the
    word) of each instruction.
    """
    busy = sorted(start for start, _ in (*loads, *stores))
    return [(one + STEP, two) for one, two in pairwise(busy) if two > one + STEP]


def _time_line(top: float, loads: list[Issue], stores: list[Issue]) -> str:
    """Return the SVG of a time line: one row per word in flight, and below them the instructions.

    The row of instructions is labelled where the warp waits. `top` is the y coordinate of the time
    line in pixels.
    """
    below = top + WORDS * _ROW + 6
    body = ""
    for start, word in loads:
        y = top + word * _ROW
        body += rect(_LEFT + start, y + 2, LATENCY, _ROW - 5, GREY, opacity=0.6)
        body += rect(_LEFT + start, below, STEP - 1, _ROW + 3, READ)
    for start, _ in stores:
        body += rect(_LEFT + start, below, STEP - 1, _ROW + 3, WRITE)
    for start, end in waits(loads, stores):
        body += text(_LEFT + (start + end) / 2, below + _ROW, "waits", 12, "middle")
    end = _LEFT + _end(stores)
    body += path(f"M{_LEFT} {below + _ROW + 6}H{_WIDTH - 4}", opacity=0.4)
    body += path(f"M{end} {below - 3}V{below + _ROW + 10}")
    anchor = "end" if end > _WIDTH - 60 else "start"
    body += text(end + (4 if anchor == "start" else 0), below + _ROW + 22, "done", 12, anchor)
    body += text(_LEFT, below + _ROW + 22, "time →", 12)
    return body
