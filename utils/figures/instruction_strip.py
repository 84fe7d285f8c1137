"""Drawings of loops: one square per instruction, in order, coloured by what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Picture,
    legend,
    path,
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
WIDTH, PITCH = 416, 13
# Squares in a row: room for one iteration of `naive`, or of `unrolled` with UNROLL = 1.
ACROSS = WIDTH // PITCH
BETWEEN = 5  # pixels below an iteration of several rows
LONG = ", long"  # after a kind: drawn as long as two squares
WAITS = ", waits"  # after a kind: with a bar before it, because the warp waits there
# The steps of the source code for one term of the sum, and for the loop itself.
TERM = ("load", "load", "multiply-add")
LOOP_OVERHEAD = ("address or counter", "test or jump", "test or jump")

Iterations = Sequence[Sequence[str]]  # the kinds of the instructions in each iteration of a loop


def kind_of(opcode: str) -> str:
    """Return "load", "multiply-add", "test or jump", or "address or counter", a key of `COLOURS`.

    The opcodes of the first three kinds are listed in `_KINDS`; any other opcode is of the last.
    """
    return _KINDS.get(opcode.partition(".")[0], "address or counter")


def draw_idea() -> Picture:
    """Draw the steps of a sum of four terms: in four iterations, and in one unrolled iteration."""
    loops = {
        "one term per iteration": [TERM + LOOP_OVERHEAD] * 4,
        "all four in one iteration": [TERM * 4 + LOOP_OVERHEAD],
    }
    return _picture("Four terms of a sum", "steps", loops, pitch=20)


def draw_loops(
    title: str, loops: Mapping[str, tuple[Sequence[str], int]], twice: str = ""
) -> Picture:
    """Draw loops of machine code as coloured squares, each iteration on rows of its own.

    loops: name shown -> (the opcodes of one iteration, the number of iterations to draw). twice: an
    opcode that is drawn as long as two squares, because it takes two cycles of its unit.
    """
    kinds = {
        name: [[kind_of(code) + LONG * (code == twice) for code in codes]] * count
        for name, (codes, count) in loops.items()
    }
    return _picture(title, "instructions", kinds, pitch=PITCH)


def draw_waiting(title: str, loops: Mapping[str, Sequence[tuple[str, bool]]]) -> Picture:
    """Draw one iteration of each loop as large squares, with a bar before each wait.

    loops: name shown -> (opcode, True if the warp waits before it) of each instruction.
    """
    kinds = {
        name: [[kind_of(code) + WAITS * waits for code, waits in codes]]
        for name, codes in loops.items()
    }
    picture = _picture(title, "instructions", kinds, pitch=2 * PITCH)
    key = svg(
        WIDTH, 24, path("M6 3v15", stroke_width=3) + text(18, 16, "the warp waits for loads"),
        "Bar: the warp waits for loads.", widest=1.2 * WIDTH,
    )  # fmt: skip
    alt = " ".join(
        f"{name} waits before instructions "
        f"{', '.join(str(place) for place, (_, waits) in enumerate(codes, 1) if waits)}."
        for name, codes in loops.items()
    )
    return Picture(key + picture.body, f"{picture.alt} {alt}")


def _picture(title: str, unit: str, loops: Mapping[str, Iterations], pitch: int) -> Picture:
    """Draw loops as rows of squares, and return the picture with an alt text that counts them.

    unit: what one square is, such as "steps". loops: name shown -> kinds of the instructions in
    each iteration, with `LONG` after the kind for one as long as two, and `WAITS` after it for one
    with a bar before it. pitch: the distance between two squares in pixels.
    """
    body, y, sentences = text(0, 26, title, 14, font_weight="bold"), 51, []
    for name, iterations in loops.items():
        counts = Counter(
            kind.partition(",")[0] for iteration in iterations for kind in iteration
        )
        sentences.append(f"{name}: {counts.total()} {unit} ({_listed(counts)})")
        wraps = len(iterations[0]) > WIDTH // pitch
        body += text(0, y, f"{name}: {counts.total()} {unit}{_in(len(iterations), wraps)}", 13)
        y += 8
        for iteration in iterations:
            places = _places(iteration, WIDTH // pitch)
            for kind, (row, column) in zip(iteration, places, strict=True):
                width = pitch * (1 + kind.endswith(LONG)) - 1
                colour, top = COLOURS[kind.partition(",")[0]], y + row * (pitch + 3)
                body += rect(column * pitch, top, width, pitch - 1, colour)
                if kind.endswith(WAITS):
                    body += path(f"M{column * pitch - 0.5} {top - 4}v{pitch + 7}", stroke_width=3)
            rows = places[-1][0] + 1
            y += rows * (pitch + 3) + BETWEEN * (rows > 1)
        y += 24
    alt = f"{title}. {'. '.join(sentences)}."
    colours = legend(**{kind.replace(" ", "_"): colour for kind, colour in COLOURS.items()})
    return Picture(colours + svg(WIDTH, y - 24, body, alt, widest=1.2 * WIDTH), alt)


def _in(iterations: int, wraps: bool) -> str:
    """Return words such as " in 4 iterations", or "" for one iteration that fills one row.

    wraps: True if an iteration takes several rows.
    """
    if iterations > 1:
        return f" in {iterations} iterations"
    return " in 1 iteration" if wraps else ""


def _places(iteration: Sequence[str], across: int) -> list[tuple[int, int]]:
    """Return (row, column) of each instruction; a long kind takes two of the `across` columns."""
    places, row, column = [], 0, 0
    for kind in iteration:
        width = 1 + kind.endswith(LONG)
        if column + width > across:
            row, column = row + 1, 0
        places.append((row, column))
        column += width
    return places


def _listed(counts: Counter) -> str:
    """Return the counts as text, such as "load 2, multiply-add 1", with all kinds of `COLOURS`."""
    return ", ".join(f"{kind} {counts[kind]}" for kind in COLOURS)
