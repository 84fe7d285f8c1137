"""The source of a film as a list of lines; a line that touches memory is a button."""

from __future__ import annotations

import html
import io
import keyword
import tokenize

from .film import ACCESSES, Film
from .svg import INDENT


def listing(film: Film, row_now: int) -> str:
    """An ordered list: each line with its number and a place for what it has cost so far."""
    counted = {
        step.row for step in film.steps if any(event.kind in ACCESSES for event in step.events)
    }
    lines = []
    for row, line in enumerate(film.rows):
        number = str(line.number or "")
        inner = f'<span class="no">{number}</span><i></i><code>{_coloured(line.text)}</code>'
        if row in counted:
            inner = f'<button type="button" aria-pressed="false">{inner}</button>'
        look = ' class="at"' if row == row_now else ' class="called"' if not line.number else ""
        lines.append(f'<li data-row="{row}"{look}>{inner}</li>')
    label = f"source of {html.escape(film.kernel)}"
    return f'<ol class="vm-code" aria-label="{label}">{"".join(lines)}</ol>'


def _coloured(text: str) -> str:
    """Keywords and comments set apart; a line that is no statement of its own stays plain."""
    body, out, last = text.strip(), [], 0
    for start, end, look in _marks(body):
        word = f'<b class="{look}">{html.escape(body[start:end])}</b>'
        out += [html.escape(body[last:start]), word]
        last = end
    indent = INDENT * (len(text) - len(text.lstrip()))
    return f"{indent}<u>{''.join(out)}{html.escape(body[last:])}</u>"


def _marks(body: str) -> list[tuple[int, int, str]]:
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(body + "\n").readline):
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                found.append((token.start[1], token.end[1], "kw"))
            elif token.type == tokenize.COMMENT:
                found.append((token.start[1], token.end[1], "cm"))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # a part of a statement that spans lines
    return found
