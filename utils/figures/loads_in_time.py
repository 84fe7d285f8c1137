"""The time line of one warp that copies four words: one load after the other, and four at once."""

from __future__ import annotations

from itertools import pairwise

from virtual_gpu.pictures.svg import BLUE, GREEN, GREY, Picture, legend, path, rect, svg, text

WORDS = 4
STEP, LATENCY = 9, 72  # units of the drawing: an instruction, and a load from issue to arrival
_LEFT, _ROW, _WIDTH = 4, 11, 400

Time = tuple[int, int]  # when an instruction is issued, and for which word


def draw_loads_in_time() -> Picture:
    """Above, each store waits for its load, and the next load comes after it; below, all loads go
    first."""
    ways = {"one load at a time": one_at_a_time(), "four loads under way": all_at_once()}
    body, y = "", 16
    for title, (loads, stores) in ways.items():
        body += text(_LEFT, y, title, 14, font_weight="bold")
        body += _way(y + 10, loads, stores)
        y += 10 + (WORDS + 2) * _ROW + 40
    told = [f"{title}: done after {_end(stores)} units" for title, (_, stores) in ways.items()]
    alt = (
        f"One warp copies {WORDS} words. A load takes {LATENCY} units until its word is there, an "
        f"instruction {STEP}. {'; '.join(told)}."
    )
    colours = legend(load=BLUE, on_its_way=GREY, store=GREEN)
    return Picture(colours + svg(_WIDTH, y - 14, body, alt, widest=1.2 * _WIDTH), alt)


def one_at_a_time() -> tuple[list[Time], list[Time]]:
    """Loads and stores where each load waits for the store before it."""
    turn = LATENCY + STEP
    return [(word * turn, word) for word in range(WORDS)], [
        (word * turn + LATENCY, word) for word in range(WORDS)
    ]


def all_at_once() -> tuple[list[Time], list[Time]]:
    """All loads, one behind the other, and then the stores as the words arrive."""
    loads = [(word * STEP, word) for word in range(WORDS)]
    return loads, [(start + LATENCY, word) for start, word in loads]


def _end(stores: list[Time]) -> int:
    return stores[-1][0] + STEP


def waits(loads: list[Time], stores: list[Time]) -> list[tuple[int, int]]:
    """From when to when the warp has nothing to issue."""
    busy = sorted(start for start, _ in (*loads, *stores))
    return [(one + STEP, two) for one, two in pairwise(busy) if two > one + STEP]


def _way(top: float, loads: list[Time], stores: list[Time]) -> str:
    """Words on their way, each in a row of its own; below them the instructions of the warp."""
    below = top + WORDS * _ROW + 6
    body = ""
    for start, word in loads:
        y = top + word * _ROW
        body += rect(_LEFT + start, y + 2, LATENCY, _ROW - 5, GREY, opacity=0.6)
        body += rect(_LEFT + start, below, STEP - 1, _ROW + 3, BLUE)
    for start, _ in stores:
        body += rect(_LEFT + start, below, STEP - 1, _ROW + 3, GREEN)
    for start, end in waits(loads, stores):
        body += text(_LEFT + (start + end) / 2, below + _ROW, "waits", 12, "middle")
    end = _LEFT + _end(stores)
    body += path(f"M{_LEFT} {below + _ROW + 6}H{_WIDTH - 4}", opacity=0.4)
    body += path(f"M{end} {below - 3}V{below + _ROW + 10}")
    anchor = "end" if end > _WIDTH - 60 else "start"
    body += text(end + (4 if anchor == "start" else 0), below + _ROW + 22, "done", 12, anchor)
    body += text(_LEFT, below + _ROW + 22, "time →", 12)
    return body
