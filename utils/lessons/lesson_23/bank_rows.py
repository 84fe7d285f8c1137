"""Pictures of eight rows of 16 bytes over the banks, without and with a swizzle."""

from __future__ import annotations

from collections.abc import Iterable

from tensor_kernels.parts.swizzles import swizzle
from utils.figures.matrices import matrix, squares
from utils.figures.roles import MATRIX_A
from virtual_gpu.pictures.svg import ORANGE, Picture, frames, svg, text

ROWS = 8  # of one 8×8 part, which ldmatrix reads
CHUNK = 8  # elements of 16 bytes
GROUPS = 8  # of four banks each
LENGTHS = (8, 16, 32, 40, 64, 128)  # elements of a row
OPENS = 4
SIZE, LEFT, TOP = 34, 62, 80
WIDTH, HEIGHT = LEFT + GROUPS * SIZE + 6, TOP + ROWS * SIZE + 6
WHITE = "fill:#fff"
ASKED = 2  # the chunk that the pictures of a swizzle mark at first
WAYS = {"in order": False, "swizzled": True}


def draw_rows() -> Picture:
    """Draw the banks of eight rows' first chunks, with a slider over the length of a row."""
    drawn = [_rows(columns) for columns in LENGTHS]
    labels = [f"{columns} elements per row: {_counted(columns)}" for columns in LENGTHS]
    groups = _listed(group_of(row, LENGTHS[OPENS]) for row in range(ROWS))
    alt = (
        f"Eight rows over eight groups of four banks, and a slider over the length of a row. With "
        f"{LENGTHS[OPENS]} elements per row the first chunks of rows 0 to 7 are in groups "
        f"{groups}, so reading them takes {_counted(LENGTHS[OPENS])}."
    )
    return Picture(frames(drawn, labels, "length of a row", OPENS), alt)


def group_of(row: int, columns: int, chunk: int = 0, swizzled: bool = False) -> int:
    """Return the group of banks, 0 to 7, in which a tile keeps a chunk of a row.

    columns: the number of elements in a row. swizzled: True for the places of the course's swizzle.
    """
    column = chunk * CHUNK
    if swizzled:
        column = swizzle(columns).py_func(row, column)
    return (row * columns + column) // CHUNK % GROUPS


def draw_swizzle(columns: int = 64) -> Picture:
    """Draw where a tile keeps its chunks, in order and swizzled, with a slider over the chunks.

    columns: the number of elements in a row of the tile, 64 or 32.
    """
    chunks = range(columns // CHUNK)
    drawn = [
        f'<div class="row">{"".join(_chunks(columns, chunk, way) for way in WAYS)}</div>'
        for chunk in chunks
    ]
    where = ", and ".join(
        f"in groups {_listed(group_of(row, columns, ASKED, on) for row in range(ROWS))} {way}"
        for way, on in WAYS.items()
    )
    alt = (
        f"A tile with rows of {columns} elements over eight groups of four banks, and a slider "
        f"over the {len(chunks)} chunks of a row. Chunk {ASKED} of rows 0 to 7 is {where}."
    )
    return Picture(frames(drawn, [f"chunk {one}" for one in chunks], "chunk", ASKED), alt)


def wavefronts_in_order(columns: int) -> int:
    """Return the wavefronts that read a chunk of each of eight rows of a tile without a swizzle.

    columns: the number of elements in a row.
    """
    groups = [group_of(row, columns) for row in range(ROWS)]
    return max(map(groups.count, groups))


def _counted(columns: int) -> str:
    """Return the wavefronts that read eight chunks of a tile in order, such as "1 wavefront"."""
    most = wavefronts_in_order(columns)
    return f"{most} wavefront{'s' * (most > 1)}"


def _listed(groups: Iterable[int]) -> str:
    """Return numbers with commas between them."""
    return ", ".join(map(str, groups))


def _rows(columns: int) -> str:
    """Return the SVG of the first chunks of eight rows, for rows of this number of elements."""
    cells = [(row, group_of(row, columns)) for row in range(ROWS)]
    title = f"rows of {columns} float16, {2 * columns} bytes"
    body = _grid(title, "square: the first 8 elements of a row")
    body += squares((LEFT, TOP), SIZE, cells, MATRIX_A)
    body += "".join(_word(cell, cell[0], style=WHITE) for cell in cells)
    return svg(WIDTH, HEIGHT, body, title, widest=1.15 * WIDTH)


def _chunks(columns: int, chosen: int, way: str) -> str:
    """Return the SVG of all chunks of eight rows, with the chosen one of each row in orange.

    columns: of a row. way: a key of `WAYS`.
    """
    title = f"rows of {columns} float16, {way}"
    cells = {
        (row, group_of(row, columns, chunk, WAYS[way])): chunk
        for row in range(ROWS)
        for chunk in range(columns // CHUNK)
    }
    marked = [cell for cell, chunk in cells.items() if chunk == chosen]
    body = _grid(title, "number: a chunk of the row")
    body += squares((LEFT, TOP), SIZE, marked, ORANGE)
    for cell, chunk in cells.items():
        body += _word(cell, chunk, style=WHITE) if cell in marked else _word(cell, chunk)
    return svg(WIDTH, HEIGHT, body, f"{title}, chunk {chosen}", widest=WIDTH)


def _word(cell: tuple[int, int], word: int, **more: str) -> str:
    """Return the SVG of a number in the middle of a cell, which is (row, group)."""
    row, group = cell
    x, y = LEFT + (group + 0.5) * SIZE, TOP + (row + 0.5) * SIZE + 4
    return text(x, y, word, 12, "middle", **more)


def _grid(title: str, square: str) -> str:
    """Return the SVG of the empty grid of rows and groups of banks.

    title: the line above it. square: what a square or its number is.
    """
    body = text(0, 15, title, 14, font_weight="bold") + text(0, 35, square, 13)
    body += text(0, TOP - 24, "banks")
    for group in range(GROUPS):
        x = LEFT + (group + 0.5) * SIZE
        body += text(x, TOP - 24, f"{4 * group}", 11, "middle")
        body += text(x, TOP - 10, f"to {4 * group + 3}", 11, "middle")
    for row in range(ROWS):
        body += text(LEFT - 8, TOP + (row + 0.5) * SIZE + 4, f"row {row}", 12, "end")
    return body + matrix((LEFT, TOP), ROWS, GROUPS, SIZE, "")
