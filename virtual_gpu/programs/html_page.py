"""The report on a program's kernels as one HTML page that needs no other file."""

from __future__ import annotations

import html
from dataclasses import asdict

from ..pictures.annotate import STYLE as SOURCE_STYLE
from ..pictures.annotate import source_html
from ..pictures.svg import in_code
from .launch_log import KernelLog
from .summary import UNSEEN, ProgramSummary, labelled

STYLE = """
:root {color-scheme: light dark; --ink: #1b1b1b; --soft: #5c5c5c; --paper: #ffffff;
 --line: #d6d6d6; --bad: #b8440a; --good: #0b6b3a; --hint: #8a5a00}
@media (prefers-color-scheme: dark) {:root {--ink: #e8e8e8; --soft: #a8a8a8; --paper: #161616;
 --line: #3c3c3c; --bad: #ff9a66; --good: #6fcf97; --hint: #f0b429}}
* {box-sizing: border-box}
body {margin: 0 auto; padding: 16px; max-width: 1100px; color: var(--ink);
 background: var(--paper); font: 16px/1.5 system-ui, sans-serif}
h1 {font-size: 1.4em; margin: 0 0 4px}
h2 {font-size: 1.15em; margin: 0; overflow-wrap: anywhere}
section {border-top: 1px solid var(--line); padding: 16px 0; margin-top: 16px}
.soft {color: var(--soft); font-size: 0.9em; margin: 0; overflow-wrap: anywhere}
.verdict {font-weight: 600; margin: 8px 0}
.bad {color: var(--bad)} .good {color: var(--good)}
li {margin: 6px 0; overflow-wrap: anywhere}
code {font: 0.9em ui-monospace, monospace; padding: 0 3px; border-radius: 3px;
 background: color-mix(in srgb, currentColor 8%, transparent)}
ul {padding-left: 20px; margin: 8px 0}
li.flaw::marker, li.error::marker {color: var(--bad)}
li.warning::marker, li.hint::marker {color: var(--hint)}
dl {display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px;
 margin: 12px 0}
dt {color: var(--soft); font-size: 0.8em} dd {margin: 0; font-variant-numeric: tabular-nums}
"""

LABELS = {"warps": "memory instructions of warps", "lanes": "active lanes in them"}


def page(summary: ProgramSummary) -> str:
    """Return the report as the text of an HTML page.

    It has a headline, a sentence if no result was copied to the host, and then the verdict,
    remarks, counts and source of each kernel.
    """
    head = html.escape(summary.headline)
    unseen = f"<p>{html.escape(UNSEEN)}</p>" if summary.unseen else ""
    sections = "".join(_section(kernel, summary) for kernel in summary.kernels)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Virtual GPU: {head}</title><style>{STYLE}</style>{SOURCE_STYLE}</head>\n"
        f"<body><main><h1>Virtual GPU</h1><p>{head}</p>{unseen}{sections}</main></body></html>\n"
    )


def _section(kernel: KernelLog, summary: ProgramSummary) -> str:
    """Return the HTML section of one kernel."""
    colour = "bad" if kernel.flaws or kernel.errors else "good"
    return (
        f"<section><h2>{html.escape(kernel.name)}</h2>"
        f'<p class="soft">{html.escape(summary.place(kernel))}</p>'
        f'<p class="verdict {colour}">{html.escape(summary.verdict(kernel))}</p>'
        f"{_remarks(summary.remarks(kernel))}{_counts(kernel)}{_source(kernel)}</section>\n"
    )


def _remarks(remarks: list[tuple[str, str]]) -> str:
    """Return the remarks, which are (word, sentence), as an HTML list; "" without any."""
    rows = "".join(
        f'<li class="{word}">{in_code(labelled(word, text))}</li>' for word, text in remarks
    )
    return f"<ul>{rows}</ul>" if rows else ""


def _counts(kernel: KernelLog) -> str:
    """Return the counts of all launches together as HTML, without those that are zero.

    Returns "" if all are zero.
    """
    items = "".join(
        f"<div><dt>{LABELS.get(name, name.replace('_', ' '))}</dt><dd>{value:,}</dd></div>"
        for name, value in asdict(kernel.counts).items()
        if value
    )
    return f'<p class="soft">All launches together:</p><dl>{items}</dl>' if items else ""


def _source(kernel: KernelLog) -> str:
    """Return the annotated source of the launch ``kernel.shown`` as HTML; "" if there is none."""
    if kernel.shown is None:
        return ""
    which = f"Launch {kernel.shown_number} of {kernel.launches}, by source line:"
    return f'<p class="soft">{which}</p>{source_html(kernel.shown.listing())}'
