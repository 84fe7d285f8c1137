"""The source listing of a film as HTML, in which a line that accesses memory is a button."""

from __future__ import annotations

import html
import io
import keyword
import tokenize

from .film import ACCESSES, Film
from .svg import INDENT


def listing(film: Film, row_now: int) -> str:
    """Return the source as HTML: an ordered list with a line number and code per source row.

    Each line has an empty field, which the player fills with the cost so far. A row with memory
    accesses is a button. The row with the index ``row_now`` is highlighted.
    """
    rows_with_accesses = {
        step.row for step in film.steps if any(event.kind in ACCESSES for event in step.events)
    }
    lines = []
    for row, line in enumerate(film.rows):
        number = str(line.number or "")
        inner = f'<span class="no">{number}</span><i></i><code>{_coloured(line.text)}</code>'
        if row in rows_with_accesses:
            inner = f'<button type="button" aria-pressed="false">{inner}</button>'
        look = ' class="at"' if row == row_now else ' class="called"' if not line.number else ""
        lines.append(f'<li data-row="{row}"{look}>{inner}</li>')
    label = f"source of {html.escape(film.kernel)}"
    return f'<ol class="vm-code" aria-label="{label}">{"".join(lines)}</ol>'


def _coloured(text: str) -> str:
    """Return a source line as HTML with marked keywords and comments.

    A line that is only part of a statement may stay unmarked.
    """
    body, out, last = text.strip(), [], 0
    for start, end, look in _marks(body):
        word = f'<b class="{look}">{html.escape(body[start:end])}</b>'
        out += [html.escape(body[last:start]), word]
        last = end
    indent = INDENT * (len(text) - len(text.lstrip()))
    return f"{indent}<u>{''.join(out)}{html.escape(body[last:])}</u>"


def _marks(body: str) -> list[tuple[int, int, str]]:
    """Return (start, end, CSS class) of each keyword and comment, in the order of the text.

    The class is "kw" or "cm". A text that is not a whole statement may have fewer marks.
    """
    marks = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(body + "\n").readline):
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                marks.append((token.start[1], token.end[1], "kw"))
            elif token.type == tokenize.COMMENT:
                marks.append((token.start[1], token.end[1], "cm"))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # a part of a statement that spans lines
    return marks
