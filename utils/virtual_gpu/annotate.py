"""The kernel's source with the figures of a trace beside each line: as HTML and as text."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .counters import LineCount
from .errors import Finding, Site


@dataclass(frozen=True)
class Column:
    """One figure per line: its title, what it means, and how it is read from the counts."""

    title: str
    meaning: str
    read: Callable[[LineCount], float]


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
    Column("atomic lanes", "threads that made an atomic operation", lambda c: c.atomics),
    Column("float32 ops", "floating-point operations in 32 bits", lambda c: c.float32_ops),
    Column("float64 ops", "floating-point operations in 64 bits", lambda c: c.float64_ops),
    Column("barriers", "barriers, counted per warp", lambda c: c.barriers),
)


@dataclass(frozen=True)
class Listing:
    """What is shown of a trace: each line of the kernel with its number, counts and findings."""

    title: str
    source: tuple[tuple[int, str], ...]
    counts: dict[Site, LineCount]
    findings: tuple[Finding, ...]

    def by_line(self) -> dict[int, LineCount]:
        """The counts of the kernel's own lines, without those of device functions."""
        shown = {number for number, _ in self.source}
        return {site.line: count for site, count in self.counts.items() if site.line in shown}

    def lines(self) -> list[tuple[int, str]]:
        """The lines without comments: what a line is for stands in the file."""
        return [(number, text) for number, text in self.source if not _is_comment(text)]


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith("#") or not text.strip()


def _used_columns(counts: dict[int, LineCount]) -> list[Column]:
    return [c for c in COLUMNS if any(c.read(count) for count in counts.values())]


def _grouped(value: float) -> str:
    return f"{value:,.0f}" if value else ""


def annotated_text(listing: Listing) -> str:
    """The annotated source for a terminal, findings first."""
    counts = listing.by_line()
    columns = _used_columns(counts)
    widths = [max(len(c.title), 11) for c in columns]
    head = " ".join(f"{c.title:>{w}}" for c, w in zip(columns, widths, strict=True))
    rows = [listing.title, *map(str, listing.findings)]
    rows.append(f"{head}  line")
    for number, text in listing.lines():
        count = counts.get(number, LineCount())
        cells = " ".join(
            f"{_grouped(c.read(count)):>{w}}" for c, w in zip(columns, widths, strict=True)
        )
        rows.append(f"{cells} {number:>5}  {text}")
    return "\n".join(rows)


STYLE = """<style>
.vgpu-scroll {overflow-x: auto}
.vgpu {border-collapse: collapse; font-size: 10.5px; color: inherit; margin: 0.5em 0}
.vgpu caption {text-align: left; padding: 4px 0; font-weight: bold}
.vgpu th, .vgpu td {padding: 1px 4px; text-align: right; color: inherit; white-space: pre;
 background: transparent; border: none; font-size: 10.5px !important}
.vgpu th {font-weight: normal; opacity: 0.8; border-bottom: 1px solid currentColor;
 white-space: normal; width: 4.2em; vertical-align: bottom}
.vgpu td.code {text-align: left; font-family: monospace}
.vgpu td.number {opacity: 0.6; font-family: monospace}
.vgpu tr.found td.code {outline: 2px solid #d55e00}
.vgpu-finding {border-left: 4px solid #d55e00; padding: 2px 8px; margin: 4px 0}
.vgpu-warning {border-left: 4px solid #e69f00; padding: 2px 8px; margin: 4px 0}
</style>"""


def annotated_html(listing: Listing) -> str:
    """The annotated source for a notebook. The darker a figure, the larger its share."""
    counts = listing.by_line()
    columns = _used_columns(counts)
    heads = "".join(
        f'<th scope="col" title="{html.escape(c.meaning)}">{c.title}</th>' for c in columns
    )
    rows = _html_rows(listing, counts, columns)
    notes = "".join(_note(finding) for finding in listing.findings)
    caption = f"<caption>{html.escape(listing.title)}</caption>"
    head = f'<thead><tr><th scope="col"></th><th scope="col"></th>{heads}</tr></thead>'
    table = f'<table class="vgpu">{caption}{head}<tbody>{"".join(rows)}</tbody></table>'
    return f'{STYLE}{notes}<div class="vgpu-scroll">{table}</div>'


def _html_rows(
    listing: Listing, counts: dict[int, LineCount], columns: list[Column]
) -> Iterator[str]:
    totals = [sum(c.read(count) for count in counts.values()) for c in columns]
    guilty = {finding.line for finding in listing.findings}
    for number, text in listing.lines():
        count = counts.get(number, LineCount())
        cells = "".join(
            _cell(c.read(count), total) for c, total in zip(columns, totals, strict=True)
        )
        row_class = ' class="found"' if number in guilty else ""
        yield (
            f'<tr{row_class}><td class="number">{number}</td>'
            f'<td class="code">{html.escape(text)}</td>{cells}</tr>'
        )


def _cell(value: float, total: float) -> str:
    if not value:
        return "<td></td>"
    shade = 0.08 + 0.4 * value / total
    return f'<td style="background:rgba(0,114,178,{shade:.2f})">{_grouped(value)}</td>'


def _note(finding: Finding) -> str:
    kind = "warning" if finding.kind == "wrapped_index" else "finding"
    return f'<div class="vgpu-{kind}">{html.escape(str(finding))}</div>'
