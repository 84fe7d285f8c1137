"""The lines of a kernel in random order, which the reader numbers or arranges in a notebook."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

from utils.translation import translate
from virtual_gpu.pictures.svg import INDENT, KEEP_KEYS, LEAVE_KEYS

_SCRIPT = Path(__file__).with_suffix(".js")
CONTINUED = 4  # more spaces before the continuation of a long line than before its beginning
_STYLE = """<style>
.line-order {margin: 8px 0} .line-order ol {list-style: none; margin: 0; padding: 0}
.line-order .columns {display: flex; flex-wrap: wrap; gap: 6px 24px}
.line-order .column {flex: 1 1 260px; min-width: 0}
.line-order .column > p {font-weight: 600}
.line-order li, .line-order .given {display: flex; gap: 8px; padding: 2px 4px; border-radius: 3px;
 box-sizing: border-box}
.course .line-order .given code, .course .line-order li code {background: none}
.line-order code { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 0;
 font-size: 12px}
.line-order b {flex: none; width: 1.5em; text-align: right; font-weight: 400; opacity: .75}
.line-order .chosen {min-height: 2em; border-left: 2px solid #1f7fc4; margin: 2px 0}
.line-order.alive li {cursor: grab; border: 1px solid rgba(128,128,128,.45); margin: 2px 0}
.line-order li:focus-visible {outline: 2px solid #1f7fc4; outline-offset: 1px}
.line-order .answer, .line-order .help {display: none}
.line-order.alive .answer, .line-order.alive .help {display: block}
.line-order button {font: inherit; margin-left: 8px}
</style>"""


@dataclass(frozen=True)
class LineOrder:
    """The lines of a kernel in a wrong order, for an exercise that asks for the right one.

    exercise: the name of the exercise. listing: pairs (label, line). A label is a number for a line
    to be ordered, and a letter or "" for a fixed line above or below them. `str` returns the
    listing as text. In a notebook, the lines can be arranged by clicks, by dragging and by keys,
    and an assignment of the list of their numbers is shown; without scripts only the listing is
    shown.
    """

    exercise: str
    listing: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join(f"{label:>3}  {line}".rstrip() for label, line in self.listing)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        numbered = [one for one in self.listing if one[0].isdigit()]
        first, last = (self.listing.index(numbered[end]) for end in (0, -1))
        name, text = f"line-order-{self.exercise}", _SCRIPT.read_text(encoding="utf-8")
        group, lines = html.escape(translate("Lines to be put in order")), translate("Lines")
        kernel = html.escape(translate("Your kernel"))
        return (
            f'{_STYLE}<div class="line-order" id="{name}" data-exercise="{self.exercise}" '
            f'role="group" aria-label="{group}">'
            f'<div class="columns"><div class="column"><p>{lines}</p><ol class="pool">'
            f'{"".join(map(_item, numbered))}</ol></div><div class="column"><p>{kernel}</p>'
            f"{''.join(map(_given, self.listing[:first]))}"
            f'<ol class="chosen" aria-label="{kernel}"></ol>'
            f"{''.join(map(_given, self.listing[last + 1 :]))}</div></div>"
            f"{_answer()}</div>{LEAVE_KEYS}<script>{text.replace('@ID@', name)}</script>"
        )


def _answer() -> str:
    """Return the HTML for the list of numbers, and for a sentence on how lines are moved."""
    how = translate(
        "Click a line to move it to your kernel or back, or drag it. With the keyboard: the right "
        "arrow moves a line to your kernel, the left arrow moves it back, and up and down move it "
        "within your kernel. Copy your list into the next cell, and run it."
    )
    copy, copied = translate("Copy"), html.escape(translate("Copied"))
    return (
        f'<p class="answer"><code class="call" aria-live="polite"></code>'
        f'<button type="button" {KEEP_KEYS} data-done="{copied}">{copy}</button></p>'
        f'<p class="help">{how}</p>'
    )


def _item(one: tuple[str, str]) -> str:
    """Return the HTML of a line that can be moved, given as (label, line)."""
    label, line = one
    attributes = f'data-line="{label}" tabindex="0" {KEEP_KEYS} draggable="true"'
    return f"<li {attributes}>{_code(label, line)}</li>"


def _given(one: tuple[str, str]) -> str:
    """Return the HTML of a line that cannot be moved, given as (label, line)."""
    return f'<div class="given">{_code(*one)}</div>'


def _code(label: str, line: str) -> str:
    """Return a label and a line of code as HTML, with spaces that no page collapses.

    A line that is too long for its column is wrapped, and its continuation is indented further.
    """
    depth = len(line) - len(line.lstrip())
    hanging = depth + CONTINUED
    style = f"padding-left: {hanging}ch; text-indent: -{hanging}ch"
    code = f"{INDENT * depth}{html.escape(line.lstrip())}"
    return f'<b>{label}</b><code style="{style}">{code}</code>'
