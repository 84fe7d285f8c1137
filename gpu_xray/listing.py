"""The listing of a kernel: its source with PTX and SASS beside each line, as HTML and as text."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gpu_xray.opcodes import meaning_of
from gpu_xray.sass import Instruction
from gpu_xray.widths import LOADS, STORES, width

_FEW = 3  # instructions that are shown without a click

_STYLE = """<style>
.xray-scroll {overflow-x: auto}
.xray {border-collapse: collapse; font-size: 11px; color: inherit; margin: 0.5em 0}
.xray caption {text-align: left; padding: 4px 0; font-weight: bold}
.xray th, .xray td {padding: 1px 8px 1px 4px; text-align: left !important; color: inherit;
 vertical-align: top; background: transparent; border: none; white-space: pre;
 font-size: 11px !important}
.xray th {font-weight: normal; opacity: .8; border-bottom: 1px solid currentColor}
.xray td {font-family: monospace}
.xray td.code {white-space: pre-wrap; min-width: 28ch; max-width: 46ch}
.xray td.number {opacity: .6; text-align: right !important}
.xray td.words {font-family: inherit; white-space: normal}
.xray tr.hot td.sass {background: rgba(0,114,178,.16)}
.xray summary {cursor: pointer}
.xray [title] {text-decoration: underline dotted; text-underline-offset: 2px}
</style>"""


@dataclass(frozen=True)
class ListingRow:
    """A Python line with its PTX and SASS instructions.

    number: the number of the line; None in the row of instructions without a line.
    source: the text of the line.
    ptx: the texts of its PTX instructions. sass: its SASS instructions.
    hot: True if some of the SASS instructions are in the hot loop.
    """

    number: int | None
    source: str
    ptx: tuple[str, ...]
    sass: tuple[Instruction, ...]
    hot: bool


@dataclass(frozen=True)
class Listing:
    """A kernel's source lines with their machine code, which a notebook displays.

    title: the heading.
    rows: a row per line, in the order of the source. The last row may hold instructions without a
    line.
    """

    title: str
    rows: tuple[ListingRow, ...]

    def __str__(self) -> str:
        lines = [self.title]
        for row in self.rows:
            number = "" if row.number is None else row.number
            lines.append(f"{number:>5}  {row.source}")
            mark = "hot" if row.hot else "   "
            for name, count in _counted(row.sass):
                meaning = meaning_of(name.partition(".")[0])
                lines.append(f"           {mark} {count:>3} × {name:9} {meaning}")
            if row.ptx:
                lines.append(f"               PTX: {_summary(Counter(map(_ptx_name, row.ptx)))}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "<tr><th></th><th>Python</th><th>SASS</th><th>PTX</th></tr>"
        rows = "".join(map(_html_row, self.rows))
        caption = f"<caption>{html.escape(self.title)}</caption>"
        table = f'<table class="xray">{caption}<thead>{head}</thead><tbody>{rows}</tbody></table>'
        return f'{_STYLE}<div class="xray-scroll">{table}</div>{self._legend()}'

    def _legend(self) -> str:
        """Return the listing's opcodes with number and meaning as HTML that is folded at first."""
        counts = Counter(instruction.name for row in self.rows for instruction in row.sass)
        rows = "".join(
            f"<tr><td>{name}</td><td class='number'>{count}</td>"
            f"<td class='words'>{html.escape(meaning_of(name))}</td></tr>"
            for name, count in counts.most_common()
        )
        return (
            f"<details><summary>The {len(counts)} opcodes of this kernel in plain words</summary>"
            f'<table class="xray"><tbody>{rows}</tbody></table></details>'
        )


def listing(
    title: str,
    source: Iterable[tuple[int, str]],
    ptx: Iterable[tuple[int | None, str]],
    sass: Iterable[tuple[int | None, Instruction]],
    hot: Iterable[Instruction],
) -> Listing:
    """Return a listing with a row for every line of `source`, except comments and empty lines.

    The last row has the instructions without a line number, if there are any. `source`, `ptx` and
    `sass` are pairs of a line number and a text or an instruction; the number is None for an
    instruction without a line. `hot` are the instructions of the hot loop.
    """
    ptx, sass = list(ptx), list(sass)
    hot_addresses = {instruction.address for instruction in hot}
    code_lines = [(number, text) for number, text in source if not _is_comment(text)]
    rows = []
    for number, text in [*code_lines, (None, "instructions without a line of their own")]:
        row_sass = tuple(instruction for line, instruction in sass if line == number)
        row_ptx = tuple(instruction for line, instruction in ptx if line == number)
        if number is not None or row_sass or row_ptx:
            is_hot = any(instruction.address in hot_addresses for instruction in row_sass)
            rows.append(ListingRow(number, text, row_ptx, row_sass, is_hot))
    return Listing(title, tuple(rows))


def _is_comment(text: str) -> bool:
    """Return True for a line that is a comment or empty."""
    return text.lstrip().startswith("#") or not text.strip()


def _sass_name(instruction: Instruction) -> str:
    """Return the opcode without modifiers; for a load or a store, with the width in bits.

    The width is that of a thread. Such a name is, for example, "LDG.128".
    """
    name = instruction.name
    return f"{name}.{width(instruction)}" if name in (*LOADS, *STORES) else name


def _ptx_name(text: str) -> str:
    """Return the opcode of a PTX instruction, such as "ld.global.f32", without a predicate."""
    words = text.split()
    return words[1] if words[0].startswith("@") else words[0].rstrip(";")


def _counted(sass: Iterable[Instruction]) -> list[tuple[str, int]]:
    """Return (name, number) per name of the instructions, the most frequent first.

    A name is the opcode without modifiers, for loads and stores with the width, as in "LDG.128".
    Among equally frequent ones, the one that occurs first comes first.
    """
    return Counter(map(_sass_name, sass)).most_common()


def _summary(counts: Counter[str]) -> str:
    """Return the counts as text, such as "2 FFMA, 1 LDS", the most frequent opcode first."""
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def _html_row(row: ListingRow) -> str:
    """Return a row as HTML, with the instructions folded below their counts if there are many."""
    ptx = [html.escape(text) for text in row.ptx]
    sass = [
        f'<span title="{html.escape(meaning_of(each.name))}">{html.escape(_plain(each))}</span>'
        for each in row.sass
    ]
    number = "" if row.number is None else row.number
    sass_counts = _summary(Counter(map(_sass_name, row.sass)))
    ptx_counts = _summary(Counter(map(_ptx_name, row.ptx)))
    return (
        f'<tr class="{"hot" if row.hot else ""}"><td class="number">{number}</td>'
        f'<td class="code">{html.escape(row.source)}</td>'
        f'<td class="sass">{_folded(sass, sass_counts)}</td>'
        f"<td>{_folded(ptx, ptx_counts)}</td></tr>"
    )


def _plain(instruction: Instruction) -> str:
    """Return an instruction as text, with a label such as .L_12 as the target of a branch."""
    target = instruction.target
    return instruction.text_to("…" if target is None else f".L_{target}").strip()


def _folded(lines: list[str], summary: str) -> str:
    """Join lines of HTML; more than _FEW lines are hidden until a click on their summary.

    The summary is plain text, which is escaped and may be shortened. The lines are not escaped.
    """
    text = "\n".join(lines)
    if len(lines) <= _FEW:
        return text
    return f"<details><summary>{html.escape(_short(summary))}</summary>{text}</details>"


def _short(summary: str) -> str:
    """Return the first _FEW counts of a summary such as "2 FFMA, 1 LDS", and "…" for others."""
    parts = summary.split(", ")
    return ", ".join(parts[:_FEW]) + (", …" if len(parts) > _FEW else "")
