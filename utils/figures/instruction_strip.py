"""Loops as strips: a square for each instruction, in order, coloured by what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from virtual_gpu.pictures.svg import BLUE, GREEN, GREY, ORANGE, Picture, legend, rect, svg, text

COLOURS = {"load": BLUE, "multiply-add": GREEN, "address or counter": GREY, "test or jump": ORANGE}
_KINDS = {
    **dict.fromkeys(("LDG", "LDS", "LD"), "load"),
    **dict.fromkeys(("FFMA", "FFMA2"), "multiply-add"),
    **dict.fromkeys(("ISETP", "UISETP", "BRA"), "test or jump"),
}
ACROSS = 32  # squares in a row: one turn of `naive`, or of `unrolled` with UNROLL = 1
WIDTH = 416
# A term of the sum, and how the loop goes on, as the source code says it.
TERM = ("load", "load", "multiply-add")
GO_ON = ("address or counter", "test or jump", "test or jump")

Turns = Sequence[Sequence[str]]  # of each turn of a loop the kinds of its instructions


def kind_of(opcode: str) -> str:
    """What an instruction does in a loop: one of `COLOURS`."""
    return _KINDS.get(opcode.partition(".")[0], "address or counter")


def draw_idea() -> Picture:
    """Four terms of a sum: in four turns of a loop, and in one turn of the unrolled loop."""
    loops = {
        "one term in each turn": [TERM + GO_ON] * 4,
        "all four in one turn": [TERM * 4 + GO_ON],
    }
    return _picture("Four terms of a sum", "steps", loops, side=20)


def draw_strips(title: str, loops: Mapping[str, tuple[Sequence[str], int]]) -> Picture:
    """Loops of machine code, each turn on rows of its own.

    loops: by the name that the reader sees, the opcodes of one turn and how many turns to draw.
    """
    turns = {name: [list(map(kind_of, codes))] * count for name, (codes, count) in loops.items()}
    return _picture(title, "instructions", turns, side=13)


def _picture(title: str, what: str, loops: Mapping[str, Turns], side: int) -> Picture:
    """what: the squares are. side: of a square with the gap behind it."""
    body, y, told = text(0, 26, title, 14, font_weight="bold"), 51, []
    for name, turns in loops.items():
        counts = Counter(kind for turn in turns for kind in turn)
        told.append(f"{name}: {counts.total()} {what} ({_listed(counts)})")
        body += text(0, y, f"{name}: {counts.total()} {what}", 13)
        rows = [turn[at : at + ACROSS] for turn in turns for at in range(0, len(turn), ACROSS)]
        body += "".join(
            rect(column * side, y + 8 + row * (side + 3), side - 1, side - 1, COLOURS[kind])
            for row, kinds in enumerate(rows)
            for column, kind in enumerate(kinds)
        )
        y += 8 + len(rows) * (side + 3) + 24
    alt = f"{title}. {'. '.join(told)}."
    colours = legend(**{kind.replace(" ", "_"): colour for kind, colour in COLOURS.items()})
    return Picture(colours + svg(WIDTH, y - 24, body, alt, widest=1.2 * WIDTH), alt)


def _listed(counts: Counter) -> str:
    return ", ".join(f"{kind} {counts[kind]}" for kind in COLOURS)
