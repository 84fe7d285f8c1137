"""A picture of the elements of c that two threads compute: neighbours, or four patches each."""

from __future__ import annotations

from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, Picture, legend, rect, svg, text

TILE, SIDE, PATCH = 32, 8, 4  # elements: of the tile that is drawn, of a thread, of a patch
THREADS = {"thread 0": ORANGE, "thread 1": BLUE}
_UNIT, _TOP, _GAP, _BAR = 6, 62, 40, 10  # pixels; _UNIT is one element


def draw_patches() -> Picture:
    """Draw which elements of a tile of c two threads compute, and the words of b they read first.

    On the left each thread has 8×8 neighbouring elements, and on the right four patches of 4×4 that
    are half a tile apart.
    """
    body = "".join(
        _panel(number * (TILE * _UNIT + _GAP), title, places)
        for number, (title, places) in enumerate(places_of().items())
    )
    alt = (
        f"A tile of {TILE}×{TILE} elements of c. With {SIDE}×{SIDE} neighbours per thread, thread "
        f"0 first reads the words 0 to {PATCH - 1} of b, and thread 1 the words {SIDE} to "
        f"{SIDE + PATCH - 1}. With four patches of {PATCH}×{PATCH}, half a tile apart, thread 1 "
        f"reads the words {PATCH} to {2 * PATCH - 1}, which are beside those of thread 0."
    )
    width = 2 * TILE * _UNIT + _GAP + 2
    drawn = svg(width, _TOP + TILE * _UNIT + 4, body, alt, widest=480)
    return Picture(legend(thread_0=ORANGE, thread_1=BLUE) + drawn, alt)


def places_of() -> dict[str, list[list[tuple[int, int]]]]:
    """Return title -> per thread the (row, column) in elements at which its patches begin."""
    neighbours, half = (0, PATCH), (0, TILE // 2)
    return {
        "8×8 neighbours": [
            [(i, t * SIDE + j) for i in neighbours for j in neighbours]
            for t in range(len(THREADS))
        ],
        "four patches of 4×4": [
            [(i, t * PATCH + j) for i in half for j in half] for t in range(len(THREADS))
        ],
    }


def _panel(left: float, title: str, places: list[list[tuple[int, int]]]) -> str:
    side, body = TILE * _UNIT, text(left, 15, title, 13, font_weight="bold")
    body += text(left, 36, "words of b, first read", 12)
    body += rect(left, 44, side, _BAR, "none", stroke=GREY)
    body += rect(left, _TOP, side, side, "none", stroke=GREY)
    for colour, patches in zip(THREADS.values(), places, strict=True):
        first = min(column for _, column in patches)
        body += rect(left + first * _UNIT, 44, PATCH * _UNIT - 1, _BAR, colour)
        for row, column in patches:
            x, y = left + column * _UNIT, _TOP + row * _UNIT
            body += rect(x, y, PATCH * _UNIT - 1, PATCH * _UNIT - 1, colour)
    return body
