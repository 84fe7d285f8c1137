"""Pictures of one thread that computes several columns of c: its order of loads."""

from __future__ import annotations

from utils.figures.matrices import matrix, squares
from virtual_gpu.pictures.svg import BLUE, GREEN, PALE, PURPLE, Picture, frames, legend, svg, text

COLUMNS, K, SIZE = 4, 6, 20
# The upper left corners of the matrices, and the size of the picture.
B = (K * SIZE + 34, 44)
A, C = (4, B[1] + K * SIZE + 30), (B[0], B[1] + K * SIZE + 30)
WIDTH, HEIGHT = B[0] + COLUMNS * SIZE + 6, C[1] + SIZE + 34


def draw_orders() -> Picture:
    """Draw a thread's loads with two loop orders next to each other, with a slider.

    The thread computes four elements of a row of c. The loop over the columns is the outer one in
    one order, and the inner one in the other. The slider moves through the multiply-adds, and each
    drawing counts the loads of a and b so far.
    """
    outside = [(k, column) for column in range(COLUMNS) for k in range(K)]
    inside = sorted(outside)
    pictures = [
        f'<div class="row">{_moment("column by column", outside[: at + 1], kept=False)}'
        f"{_moment('iteration by iteration', inside[: at + 1], kept=True)}</div>"
        for at in range(COLUMNS * K)
    ]
    labels = [f"multiply-add {at + 1} of {COLUMNS * K}" for at in range(COLUMNS * K)]
    alt = (
        f"One thread with {COLUMNS} columns and a sum of {K} terms. Column by column it reads the "
        f"row of a {COLUMNS} times: {COLUMNS * K} loads of a and {COLUMNS * K} of b. Iteration by "
        f"iteration it reads the row of a once: {K} loads of a and {COLUMNS * K} of b."
    )
    colours = legend(adds_to=PURPLE, loads=BLUE, has_in_a_register=GREEN, loaded_before=PALE)
    return Picture(colours + frames(pictures, labels, "multiply-add"), alt)


def _moment(title: str, done: list[tuple[int, int]], kept: bool) -> str:
    """Return an SVG of a thread's operands and loads at one multiply-add of its sequence.

    `done` are the multiply-adds so far, each as (k, column), and the last one is the current one.
    If `kept`, all sums and the current element of a stay in registers.
    """
    k, column = done[-1]
    before = [pair for pair in done[:-1] if pair[0] == k]
    reused = kept and bool(before)
    a_loads = len({at for at, _ in done}) if kept else len(done)
    body = text(4, 16, title, 14, font_weight="bold") + _matrices()
    body += squares(A, SIZE, sorted({(0, at) for at, _ in done} - {(0, k)}), PALE)
    body += squares(A, SIZE, [(0, k)], GREEN if reused else BLUE)
    body += squares(B, SIZE, done[:-1], PALE) + squares(B, SIZE, [(k, column)], BLUE)
    sums = [(0, other) for other in range(COLUMNS) if kept and other != column]
    body += squares(C, SIZE, sums, GREEN) + squares(C, SIZE, [(0, column)], PURPLE)
    caption = f"loads so far: {a_loads} of a, {len(done)} of b"
    body += text(4, C[1] + SIZE + 24, caption, 13)
    return svg(WIDTH, HEIGHT, body, f"{title}: {caption}", widest=270)


def _matrices() -> str:
    """Return the SVG of the empty matrices a, b and c."""
    return (
        matrix(A, 1, K, SIZE, "a 1 row")
        + matrix(B, K, COLUMNS, SIZE, "b 4 columns")
        + matrix(C, 1, COLUMNS, SIZE, "c")
    )
