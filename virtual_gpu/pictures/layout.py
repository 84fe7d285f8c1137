"""Positions of the arrays in the picture of a film. Lengths are in units; it is WIDTH wide."""

from __future__ import annotations

from dataclasses import dataclass

from ..counts.transactions import BANK_BYTES, BANKS
from .film import Film
from .grids import ArrayGrid

WIDTH = 404
EDGE = 4
BETWEEN = 24
HEAD = 22  # above an array, for its name
LARGEST = 23  # the largest cell
CORNER = 112  # the least width of the box of shared memory beside a product
FIELD = WIDTH - 2 * EDGE - BETWEEN


@dataclass(frozen=True)
class ArrayPlacement:
    """The place of an array: its upper left corner (``x``, ``y``) and the size of one cell.

    ``width`` and ``height`` are those of a cell. ``banks`` is True if each column of cells is a
    bank of shared memory.
    """

    x: float
    y: float
    width: float
    height: float
    banks: bool = False


@dataclass(frozen=True)
class Box:
    """The rectangle around the arrays in shared memory; (``x``, ``y``) is its upper left corner.

    ``width`` and ``height`` are in the units of the layout.
    """

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class FilmLayout:
    """The placement of each array of a film, the box of shared memory, and the whole height.

    ``places`` is in the order of the film's grids, and ``box`` is None if nothing is in shared
    memory. ``product`` is True if the arrays are drawn as a matrix product: b is above c and a is
    to the left of c, with the box in the corner between them.
    """

    places: tuple[ArrayPlacement, ...]
    box: Box | None
    height: float
    product: bool


def layout_of(film: Film, focus: str) -> FilmLayout:
    """Return the layout of a film: a matrix product as on paper, other arrays in rows.

    A film has a matrix product if its only arrays in global memory are a (m×k), b (k×n) and c
    (m×n) in C order, and at most four arrays are in shared memory. With the focus on banks, all
    arrays are in rows.
    """
    product = _product(film.grids) if focus != "banks" else None
    return _as_product(film.grids, product) if product else _in_rows(film.grids)


def _product(grids: tuple[ArrayGrid, ...]) -> tuple[ArrayGrid, ArrayGrid, ArrayGrid] | None:
    """Return the grids of a (m×k), b (k×n) and c (m×n), or None if this is no matrix product.

    It is one if global memory holds just these three matrices in C order, in the alphabetical order
    of their names, and shared memory holds at most four arrays.
    """
    matrices = [g for g in grids if g.array.space == "global" and not g.flat and not g.down]
    others = [g for g in grids if g.array.space == "global" and (g.flat or g.down)]
    shared = len(grids) - len(matrices)
    if len(matrices) != 3 or others or shared > 4:
        return None
    if any(len(grid.array.shape) != 2 for grid in matrices):
        return None
    a, b, c = sorted(matrices, key=lambda grid: grid.array.name)
    (m, k), (rows, n) = a.array.shape, b.array.shape
    return (a, b, c) if rows == k and c.array.shape == (m, n) else None


def _as_product(
    grids: tuple[ArrayGrid, ...], product: tuple[ArrayGrid, ArrayGrid, ArrayGrid]
) -> FilmLayout:
    """Return the layout of a matrix product: b is above c, and a to the left of c.

    Shared memory is in the corner between them. ``product`` are the grids of a, b and c, in this
    order.
    """
    a, b, c = product
    shared = [grid for grid in grids if grid not in product]
    k, (n, m) = max(a.size[0], b.size[1]), c.size
    least = CORNER if shared else 0
    cell = min(FIELD / (k + n), FIELD / (k + m), (FIELD - least) / n, LARGEST)
    corner = max(k * cell, least)
    left, top = EDGE + corner + BETWEEN, HEAD + corner + BETWEEN + 18
    box = Box(EDGE, HEAD, corner, corner)
    placements = {
        id(a): ArrayPlacement(EDGE + corner - a.size[0] * cell, top, cell, cell),
        id(b): ArrayPlacement(left, HEAD + corner - b.size[1] * cell, cell, cell),
        id(c): ArrayPlacement(left, top, cell, cell),
    }
    for grid, place in zip(shared, _in_corner(shared, box), strict=True):
        placements[id(grid)] = place
    return FilmLayout(tuple(placements[id(grid)] for grid in grids), box, top + m * cell + 6, True)


def _in_corner(shared: list[ArrayGrid], box: Box) -> list[ArrayPlacement]:
    """Return a placement in the box per shared array, in the same order.

    The first is at the lower left, the second at the upper right, the third at the upper left, and
    the fourth at the lower right.
    """
    available, placements = box.width * 0.4, []
    for number, grid in enumerate(shared):
        across, down = grid.size
        cell = available / max(across, down)
        right, low = number in (1, 3), number in (0, 3)
        x = box.x + (box.width - 8 - across * cell if right else 8)
        y = box.y + (box.height - 8 - down * cell if low else HEAD)
        placements.append(ArrayPlacement(x, y, cell, cell))
    return placements


def _in_rows(grids: tuple[ArrayGrid, ...]) -> FilmLayout:
    """Return a layout in rows: global memory on top, shared memory in its box below."""
    placements: dict[int, ArrayPlacement] = {}
    y = 0.0
    box = None
    for space in ("global", "shared"):
        of_space = [grid for grid in grids if grid.array.space == space]
        if not of_space:
            continue
        start, y = y, y + (20 if space == "shared" else 0)
        y = _place_in_rows(of_space, y, placements)
        if space == "shared":
            box = Box(EDGE - 2, start + 4, WIDTH - 2 * EDGE + 4, y - start)
            y += 8
    return FilmLayout(tuple(placements[id(grid)] for grid in grids), box, y + 6, False)


def _place_in_rows(
    grids: list[ArrayGrid], y: float, placements: dict[int, ArrayPlacement]
) -> float:
    """Place grids in rows from ``y`` on, and return the y below them.

    The placement of each grid is added to ``placements``, with ``id(grid)`` as its key. Arrays of
    one element are placed last.
    """
    left, below = float(EDGE + 4), y
    for grid in sorted(grids, key=lambda grid: grid.size == (1, 1)):
        across, down = grid.size
        banks = grid.array.space == "shared" and across * grid.array.itemsize == BANKS * BANK_BYTES
        width, height = _cell(grid)
        if left + across * width > WIDTH - EDGE:
            left, y = EDGE + 4, below
        top = y + HEAD + (14 if banks else 0)
        placements[id(grid)] = ArrayPlacement(left, top, width, height, banks and grid.flat)
        left += across * width + BETWEEN
        below = max(below, top + down * height + 12)
    return below


def _cell(grid: ArrayGrid) -> tuple[float, float]:
    """Return the width and the height of a cell of this grid, in units of the layout."""
    across, down = grid.size
    whole = WIDTH - 2 * EDGE - 8
    if grid.flat:
        width = min(whole / across, whole / 16)
        return width, min(20, max(5, 200 / down))
    length = min((whole - BETWEEN) / 2 / max(across, down), LARGEST)
    return length, length
