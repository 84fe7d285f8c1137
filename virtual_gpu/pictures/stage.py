"""The stage of a film: an SVG of its arrays as grids, with the accesses of one step, its poster."""

from __future__ import annotations

import html

import numpy as np

from ..common.lanes import WARP
from ..counts.recorder import Event
from ..counts.transactions import SECTOR_BYTES
from .film import Film, FilmStep
from .grids import ArrayGrid
from .layout import EDGE, WIDTH, ArrayPlacement, Box, FilmLayout
from .step_bars import Bars, weights


def poster_of(film: Film, focus: str) -> int:
    """Return the index of the step that is drawn without scripts: the costliest for this focus.

    With the focus on reads, steps that access both global and shared memory come first. Of several
    equal steps it is the middle one.
    """
    scores = [
        (focus == "reads" and _copies(film, step), round(_height(bars, focus), 3))
        for step, bars in zip(film.steps, weights(film, focus), strict=True)
    ]
    best = [n for n, score in enumerate(scores) if score == max(scores)]
    return best[len(best) // 2]


def _copies(film: Film, step: FilmStep) -> bool:
    """Return True if a step accesses both global and shared memory."""
    arrays = {event.array for event in step.events if event.array}
    return len({film.grids[film.grid(name)].array.space for name in arrays}) > 1


def _height(bars: Bars, focus: str) -> float:
    """Return the height of a step's bars by which the poster is chosen for this focus.

    With the focus on sectors it is the height above the line, on banks that below it, and on reads
    the sum of both. Wavefronts that conflicts add count twice.
    """
    used, wasted, plain, extra = bars
    above, below = used + wasted, plain + 2 * extra
    return above * (focus != "banks") + below * (focus != "sectors")


def stage(film: Film, layout: FilmLayout, focus: str, warp: int | None, name: str) -> str:
    """Return an SVG of a film's arrays, with the accesses of the step that ``poster_of`` chooses.

    Only accesses of ``warp`` are drawn, or with None those of all warps. ``name`` is the prefix of
    the ids in the SVG.
    """
    poster = poster_of(film, focus)
    parts = [_box(film, layout)]
    for number, (grid, place) in enumerate(zip(film.grids, layout.places, strict=True)):
        touches = [
            (event, _threads(event, warp))
            for event in film.steps[poster].events
            if event.array == grid.array.name
        ]
        cells = _trail(film, grid, place, poster, warp)
        cells += "".join(_touched(film, grid, place, *touch) for touch in touches)
        marks = ""
        if focus == "sectors" and grid.array.space == "global":
            hatch = f"url(#{name}-hatch)"
            marks = "".join(_sectors(grid, place, _elements(*touch), hatch) for touch in touches)
        field = _field(number, grid, place, layout.product)
        parts.append(field.replace("@CELLS@", cells).replace("@MARKS@", marks))
    return (
        f'<svg class="vm-stage" viewBox="0 0 {WIDTH} {layout.height:.0f}" role="img" '
        f'aria-label="{html.escape(film.name)}">{_definitions(film, name)}{"".join(parts)}</svg>'
    )


def colour(number: int, count: int) -> str:
    """Return the CSS colour of thread group ``number`` out of ``count``, from blue to pink."""
    hue = round(240 + (130 * number / (count - 1) if count > 1 else 0))
    return f"light-dark(oklch(57% .14 {hue}),oklch(64% .14 {hue}))"


def _definitions(film: Film, name: str) -> str:
    """Return the SVG definitions of a stage, whose ids begin with ``name``.

    They are the hatching of unused bytes (NAME-hatch), and the gradient of a cell that threads of
    all colours touch (NAME-all).
    """
    count, stops = film.colours, []
    for n in range(count):
        edges = (n / count, (n + 1) / count) if count <= 4 else (n / (count - 1),) * 2
        style = f'style="stop-color:{colour(n, count)}"'
        stops += [f'<stop offset="{edge:.3f}" {style}/>' for edge in edges]
    return (
        f'<defs><pattern id="{name}-hatch" width="4" height="4" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="4" height="4" class="thin"/>'
        f'<rect width="1" height="4" class="thick"/></pattern><linearGradient id="{name}-all" '
        f'x2="0" y2="1">{"".join(stops)}</linearGradient></defs>'
    )


def _box(film: Film, layout: FilmLayout) -> str:
    """Return the SVG of the box of shared memory, or "" if the layout has no room for one.

    If no array is in shared memory, the box says so.
    """
    box = layout.box
    has_shared = any(grid.array.space == "shared" for grid in film.grids)
    if box is None or (not has_shared and box.width < 120):
        return ""
    kind = "box" if has_shared else "box none"
    drawn = (
        f'<rect class="{kind}" x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" '
        f'height="{box.height:g}" rx="8"/>'
    )
    if layout.product:
        drawn += f'<text class="name" x="{EDGE}" y="14">shared memory</text>'
    return drawn if has_shared else drawn + _none(box)


def _none(box: Box) -> str:
    """Return an SVG text that says that no access goes to shared memory."""
    x, y = box.x + box.width / 2, box.y + box.height / 2
    words = ("none: every access", "goes to global memory")
    return "".join(
        f'<text class="soft mid" x="{x:g}" y="{y - 4 + 16 * n:g}">{word}</text>'
        for n, word in enumerate(words)
    )


def _field(number: int, grid: ArrayGrid, place: ArrayPlacement, product: bool) -> str:
    """Return an SVG group with the name and the empty grid of one array.

    It contains @CELLS@ and @MARKS@, which ``stage`` replaces by the drawn accesses. ``number`` is
    the index of the array. With ``product``, the memory space is left out of the name.
    """
    across, down = grid.size
    x, y, width, height = place.x, place.y, across * place.width, down * place.height
    shape = "×".join(map(str, grid.array.shape))
    whole = "" if grid.is_whole else ", part"
    space = "" if product else f" · {grid.array.space}"
    above = y - (22 if place.banks else 7)
    letters = len(grid.array.name + shape + whole + space) + 1
    label_x, anchor = (x, "start") if x + 6.4 * letters < WIDTH else (x + width, "end")
    label = (
        f'<text class="name" x="{label_x:g}" y="{above:g}" text-anchor="{anchor}">'
        f"{html.escape(grid.array.name)}"
        f'<tspan class="soft"> {shape}{whole}{space}</tspan></text>'
    )
    if place.banks:
        label += (
            f'<text class="soft" x="{x + width:g}" y="{above:g}" text-anchor="end">'
            "each column is a bank</text>"
        ) + "".join(
            f'<text class="tiny mid" x="{x + (n + 0.5) * place.width:g}" y="{y - 5:g}">{n}</text>'
            for n in (*range(0, 31, 4), 31)
        )
    return (
        f'<g data-array="{number}">{label}<rect class="field" x="{x:g}" y="{y:g}" '
        f'width="{width:g}" height="{height:g}"/><g class="cells">@CELLS@</g>'
        f'{_lines(grid, place)}<g class="marks">@MARKS@</g></g>'
    )


def _lines(grid: ArrayGrid, place: ArrayPlacement) -> str:
    """Return SVG paths: the lines between cells, and those where a global sector begins.

    Between small cells there is a line only after every eighth. The lines of sectors are left out
    if a row of memory is not made of whole sectors, or if an element fills a sector.
    """
    across, down = grid.size
    x, y, width, height = place.x, place.y, across * place.width, down * place.height
    spacing = 1 if min(place.width, place.height) >= 5 or place.banks else 8
    upright = range(spacing, across, spacing)
    level = range(1 if place.height >= 5 else 8, down, 1 if place.height >= 5 else 8)
    thin = "".join(f"M{x + n * place.width:g} {y:g}v{height:g}" for n in upright)
    thin += "".join(f"M{x:g} {y + n * place.height:g}h{width:g}" for n in level)
    words = max(1, SECTOR_BYTES // grid.array.itemsize)
    drawn = f'<path class="lines" d="{thin}"/>'
    if grid.array.space != "global" or grid.wrap % words or words == 1:
        return drawn
    first = grid.columns % words == 0
    if grid.down:
        bold = [f"M{x:g} {y + n * place.height:g}h{width:g}" for n in np.flatnonzero(first) if n]
    else:
        bold = [f"M{x + n * place.width:g} {y:g}v{height:g}" for n in np.flatnonzero(first) if n]
    return drawn + f'<path class="sectors" d="{"".join(bold)}"/>'


def _threads(event: Event, warp: int | None) -> np.ndarray:
    """Return the numbers of the threads that take part in an event, ascending.

    They are those of ``warp``, or with None those of all warps.
    """
    threads = np.flatnonzero(event.first >= 0)
    return threads if warp is None else threads[threads // WARP == warp]


def _touched(
    film: Film, grid: ArrayGrid, place: ArrayPlacement, event: Event, threads: np.ndarray
) -> str:
    """Return an SVG of the elements that these threads touch, each in its thread's colour."""
    colours = film.colour_of(threads)
    return "".join(
        _cells(
            grid,
            place,
            _elements(event, threads[colours == number]),
            f'style="fill:{colour(number, film.colours)}"',
        )
        for number in np.unique(colours)[::-1]
    )


def _trail(
    film: Film, grid: ArrayGrid, place: ArrayPlacement, last: int, warp: int | None
) -> str:
    """Return an SVG of the array's elements that were read up to and including the step ``last``.

    The more often an element was read since it was written, the darker it is. Only reads by
    ``warp`` count, or with None those by all warps.
    """
    reads = np.zeros(grid.lengths[0] * grid.wrap, int)
    for step in film.steps[: last + 1]:
        for event in step.events:
            threads = _threads(event, warp)
            if event.array == grid.array.name and event.kind == "load":
                on = event.first[threads]
                np.add.at(reads, (on[:, None] + np.arange(event.width)).ravel(), 1)
            elif event.array == grid.array.name:
                reads[_elements(event, threads)] = 0
    top = max(4, int(reads.max()))
    return "".join(
        _cells(
            grid,
            place,
            np.flatnonzero(reads == level),
            f'class="seen" fill-opacity="{0.08 + 0.24 * level / top:.2f}"',
        )
        for level in np.unique(reads[reads > 0])
    )


def _elements(event: Event, threads: np.ndarray) -> np.ndarray:
    """Return the indices of the elements that these threads touch, distinct and ascending."""
    return np.unique(event.first[threads][:, None] + np.arange(event.width))


def _sectors(grid: ArrayGrid, place: ArrayPlacement, used: np.ndarray, hatch: str) -> str:
    """Return an SVG that outlines the sectors of the ``used`` elements and hatches unused elements.

    ``hatch`` is the SVG fill of the unused elements.
    """
    words = max(1, SECTOR_BYTES // grid.array.itemsize)
    parts = []
    for sector in np.unique(used // words):
        whole = np.arange(sector * words, (sector + 1) * words)
        waste = np.setdiff1d(whole, used)
        if len(waste):
            parts.append(_cells(grid, place, waste, f'fill="{hatch}"'))
        look = f'class="sector{"" if len(waste) else " whole"}"'
        parts.append(_cells(grid, place, whole, look))
    return "".join(parts)


def _cells(grid: ArrayGrid, place: ArrayPlacement, elements: np.ndarray, look: str) -> str:
    """Return one SVG path over the drawn cells of these elements, or "" if none is drawn.

    Neighbours in a row become one rectangle. ``look`` holds the path's SVG attributes.
    """
    cells = grid.cells(elements)
    if not len(cells):
        return ""
    cells = cells[np.lexsort((cells[:, 0], cells[:, 1]))]
    gaps = (np.diff(cells[:, 0]) != 1) | (np.diff(cells[:, 1]) != 0)
    path = ""
    for run in np.split(cells, np.flatnonzero(gaps) + 1):
        x, y = place.x + run[0, 0] * place.width, place.y + run[0, 1] * place.height
        wide = len(run) * place.width
        path += f"M{x:g} {y:g}h{wide:g}v{place.height:g}h{-wide:g}z"
    return f'<path d="{path}" {look}/>'
