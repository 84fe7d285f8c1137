"""The annotated source: a kernel's lines with the counts of a trace beside them, as HTML or text.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..common.errors import Finding, Site
from ..common.source import Source
from ..common.wording import translate
from ..counts.counters import AccessCount, LineCount
from ..counts.hints import Hint
from .line_details import details_by_line
from .svg import INDENT, in_code


@dataclass(frozen=True)
class Column:
    """A column of counts: title, meaning, and ``read``, which maps a LineCount to a number.

    ``title`` and ``meaning`` are English; ``head`` is the title in the reader's language.
    """

    title: str
    meaning: str
    read: Callable[[LineCount], float]

    @property
    def head(self) -> str:
        """The title in the language of the translator."""
        return translate(self.title)


COLUMNS = (
    Column("global loads", "load instructions of whole warps", lambda c: c.global_load_requests),
    Column("sectors loaded", "32-byte sectors they moved", lambda c: c.global_load_sectors),
    Column("global stores", "store instructions of whole warps", lambda c: c.global_store_requests),
    Column("sectors stored", "32-byte sectors they moved", lambda c: c.global_store_sectors),
    Column(
        "shared requests",
        "load and store instructions of whole warps",
        lambda c: c.shared_load_requests + c.shared_store_requests,
    ),
    Column(
        "wave-fronts",
        "passes through the banks",
        lambda c: c.shared_load_wavefronts + c.shared_store_wavefronts,
    ),
    Column("matrix loads", "ldmatrix, counted per warp; shared requests", lambda c: c.ldmatrix),
    Column(
        "copied bytes",
        "bytes that asynchronous copies move to shared memory",
        lambda c: c.async_copy_bytes,
    ),
    Column("mma", "multiplications of fragments, counted per warp", lambda c: c.mma),
    Column("atomic lanes", "threads that made an atomic operation", lambda c: c.atomics),
    Column("float32 ops", "floating-point operations in 32 bits", lambda c: c.float32_ops),
    Column("float64 ops", "floating-point operations in 64 bits", lambda c: c.float64_ops),
    Column("barriers", "barriers, counted per warp", lambda c: c.barriers),
)


WIDTH = 110  # characters of a line in a terminal
LEAST_CODE = 40


@dataclass(frozen=True)
class Section:
    """The source text of one function: its name, its file, and its lines as (line number, text)."""

    name: str
    file: str
    lines: tuple[tuple[int, str], ...]

    def rows(self) -> Iterator[tuple[int, str]]:
        """Return an iterator over the (line number, text) of all but comment and empty lines."""
        return ((number, text) for number, text in self.lines if not _is_comment(text))


@dataclass(frozen=True)
class AnnotatedSource:
    """The source of a kernel with the counts, findings and hints of one trace.

    The first section is the kernel, and the others are the functions that it called. ``counts``
    holds the totals of each line, ``names`` maps each file to its short name, and ``accesses`` are
    drawn in the details of the costliest lines. ``title`` and ``verdict`` are the two lines above
    the source.
    """

    title: str
    verdict: str
    sections: tuple[Section, ...]
    counts: Mapping[Site, LineCount]
    findings: tuple[Finding, ...]
    hints: tuple[Hint, ...]
    names: Mapping[str, str]
    accesses: tuple[AccessCount, ...] = ()

    def by_place(self) -> dict[tuple[str, int], LineCount]:
        """Return a dict from (file, line number) to the LineCount of that line."""
        return {(site.file, site.line): count for site, count in self.counts.items()}

    def shown(self) -> list[Section]:
        """Return the kernel's section and, in order, those of functions with counts or findings."""
        sites = (*self.counts, *(finding.site for finding in self.findings))
        counted_lines = {(site.file, site.line) for site in sites}
        return [
            section
            for section in self.sections
            if section is self.sections[0]
            or any((section.file, number) in counted_lines for number, _ in section.lines)
        ]

    def heading(self, section: Section) -> str:
        """Return a called function's heading, such as ``f()`` or ``f() (helpers.py)``.

        The file is named only if it is not the kernel's.
        """
        return f"{section.name}(){self._elsewhere(section.file)}"

    def sentence(self, note: Finding | Hint) -> str:
        """Return a finding or hint as text, with the file's short name if not in the kernel's."""
        return f"{note}{self._elsewhere(note.site.file)}"

    def _elsewhere(self, file: str) -> str:
        """Return the file's short name as `` (helpers.py)``, or "" for the kernel's file."""
        return "" if file == self.sections[0].file else f" ({self.names[file]})"


def sections_of(functions: Iterable[Source]) -> tuple[Section, ...]:
    """Return a Section per function, in the same order.

    A function whose lines are all in earlier sections, such as an inner function, is left out.
    """
    shown: dict[tuple[str, int], str] = {}
    sections = []
    for source in functions:
        lines = {(source.file, number): text for number, text in source.lines}
        if not lines.keys() <= shown.keys():
            shown.update(lines)
            sections.append(Section(source.name, source.file, source.lines))
    return tuple(sections)


def _is_comment(text: str) -> bool:
    """Return True for a line that is a comment or empty."""
    return text.lstrip().startswith("#") or not text.strip()


def _used_columns(counts: Mapping[tuple[str, int], LineCount]) -> list[Column]:
    """Return the columns that have a count other than zero in some line.

    They are in the order of ``COLUMNS``.
    """
    return [c for c in COLUMNS if any(c.read(count) for count in counts.values())]


def _number(value: float) -> str:
    """Return a count as text, such as ``1,024``; "" for zero."""
    return f"{value:,.0f}" if value else ""


def _words(column: Column) -> list[str]:
    """Return the words of a column's title, one per line of the table's head.

    A hyphen ends a word.
    """
    return column.head.replace("-", "- ").split()


@dataclass(frozen=True)
class _Cells:
    """The counts of all lines as text, for columns that are aligned in a terminal.

    ``texts`` holds, by (file, line number), one text per column, and ``widths`` the width of each
    column in characters.
    """

    columns: list[Column]
    texts: dict[tuple[str, int], list[str]]
    widths: list[int]

    def aligned(self, texts: list[str]) -> str:
        """Return one text per column as a single string, each right-aligned to its column."""
        return "".join(f"  {t:>{w}}" for t, w in zip(texts, self.widths, strict=True))

    def heads(self) -> list[str]:
        """Return the head of the table as lines of text.

        Each title has one word per line, and its last word is in the last line.
        """
        words = [_words(column) for column in self.columns]
        height = max(map(len, words), default=0)
        stacked = [[""] * (height - len(title)) + title for title in words]
        return [self.aligned([title[row] for title in stacked]) for row in range(height)]


def _cells(listing: AnnotatedSource) -> _Cells:
    """Return the _Cells of a listing: columns with a count, and the text and width of each."""
    counts = listing.by_place()
    columns = _used_columns(counts)
    texts = {at: [_number(c.read(count)) for c in columns] for at, count in counts.items()}
    widths = [
        max(*map(len, _words(column)), *(len(row[n]) for row in texts.values()))
        for n, column in enumerate(columns)
    ]
    return _Cells(columns, texts, widths)


def annotated_text(listing: AnnotatedSource) -> str:
    """Return the annotated source as plain text, with the counts to the right of the code.

    The title, the verdict, the findings and the hints are above it. Comments and empty lines of the
    source are left out, and long lines with counts are shortened.
    """
    cells = _cells(listing)
    available = max(LEAST_CODE, WIDTH - 7 - len(cells.aligned([""] * len(cells.columns))))
    code_lengths = [
        len(text)
        for section in listing.shown()
        for number, text in section.rows()
        if any(cells.texts.get((section.file, number), ()))
    ]
    width = min(max(code_lengths, default=0), available)
    notes = [f"  {listing.sentence(note)}" for note in (*listing.findings, *listing.hints)]
    heads = [f"{'':>{width + 7}}{head}" for head in cells.heads()]
    rows = [f"{listing.title}: {listing.verdict}", *notes, *heads]
    for section in listing.shown():
        if section is not listing.sections[0]:
            rows += ["", f"{'':>7}{listing.heading(section)}"]
        rows += [
            _text_row(number, text, cells.texts.get((section.file, number)), (cells, width))
            for number, text in section.rows()
        ]
    return "\n".join(row.rstrip() for row in rows)


def _text_row(number: int, text: str, figures: list[str] | None, layout: tuple) -> str:
    """Return one line of plain text: the line number, the code and, if there are any, the counts.

    ``layout`` is the _Cells and the width of the code; code before counts is shortened to that
    width.
    """
    if not figures or not any(figures):
        return f"{number:>5}  {text}"
    cells, width = layout
    code = text if len(text) <= width else f"{text[: width - 1]}…"
    return f"{number:>5}  {code:<{width}}{cells.aligned(figures)}"


# Of the table in HTML, in pixels: the width of a page's column, the padding on both sides of a
# cell, and the sizes of letters.
PAGE, PADDING, SMALLEST, LARGEST = 720, 8, 10.5, 13.0
# In the size of letters: the width of a letter of code, and of a column of counts.
LETTER, COLUMN = 0.61, 4.2
NUMBER = 5  # letters of a line's number
STYLE = """<style>
.vgpu-scroll {overflow-x: auto; container-type: inline-size}
.vgpu {border-collapse: collapse; font-size: inherit !important; color: inherit; margin: 0.5em 0}
.vgpu caption {text-align: left; padding: 4px 0; font-weight: bold}
.vgpu th, .vgpu td {padding: 1px 4px; text-align: right; color: inherit; white-space: pre;
 background: transparent; border: none; font-size: inherit !important}
.vgpu th {font-weight: normal; opacity: 0.8; border-bottom: 1px solid currentColor;
 white-space: normal; width: 4.2em; vertical-align: bottom}
.vgpu td {vertical-align: top; box-sizing: border-box}
.vgpu td.code {text-align: left; font-family: monospace}
.vgpu td.number {opacity: 0.6; font-family: monospace}
.vgpu th.section {text-align: left; padding-top: 8px; opacity: 1}
.vgpu tr.found td.code {outline: 2px solid #d55e00}
.vgpu-verdict {padding: 2px 0; margin: 4px 0}
.vgpu-finding {border-left: 4px solid #d55e00; padding: 2px 8px; margin: 4px 0}
.vgpu-warning {border-left: 4px solid #e69f00; padding: 2px 8px; margin: 4px 0}
.vgpu-hint {border-left: 4px solid #0072b2; padding: 2px 8px; margin: 4px 0}
.vgpu summary {cursor: pointer; list-style: none}
.vgpu summary::-webkit-details-marker {display: none}
.vgpu summary u {text-decoration: underline dotted; text-underline-offset: 3px}
.vgpu details > div {font: 12.5px/1.5 system-ui, sans-serif; white-space: normal;
 box-sizing: border-box; width: 440px; margin: 6px 0 10px; padding: 1px 0 1px 10px;
 border-left: 3px solid currentColor}
.vgpu details p {margin: 0 0 6px}
.vgpu details svg {display: block; width: 100%; margin: 4px 0; color: inherit}
.vgpu details svg text {font-family: system-ui, sans-serif; fill: currentColor}
.vgpu tr:has(details[open]) td[data-title] {background: none !important}
@container (max-width: 560px) {
.vgpu, .vgpu tbody, .vgpu caption, .vgpu th.section {display: block; width: auto}
.vgpu thead, .vgpu td:empty {display: none}
.vgpu tr {display: flex; flex-wrap: wrap; position: relative; padding-left: 3.2em}
.vgpu th, .vgpu td {font-size: 12px !important}
.vgpu td.number {position: absolute; left: 0}
.vgpu td.code {flex: 1 0 100%; min-width: 0; white-space: pre-wrap !important;
 overflow-wrap: anywhere}
.vgpu td[data-title] {margin: 0 4px 3px; border-radius: 3px; white-space: normal}
.vgpu td[data-title]::before {content: attr(data-title) " "; opacity: .75}
.vgpu details > div {width: 100%}
}
</style>"""


# An inline style, because a notebook that is not trusted has no style sheets.
_CODE_CELL = "text-align:left;white-space:pre"


def annotated_html(listing: AnnotatedSource) -> str:
    """Return HTML for a notebook: the style sheet, the verdict, findings, hints and the source."""
    notes = "".join(_note(listing, note) for note in (*listing.findings, *listing.hints))
    top = f'<div class="vgpu-verdict">{html.escape(listing.verdict)}</div>'
    return f"{STYLE}{top}{notes}{source_html(listing)}"


def source_html(listing: AnnotatedSource) -> str:
    """Return the source with its counts as an HTML table, without the style sheet STYLE.

    Comments and empty lines of the source are left out. The larger a count's share of its column,
    the darker its cell.
    """
    counts = listing.by_place()
    columns = _used_columns(counts)
    heads = "".join(
        f'<th scope="col" title="{html.escape(translate(c.meaning))}">{c.head}</th>'
        for c in columns
    )
    rows = "".join(_html_rows(listing, counts, columns))
    caption = f"<caption>{html.escape(listing.title)}</caption>"
    head = f'<thead><tr><th scope="col"></th><th scope="col"></th>{heads}</tr></thead>'
    table = f'<table class="vgpu">{caption}{head}<tbody>{rows}</tbody></table>'
    size = _letter_size(listing, len(columns))
    return f'<div class="vgpu-scroll" style="font-size:{size:.1f}px">{table}</div>'


def _letter_size(listing: AnnotatedSource, columns: int) -> float:
    """Return the largest size of letters, in pixels, with which the table fits a page.

    It is between SMALLEST and LARGEST. ``columns`` is the number of columns of counts.
    """
    lines = (text for section in listing.shown() for _, text in section.rows())
    letters = NUMBER + max(map(len, lines), default=0)
    ems = LETTER * letters + COLUMN * columns
    return min(max((PAGE - PADDING * (columns + 2)) / ems, SMALLEST), LARGEST)


def _html_rows(
    listing: AnnotatedSource, counts: Mapping[tuple[str, int], LineCount], columns: list[Column]
) -> Iterator[str]:
    """Yield the HTML of a table row per shown source line, and of a heading per called function.

    ``counts`` maps (file, line number) to the counts of a line.
    """
    totals = [sum(c.read(count) for count in counts.values()) for c in columns]
    flawed = {(finding.site.file, finding.line) for finding in listing.findings}
    details = details_by_line(listing.accesses)
    for section in listing.shown():
        if section is not listing.sections[0]:
            yield (
                f'<tr><th class="section" scope="rowgroup" colspan="{len(columns) + 2}">'
                f"{html.escape(listing.heading(section))}</th></tr>"
            )
        for number, text in section.rows():
            place = (section.file, number)
            count = counts.get(place, LineCount())
            cells = "".join(
                _cell(c, c.read(count), total) for c, total in zip(columns, totals, strict=True)
            )
            code = _code(text, details.get(place))
            row_class = ' class="found"' if place in flawed else ""
            yield (
                f'<tr{row_class}><td class="number">{number}</td>'
                f'<td class="code" style="{_CODE_CELL}">{code}</td>{cells}</tr>'
            )


def _code(text: str, details: str | None) -> str:
    """Return a source line as HTML; if there are ``details``, a click on the line opens them."""
    if not details:
        return html.escape(text)
    body = text.lstrip()
    line = f"{INDENT * (len(text) - len(body))}<u>{html.escape(body)}</u>"
    return f"<details><summary>{line}</summary><div>{details}</div></details>"


def _cell(column: Column, value: float, total: float) -> str:
    """Return a table cell as HTML; the larger the value's share of ``total``, the darker it is.

    The cell of a value of 0 is empty.
    """
    if not value:
        return "<td></td>"
    title = column.head.replace("-", "")
    look = f"background:rgba(0,114,178,{0.08 + 0.4 * value / total:.2f})"
    return f'<td style="{look}" data-title="{title}">{_number(value)}</td>'


def _note(listing: AnnotatedSource, note: Finding | Hint) -> str:
    """Return a finding, warning or hint as an HTML paragraph with a class of its kind."""
    kind = "hint"
    if isinstance(note, Finding):
        kind = "warning" if note.is_warning else "finding"
    return f'<div class="vgpu-{kind}">{in_code(listing.sentence(note))}</div>'
