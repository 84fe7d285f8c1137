"""A picture of the elements of c that two threads compute: neighbours, or four patches each."""

from __future__ import annotations

from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, Picture, legend, rect, svg, text

ROWS, COLUMNS = 32, 64  # elements: of the tile that a warp computes
SIDE, PATCH = 8, 4  # elements: of a thread, of a patch
THREADS = {"thread 0": ORANGE, "thread 1": BLUE}
_UNIT, _TOP, _BAR = 5, 62, 10  # pixels; _UNIT is one element


def draw_patches() -> Picture:
    """Draw which elements of a warp's tile two threads compute, and the words of b they read first.

    In one panel each thread has 8×8 neighbouring elements, and in the other four patches of 4×4
    that are half a tile apart.
    """
    panels = "".join(_panel(title, places) for title, places in places_of().items())
    alt = (
        f"A tile of {ROWS}×{COLUMNS} elements of c. With {SIDE}×{SIDE} neighbours per thread, "
        f"thread 0 first reads the words 0 to {PATCH - 1} of b, and thread 1 the words {SIDE} to "
        f"{SIDE + PATCH - 1}. With four patches of {PATCH}×{PATCH}, half a tile apart, thread 1 "
        f"reads the words {PATCH} to {2 * PATCH - 1}, which are beside those of thread 0."
    )
    colours = legend(thread_0=ORANGE, thread_1=BLUE)
    return Picture(f'{colours}<div class="row">{panels}</div>', alt)


def places_of() -> dict[str, list[list[tuple[int, int]]]]:
    """Return title -> per thread the (row, column) in elements at which its patches begin."""
    neighbours, down, across = (0, PATCH), (0, ROWS // 2), (0, COLUMNS // 2)
    return {
        "8×8 neighbours": [
            [(i, t * SIDE + j) for i in neighbours for j in neighbours]
            for t in range(len(THREADS))
        ],
        "four patches of 4×4": [
            [(i, t * PATCH + j) for i in down for j in across] for t in range(len(THREADS))
        ],
    }


def _panel(title: str, places: list[list[tuple[int, int]]]) -> str:
    """Return SVG of the tile and the patches of two threads. places: as in `places_of`."""
    width, height = COLUMNS * _UNIT, ROWS * _UNIT
    body = text(0, 15, title, 13, font_weight="bold") + text(0, 36, "words of b, first read", 12)
    body += rect(0, 44, width, _BAR, "none", stroke=GREY)
    body += rect(0, _TOP, width, height, "none", stroke=GREY)
    for colour, patches in zip(THREADS.values(), places, strict=True):
        first = min(column for _, column in patches)
        body += rect(first * _UNIT, 44, PATCH * _UNIT - 1, _BAR, colour)
        for row, column in patches:
            x, y = column * _UNIT, _TOP + row * _UNIT
            body += rect(x, y, PATCH * _UNIT - 1, PATCH * _UNIT - 1, colour)
    return svg(width + 2, _TOP + height + 4, body, title, widest=400)
