"""Pictures of eight rows of 16 bytes over the banks, without and with a swizzle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from utils.figures.matrices import matrix, squares
from utils.figures.roles import MATRIX_A
from virtual_gpu.pictures.svg import GREY, ORANGE, Picture, frames, svg, text

ROWS = 8  # of one 8×8 part, which ldmatrix reads
CHUNK = 8  # elements of 16 bytes
GROUPS = 8  # of four banks each
LENGTHS = (8, 16, 32, 40, 64, 128)  # elements of a row
OPENS = 4
SIZE, LEFT, TOP = 34, 62, 80
WIDTH, HEIGHT = LEFT + GROUPS * SIZE + 6, TOP + ROWS * SIZE + 6
WHITE = "fill:#fff"
ASKED = 2  # the chunk of each row that the picture of the swizzle marks


def draw_rows() -> Picture:
    """Draw the banks of eight rows' first chunks, with a slider over the length of a row."""
    drawn = [_rows(columns) for columns in LENGTHS]
    labels = [f"{columns} elements per row" for columns in LENGTHS]
    groups = ", ".join(str(group_of(row, LENGTHS[OPENS])) for row in range(ROWS))
    alt = (
        f"Eight rows over eight groups of four banks, and a slider over the length of a row. With "
        f"{LENGTHS[OPENS]} elements per row the first chunks of rows 0 to 7 are in groups {groups}."
    )
    return Picture(frames(drawn, labels, "length of a row", OPENS), alt)


def group_of(row: int, columns: int) -> int:
    """Return the group of banks, 0 to 7, in which a row's first chunk is. columns: of a row."""
    return row * (columns // CHUNK) % GROUPS


def draw_swizzle() -> Picture:
    """Draw where a tile with rows of 64 elements keeps its chunks, without and with a swizzle."""
    ways = {"chunks in order": lambda row, chunk: chunk, "swizzled": swizzled}
    drawn = [_chunks(name, place) for name, place in ways.items()]
    alt = (
        "Eight rows of eight chunks over eight groups of four banks. In order, chunk "
        f"{ASKED} of every row is in group {ASKED}. Swizzled, the eight chunks {ASKED} are in "
        "eight different groups."
    )
    return Picture(frames(drawn, list(ways), "places of the chunks", 0), alt)


def swizzled(row: int, chunk: int) -> int:
    """Return the group in which the swizzled tile keeps a chunk of a row."""
    return chunk ^ row % ROWS


def _rows(columns: int) -> str:
    """Return the SVG of the first chunks of eight rows, for rows of this number of elements."""
    cells = [(row, group_of(row, columns)) for row in range(ROWS)]
    title = f"rows of {columns} float16, {2 * columns} bytes"
    names = [f"row {row}" for row in range(ROWS)]
    return _grid((title, "square: the first 8 elements of a row"), [(cells, names, MATRIX_A)])


def _chunks(title: str, place: Callable[[int, int], int]) -> str:
    """Return the SVG of all chunks of eight rows, those of one number in another colour."""
    rows = range(ROWS)
    rest = [(row, chunk) for row in rows for chunk in range(GROUPS) if chunk != ASKED]
    parts = []
    for chosen, colour in (([(row, ASKED) for row in rows], ORANGE), (rest, GREY)):
        cells = [(row, place(row, chunk)) for row, chunk in chosen]
        parts.append((cells, [str(chunk) for _, chunk in chosen], colour))
    return _grid((f"rows of 64 float16, {title}", "square: a chunk, by its number"), parts)


def _grid(titles: tuple[str, str], parts: Sequence[tuple[list, list[str], str]]) -> str:
    """Return the SVG of the grid of rows and groups of banks with named squares.

    titles: the title, and what a square is. parts: the (row, group) of squares, their words, and
    their colour.
    """
    at = (LEFT, TOP)
    title, square = titles
    body = text(0, 15, title, 14, font_weight="bold") + text(0, 35, square, 13)
    body += text(0, TOP - 24, "banks")
    for group in range(GROUPS):
        x = LEFT + (group + 0.5) * SIZE
        body += text(x, TOP - 24, f"{4 * group}", 11, "middle")
        body += text(x, TOP - 10, f"to {4 * group + 3}", 11, "middle")
    for row in range(ROWS):
        body += text(LEFT - 8, TOP + (row + 0.5) * SIZE + 4, f"row {row}", 12, "end")
    body += matrix(at, ROWS, GROUPS, SIZE, "")
    for cells, words, colour in parts:
        body += squares(at, SIZE, cells, colour)
        for (row, group), word in zip(cells, words, strict=True):
            x, y = LEFT + (group + 0.5) * SIZE, TOP + (row + 0.5) * SIZE + 4
            body += text(x, y, word.removeprefix("row "), 12, "middle", style=WHITE)
    return svg(WIDTH, HEIGHT, body, title, widest=1.15 * WIDTH)
