"""Loops as strips: a square for each instruction, in order, coloured by what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from utils.virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Picture,
    legend,
    rect,
    svg,
    text,
)

COLOURS = {"load": BLUE, "multiply-add": GREEN, "address or counter": GREY, "test or jump": ORANGE}
_KINDS = {
    **dict.fromkeys(("LDG", "LDS", "LD"), "load"),
    **dict.fromkeys(("FFMA", "FFMA2"), "multiply-add"),
    **dict.fromkeys(("ISETP", "UISETP", "BRA"), "test or jump"),
}
SQUARE, GAP = 12, 1
# One turn of a loop over k as the source says it.
TERM = ("load", "load", "multiply-add")
GO_ON = ("address or counter", "test or jump", "test or jump")


def kind_of(opcode: str) -> str:
    """What an instruction does in a loop: one of `COLOURS`."""
    return _KINDS.get(opcode.partition(".")[0], "address or counter")


def draw_idea() -> Picture:
    """Four terms of a sum: in four turns of a loop, and in one turn of the unrolled loop."""
    strips = {
        "one term in each turn": [TERM + GO_ON] * 4,
        "all four in one turn": [TERM * 4 + GO_ON],
    }
    return _picture(strips, len(TERM + GO_ON) * 4, "Four terms of a sum", "steps")


def draw_strips(strips: Mapping[str, tuple[Sequence[str], int]], title: str) -> Picture:
    """Loops of machine code, some turns of each.

    strips: by the name that the reader sees, the opcodes of one turn and how many turns to draw.
    """
    turns = {
        name: [tuple(map(kind_of, opcodes))] * count for name, (opcodes, count) in strips.items()
    }
    widest = min(max(len(one[0]) for one in turns.values()), 31)
    return _picture(turns, widest, title, "instructions")


def _picture(
    strips: Mapping[str, Sequence[tuple[str, ...]]], across: int, title: str, what: str
) -> Picture:
    """strips: by name, the kinds of each turn. across: squares in a row. what: squares are."""
    body, y, told = text(0, 15, title, 14, font_weight="bold"), 40, []
    for name, turns in strips.items():
        everything = [kind for turn in turns for kind in turn]
        told.append(f"{name}: {len(everything)} {what} ({_counted(everything)})")
        body += text(0, y, f"{name}: {len(everything)} {what}", 13)
        drawn, rows = _squares(turns, across, y + 8)
        body, y = body + drawn, y + 8 + rows * (SQUARE + 4) + 24
    alt = f"{title}. {'. '.join(told)}."
    colours = legend(**{kind.replace(" ", "_"): colour for kind, colour in COLOURS.items()})
    width = max(across * (SQUARE + GAP), 400)
    return Picture(colours + svg(width, y - 16, body, alt, widest=width * 1.25), alt)


def _squares(turns: Sequence[tuple[str, ...]], across: int, top: float) -> tuple[str, int]:
    """The squares, `across` in a row at most, and how many rows they take; a turn keeps together
    where it fits into a row."""
    drawn, row, column = "", 0, 0
    for number, turn in enumerate(turns):
        if column and column + len(turn) > across:
            row, column = row + 1, 0
        for kind in turn:
            if column == across:
                row, column = row + 1, 0
            at = column * (SQUARE + GAP), top + row * (SQUARE + 4)
            drawn += rect(*at, SQUARE, SQUARE, COLOURS[kind])
            column += 1
        if number < len(turns) - 1 and column < across:
            drawn += rect(
                column * (SQUARE + GAP) - 1,
                top + row * (SQUARE + 4) - 2,
                1,
                SQUARE + 4,
                "currentColor",
            )
    return drawn, row + 1


def _counted(kinds: Sequence[str]) -> str:
    counts = Counter(kinds)
    return ", ".join(f"{kind} {counts[kind]}" for kind in COLOURS)
