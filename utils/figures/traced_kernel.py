"""A picture of a traced kernel: its source with counts, its findings, and its lanes × banks.

``python -m utils.figures.readme`` writes it for README.md and the site's first page.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from utils.figures.transpose_without_barrier import transpose
from virtual_gpu import Finding, Trace, trace
from virtual_gpu.counts.hints import Hint
from virtual_gpu.pictures.accesses import lanes_by_banks, plain
from virtual_gpu.pictures.annotate import COLUMNS, AnnotatedSource, Column
from virtual_gpu.pictures.svg import BLUE, INDENT, ORANGE, rect, text

NAME = "traced_kernel"
SIDE = 32  # of the matrix: one tile, one block
WIDTH = 700
INKS = {"light": "#1f2328", "dark": "#e6edf3"}
PAPERS = {"light": "#ffffff", "dark": "#0d1117"}
_MONOSPACE = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_CODE, _SMALL = 13, 12  # font sizes
_MARGIN, _NUMBER, _COLUMN = 10, 34, 53  # widths
_ROW, _LINE = 21, 17  # heights
_WRAPPED = 92  # characters of a line of a sentence
_BANKS = (420, 258)  # width and height of the drawing of `lanes_by_banks`


@dataclass(frozen=True)
class _Part:
    """A part of the picture.

    body: SVG elements that begin at y = 0. height: in pixels.
    """

    body: str
    height: float


@cache
def traced() -> Trace:
    """Return the Trace of `transpose` for one tile, made once per process."""
    x = np.ones((SIDE, SIDE), np.float32)
    return trace(transpose, (1, 1), (SIDE, SIDE), x, np.zeros_like(x))


def alt_text() -> str:
    """Return the alt text of the picture."""
    listing = traced().listing()
    return (
        f"The source of the kernel {transpose.__name__} with counts beside its lines, as the "
        f"virtual GPU explains a launch. It reports: {listing.findings[0]} The picture below "
        f"shows why line {listing.hints[0].site.line} needs {_wavefronts()} wavefronts per request."
    )


def _wavefronts() -> int:
    """Return the mean number of wavefronts per request of the loads from the tile, as an int."""
    totals = traced().accesses.query("array == 'tile' and kind == 'load'").sum(numeric_only=True)
    return int(totals["wavefronts"] / totals["requests"])


def svg_text(ground: str) -> str:
    """Return the picture as the text of an SVG file, for a "light" or a "dark" page."""
    listing = traced().listing()
    parts = [_source(listing), *_notes(listing), _banks(traced())]
    body, y = [], _MARGIN
    for part in parts:
        body.append(f'<g transform="translate(0 {y:g})">{part.body}</g>')
        y += part.height + 8
    label = alt_text().replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:g}" width="{WIDTH}" '
        f'height="{y:g}" role="img" aria-label="{label}" color="{INKS[ground]}" '
        f'fill="{INKS[ground]}" font-family="system-ui, sans-serif">'
        f"{rect(0, 0, WIDTH, y, PAPERS[ground])}{''.join(body)}</svg>\n"
    )


def _source(listing: AnnotatedSource) -> _Part:
    """Return the part with the kernel's source: its lines with their counts, framed at findings."""
    counts = listing.by_place()
    columns = [c for c in COLUMNS if any(c.read(count) for count in counts.values())]
    flawed = {finding.line for finding in listing.findings}
    section = listing.sections[0]
    rows = list(section.rows())
    drawn = [*_heads(columns)]
    for at, (number, code) in enumerate(rows):
        y = 34 + at * _ROW
        drawn.append(_code_line(y, number, code))
        count = counts.get((section.file, number))
        for place, column in enumerate(columns):
            if count and column.read(count):
                total = sum(column.read(each) for each in counts.values())
                drawn.append(_count(_right_edge(place, columns), y, column.read(count), total))
        if number in flawed:
            frame = {"stroke": ORANGE, "stroke_width": 2}
            wide = _MARGIN + _NUMBER - 6, _right_edge(-1, columns) - _MARGIN - _NUMBER + 4
            drawn.append(rect(wide[0], y + 1, wide[1], _ROW - 2, "none", **frame))
    return _Part("".join(drawn), 34 + len(rows) * _ROW)


def _right_edge(place: int, columns: list[Column]) -> float:
    """Return x of the right edge of the column of counts with the index `place`."""
    return WIDTH - _MARGIN - (len(columns) - 1 - place) * _COLUMN


def _heads(columns: list[Column]) -> Iterator[str]:
    """Yield the SVG of each word in the columns' titles, one word below the other."""
    for place, column in enumerate(columns):
        for line, word in enumerate(column.title.replace("-", "- ").split()):
            yield text(_right_edge(place, columns) - 4, 12 + 14 * line, word, 11, "end")


def _code_line(y: float, number: int, code: str) -> str:
    """Return the SVG of a source line with its number. y: the top of its row in pixels."""
    look = {"font_family": _MONOSPACE}
    spaces = len(code) - len(code.lstrip())
    words = INDENT * spaces + code.lstrip()
    return text(_MARGIN + _NUMBER - 14, y + 15, number, _CODE, "end", opacity=0.7, **look) + text(
        _MARGIN + _NUMBER, y + 15, words, _CODE, **look
    )


def _count(right: float, y: float, value: float, total: float) -> str:
    """Return the SVG of a count, on a background that is darker the larger its share of `total`.

    right: x of the column's right edge. y: the top of the row. value: the count. total: the sum of
    the column.
    """
    shade = {"fill_opacity": f"{0.08 + 0.4 * value / total:.2f}"}
    return rect(right - 45, y + 1, 45, _ROW - 2, BLUE, **shade) + text(
        right - 4, y + 15, f"{value:,.0f}", _SMALL, "end"
    )


def _notes(listing: AnnotatedSource) -> Iterator[_Part]:
    """Yield a part per finding and then per hint: its sentence beside an orange or a blue line."""
    for note, colour in (
        *((finding, ORANGE) for finding in listing.findings),
        *((hint, BLUE) for hint in listing.hints),
    ):
        yield _note(listing, note, colour)


def _note(listing: AnnotatedSource, note: Finding | Hint, colour: str) -> _Part:
    """Return the part with a finding's or hint's wrapped sentence beside a line of this colour."""
    lines = textwrap.wrap(listing.sentence(note), _WRAPPED)
    drawn = [rect(_MARGIN, 2, 4, _LINE * len(lines) + 2, colour)]
    drawn += [text(_MARGIN + 14, 15 + _LINE * at, line, _CODE) for at, line in enumerate(lines)]
    return _Part("".join(drawn), _LINE * len(lines) + 6)


def _banks(traced: Trace) -> _Part:
    """Return the part with two drawings side by side: one store and one load of the tile.

    Each shows which shared-memory bank each lane of a warp accesses.
    """
    width = (WIDTH - 3 * _MARGIN) / 2
    height = width * _BANKS[1] / _BANKS[0]
    drawn = []
    for at, (kind, title) in enumerate((("store", "store of tile"), ("load", "load of tile"))):
        access = traced.warp_access("tile", kind)
        picture, _ = lanes_by_banks(plain(access.addresses), access.itemsize, title)
        x = _MARGIN + at * (width + _MARGIN)
        place = f'<svg x="{x:g}" y="0" width="{width:g}" height="{height:g}" '
        drawn.append(picture.replace("<svg ", place, 1))
    return _Part("".join(drawn), height)
