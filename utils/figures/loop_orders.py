"""The order of three loops before any code: which words they touch, and which cache lines come."""

from __future__ import annotations

from collections.abc import Callable

from utils.figures.matrices import matrix, squares
from virtual_gpu.pictures.svg import BLUE, PALE, Picture, frames, legend, svg, text

SIDE = 8  # words of a row
LINE = 4  # words of a cache line, in this picture
SIZE, GAP, TOP = 14, 26, 40
# The matrices of one side: a on the left of c, b above it.
STEP = SIDE * SIZE + GAP
CORNERS = {"a": (4, TOP + STEP), "b": (4 + STEP, TOP), "c": (4 + STEP, TOP + STEP)}
Words = dict[str, tuple[int, int]]  # for each array the row and the column of a word


def draw_loop_orders() -> Picture:
    """A slider through eight turns of the innermost loop, for both orders of the loops."""
    sides = {"k innermost": _along_k, "n innermost": _along_n}
    turns = [
        f'<div class="row">{"".join(_side(name, walk, turn) for name, walk in sides.items())}</div>'
        for turn in range(SIDE)
    ]
    labels = [f"turn {turn + 1} of {SIDE}" for turn in range(SIDE)]
    told = (
        f"Matrices of {SIDE}×{SIDE} words and cache lines of {LINE} words; row 0 of c is computed. "
        "With k innermost, the loop goes along row 0 of a and down column 0 of b, for one element "
        f"of c, which is stored at the end: after {SIDE} turns {_count(_along_k)} cache lines have "
        "come. With n innermost, it "
        "takes one element of a and goes along row 0 of b and row 0 of c: "
        f"{_count(_along_n)} have come."
    )
    key = legend(touched_at_this_turn=BLUE, came_with_it_or_before=PALE)
    return Picture(key + frames(turns, labels, "Turn of the innermost loop"), told)


def _along_k(turn: int) -> Words:
    """The sum waits in a register, and is stored behind the loop."""
    stored = {"c": (0, 0)} if turn == SIDE - 1 else {}
    return {"a": (0, turn), "b": (turn, 0), **stored}


def _along_n(turn: int) -> Words:
    return {"a": (0, 0), "b": (0, turn), "c": (0, turn)}


def _side(name: str, walk: Callable[[int], Words], turn: int) -> str:
    """All matrices at one turn, with what has come so far."""
    now, came = walk(turn), _lines(walk, turn)
    body = text(4, 16, name, 14, font_weight="bold")
    for array, corner in CORNERS.items():
        words = [
            (row, line * LINE + word)
            for of, row, line in came
            if of == array
            for word in range(LINE)
        ]
        touched = [now[array]] if array in now else []
        body += matrix(corner, SIDE, SIDE, SIZE, array)
        body += squares(corner, SIZE, words, PALE) + squares(corner, SIZE, touched, BLUE)
    lines = f"{len(came)} cache line{'s' * (len(came) != 1)}"
    body += text(4, TOP + 40, lines, 14, font_weight="bold") + text(4, TOP + 57, "have come")
    alt = f"Turn {turn + 1}, {name}: {lines} have come"
    return svg(8 + STEP + SIDE * SIZE, TOP + STEP + SIDE * SIZE + 6, body, alt, widest=330)


def _lines(walk: Callable[[int], Words], turn: int) -> list[tuple[str, int, int]]:
    """The cache lines that have come: array, row, number in the row."""
    touched = [(array, *word) for at in range(turn + 1) for array, word in walk(at).items()]
    return sorted({(array, row, column // LINE) for array, row, column in touched})


def _count(walk: Callable[[int], Words]) -> int:
    return len(_lines(walk, SIDE - 1))
