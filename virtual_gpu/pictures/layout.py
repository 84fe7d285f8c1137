"""Where the arrays of a film stand. Lengths are units of a picture that is WIDTH of them wide."""

from __future__ import annotations

from dataclasses import dataclass

from ..counts.transactions import BANK_BYTES, BANKS
from .film import Film
from .grids import Grid

WIDTH = 404
EDGE = 4
BETWEEN = 24
HEAD = 22  # above an array, for its name
LARGEST = 23  # a cell
CORNER = 112  # the least room for shared memory beside a product
FIELD = WIDTH - 2 * EDGE - BETWEEN


@dataclass(frozen=True)
class Place:
    """The left upper corner of an array, and its cells' width and height.

    banks: each column of cells is a bank of shared memory.
    """

    x: float
    y: float
    width: float
    height: float
    banks: bool = False


@dataclass(frozen=True)
class Box:
    """The room of shared memory."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """A place for each array of the film, the box of shared memory, and the whole height.

    product: b stands over c and a beside c, with the box in the corner between them.
    """

    places: tuple[Place, ...]
    box: Box | None
    height: float
    product: bool


def layout_of(film: Film, focus: str) -> Layout:
    """A product as it is drawn on paper; else arrays below and beside each other."""
    product = _product(film.grids) if focus != "banks" else None
    return _as_product(film.grids, product) if product else _in_rows(film.grids)


def _product(grids: tuple[Grid, ...]) -> tuple[Grid, Grid, Grid] | None:
    """The grids of a, b and c, if these are the matrices in global memory: c is m×n, a m×k, b k×n.
    """
    matrices = [g for g in grids if g.array.space == "global" and not g.flat and not g.down]
    others = [g for g in grids if g.array.space == "global" and (g.flat or g.down)]
    shared = len(grids) - len(matrices)
    if len(matrices) != 3 or others or shared > 4:
        return None
    a, b, c = sorted(matrices, key=lambda grid: grid.array.name)
    (m, k), (rows, n) = a.array.shape, b.array.shape
    return (a, b, c) if rows == k and c.array.shape == (m, n) else None


def _as_product(grids: tuple[Grid, ...], product: tuple[Grid, Grid, Grid]) -> Layout:
    a, b, c = product
    shared = [grid for grid in grids if grid not in product]
    k, (n, m) = max(a.size[0], b.size[1]), c.size
    least = CORNER if shared else 0
    cell = min(FIELD / (k + n), FIELD / (k + m), (FIELD - least) / n, LARGEST)
    corner = max(k * cell, least)
    left, top = EDGE + corner + BETWEEN, HEAD + corner + BETWEEN + 18
    box = Box(EDGE, HEAD, corner, corner)
    at = {
        id(a): Place(EDGE + corner - a.size[0] * cell, top, cell, cell),
        id(b): Place(left, HEAD + corner - b.size[1] * cell, cell, cell),
        id(c): Place(left, top, cell, cell),
    }
    for grid, place in zip(shared, _in_corner(shared, box), strict=True):
        at[id(grid)] = place
    return Layout(tuple(at[id(grid)] for grid in grids), box, top + m * cell + 6, True)


def _in_corner(shared: list[Grid], box: Box) -> list[Place]:
    """The first over a, the second beside b, others in the corners that are left."""
    room, places = box.width * 0.4, []
    for number, grid in enumerate(shared):
        across, down = grid.size
        cell = room / max(across, down)
        right, low = number in (1, 3), number in (0, 3)
        x = box.x + (box.width - 8 - across * cell if right else 8)
        y = box.y + (box.height - 8 - down * cell if low else HEAD)
        places.append(Place(x, y, cell, cell))
    return places


def _in_rows(grids: tuple[Grid, ...]) -> Layout:
    """Global memory above, shared memory in its box below; two matrices beside each other."""
    at: dict[int, Place] = {}
    y = 0.0
    box = None
    for space in ("global", "shared"):
        wanted = [grid for grid in grids if grid.array.space == space]
        if not wanted:
            continue
        start, y = y, y + (20 if space == "shared" else 0)
        y = _filled(wanted, y, at)
        if space == "shared":
            box = Box(EDGE - 2, start + 4, WIDTH - 2 * EDGE + 4, y - start)
            y += 8
    return Layout(tuple(at[id(grid)] for grid in grids), box, y + 6, False)


def _filled(grids: list[Grid], y: float, at: dict[int, Place]) -> float:
    """Places for these grids from y on; returns where the next may begin."""
    left, below = float(EDGE + 4), y
    for grid in sorted(grids, key=lambda grid: grid.size == (1, 1)):
        across, down = grid.size
        banks = grid.array.space == "shared" and across * grid.array.itemsize == BANKS * BANK_BYTES
        width, height = _cell(grid)
        if left + across * width > WIDTH - EDGE:
            left, y = EDGE + 4, below
        top = y + HEAD + (14 if banks else 0)
        at[id(grid)] = Place(left, top, width, height, banks and grid.flat)
        left += across * width + BETWEEN
        below = max(below, top + down * height + 12)
    return below


def _cell(grid: Grid) -> tuple[float, float]:
    across, down = grid.size
    whole = WIDTH - 2 * EDGE - 8
    if grid.flat:
        width = min(whole / across, whole / 16)
        return width, min(20, max(5, 200 / down))
    side = min((whole - BETWEEN) / 2 / max(across, down), LARGEST)
    return side, side
