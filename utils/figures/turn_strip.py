"""One turn of a loop over tiles in machine code, to scale: where loads and stores stand in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from utils.errors import CourseError
from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    legend,
    path,
    rect,
    svg,
    text,
)

COLOURS = {"FFMA": GREEN, "LDS": PURPLE, "LDG": BLUE, "STS": ORANGE}
WIDTH, PITCH, BAR = 416, 88, 16
SHORT = 8  # a way that has no room for a line with two ends gets a pointer
TALL = ("LDG", "STS")  # drawn higher than the bar, because they are few

Turn = Sequence[str]  # the names of its instructions, in order


def on_the_way(turn: Turn) -> tuple[int, int]:
    """What stands between the last load from global memory and the first store behind it.

    All instructions, and the multiply-adds among them. CourseError for a turn without such a pair.
    """
    last, store = _ends(turn)
    between = turn[last + 1 : store]
    return len(between), between.count("FFMA")


def draw_turns(title: str, turns: Mapping[str, Turn]) -> Picture:
    """A bar for each turn, by the name that the reader sees; all on one scale."""
    scale = (WIDTH - 6) / max(map(len, turns.values()))
    body, told = text(0, 16, title, 14, font_weight="bold"), []
    for place, (name, turn) in enumerate(turns.items()):
        body += f'<g transform="translate(0 {26 + PITCH * place})">{_bar(name, turn, scale)}</g>'
        told.append(f"{name}: {len(turn)} instructions, from load to store {_words(turn)}")
    key = legend(load_from_global_memory=BLUE, store_into_shared=ORANGE)
    key += legend(load_from_shared=PURPLE, **{"multiply-add": GREEN, "other": GREY})
    alt = f"{title}. {'. '.join(told)}."
    height = 22 + PITCH * len(turns)
    return Picture(key + svg(WIDTH, height, body, alt, widest=1.3 * WIDTH), alt)


def _bar(name: str, turn: Turn, scale: float) -> str:
    body, x = text(0, 16, f"{name}: {len(turn)} instructions", 13), 2.0
    low = 30
    for kind, run in groupby(turn, lambda name: name if name in (*COLOURS, "BAR") else ""):
        width = len(list(run)) * scale
        if kind in TALL:
            body += rect(round(x, 2), low - 5, round(max(width, 3), 2), BAR + 5, COLOURS[kind])
        else:
            body += rect(round(x, 2), low, round(width, 2), BAR, COLOURS.get(kind, GREY))
        if kind == "BAR":
            body += path(f"M{x:.1f} {low - 9}v{BAR + 18}", stroke_width=1.5, stroke_dasharray="3 2")
        x += width
    first, last = (2 + place * scale for place in _ends(turn))
    y = low + BAR + 8
    if last - first < SHORT:
        body += path(f"M{(first + last) / 2:.1f} {y - 4}l-5 8h10z", fill="currentColor")
    else:
        body += path(f"M{first:.1f} {y - 4}v8M{first:.1f} {y}H{last:.1f}M{last:.1f} {y - 4}v8")
    return body + text(0, y + 17, f"from load to store: {_words(turn)}", 12)


def _ends(turn: Turn) -> tuple[int, int]:
    """The places of the last load from global memory and of the store that follows it."""
    last = max((place for place, name in enumerate(turn) if name == "LDG"), default=len(turn))
    if "STS" not in turn[last:]:
        raise CourseError(
            "A turn of this loop has no load from global memory with a store into shared memory "
            "behind it."
        )
    return last, turn.index("STS", last)


def _words(turn: Turn) -> str:
    instructions, multiply_adds = on_the_way(turn)
    counted = f"{instructions} instruction{'s' * (instructions != 1)}"
    return f"{counted}, {multiply_adds} of them multiply-adds"
