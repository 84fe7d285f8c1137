"""Pictures of two loop orders: the words that an iteration touches, and the cache lines loaded."""

from __future__ import annotations

from collections.abc import Callable

from utils.figures.matrices import matrix, squares
from virtual_gpu.pictures.svg import BLUE, PALE, Picture, frames, legend, svg, text

SIDE = 8  # words per row
LINE = 4  # words per cache line in this picture
SIZE, GAP, TOP = 14, 26, 40
# Corners of the matrices in one drawing: a is on the left of c, b is above it.
STEP = SIDE * SIZE + GAP
CORNERS = {"a": (4, TOP + STEP), "b": (4 + STEP, TOP), "c": (4 + STEP, TOP + STEP)}
Words = dict[str, tuple[int, int]]  # (row, column) of a word, by array


def draw_loop_orders() -> Picture:
    """Draw the cache lines that a product loads with k innermost and with n innermost.

    A slider selects one of the first eight iterations of the innermost loop. Each drawing shows the
    words that the iteration touches and all cache lines loaded so far.
    """
    orders = {"k innermost": _along_k, "n innermost": _along_n}
    rows = [
        "".join(_panel(name, order, iteration) for name, order in orders.items())
        for iteration in range(SIDE)
    ]
    drawings = [f'<div class="row">{row}</div>' for row in rows]
    labels = [f"iteration {iteration + 1} of {SIDE}" for iteration in range(SIDE)]
    alt_text = (
        f"Matrices of {SIDE}×{SIDE} words and cache lines of {LINE} words; row 0 of c is computed. "
        "With k innermost, the loop goes along row 0 of a and down column 0 of b, for one element "
        f"of c, which is stored at the end: after {SIDE} iterations {_count(_along_k)} cache lines "
        "have come. With n innermost, it takes one element of a and goes along row 0 of b and row "
        f"0 of c: {_count(_along_n)} have come."
    )
    key = legend(touched_in_this_iteration=BLUE, came_with_it_or_before=PALE)
    return Picture(key + frames(drawings, labels, "Iteration of the innermost loop"), alt_text)


def _along_k(iteration: int) -> Words:
    """Return array -> (row, column) of the word that an iteration touches, with k innermost.

    Only the final iteration touches c, because it stores the sum.
    """
    stored = {"c": (0, 0)} if iteration == SIDE - 1 else {}
    return {"a": (0, iteration), "b": (iteration, 0), **stored}


def _along_n(iteration: int) -> Words:
    """Return array -> (row, column) of the word that an iteration touches, with n innermost."""
    return {"a": (0, 0), "b": (0, iteration), "c": (0, iteration)}


def _panel(name: str, order: Callable[[int], Words], iteration: int) -> str:
    """Return an SVG of a, b and c at one iteration of a loop order.

    The words that the iteration touches and the cache lines loaded so far are highlighted. order:
    takes the index of an iteration, and returns the words that it touches.
    """
    now, loaded = order(iteration), _lines(order, iteration)
    body = text(4, 16, name, 14, font_weight="bold")
    for array, corner in CORNERS.items():
        words = [
            (row, line * LINE + word)
            for loaded_array, row, line in loaded
            if loaded_array == array
            for word in range(LINE)
        ]
        touched = [now[array]] if array in now else []
        body += matrix(corner, SIDE, SIDE, SIZE, array)
        body += squares(corner, SIZE, words, PALE) + squares(corner, SIZE, touched, BLUE)
    lines = f"{len(loaded)} cache line{'s' * (len(loaded) != 1)}"
    body += text(4, TOP + 40, lines, 14, font_weight="bold") + text(4, TOP + 57, "have come")
    alt = f"Turn {iteration + 1}, {name}: {lines} have come"
    return svg(8 + STEP + SIDE * SIZE, TOP + STEP + SIDE * SIZE + 6, body, alt, widest=330)


def _lines(order: Callable[[int], Words], iteration: int) -> list[tuple[str, int, int]]:
    """Return the distinct cache lines loaded up to and including an iteration, in sorted order.

    A cache line is (array, row, index of the line within the row).
    """
    touched = [(array, *word) for at in range(iteration + 1) for array, word in order(at).items()]
    return sorted({(array, row, column // LINE) for array, row, column in touched})


def _count(order: Callable[[int], Words]) -> int:
    """Return the number of different cache lines that the first eight iterations load together."""
    return len(_lines(order, SIDE - 1))
