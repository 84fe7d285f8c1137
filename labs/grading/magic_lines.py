"""Replace IPython's own lines in a notebook's cell by Python, wherever IPython itself finds them.

IPython finds such a line only at the beginning of a statement. A line within brackets, within a
triple-quoted string or after a backslash continues an expression of Python. Each line that is
removed leaves a line of Python, so that all other lines keep their numbers and blocks.
"""

from __future__ import annotations

import re

# Cells whose magic line runs the rest of the cell as Python, with its names in the notebook.
RUN_IN_THE_NOTEBOOK = ("time", "capture", "prun")
_CELL_MAGIC = re.compile(r"\s*%%(\w*)[^\n]*")
_MAGIC = re.compile(r"[ \t]*(?:[%!?]|(?:pip3?|conda|mamba)[ ]+(?:un)?install\b)")
_ASSIGNED_MAGIC = re.compile(r"[ \t]*+[\w., \t\[\]*]++=[ \t]*[!%]")
_HELP = re.compile(r"[ \t]*%{0,2}[^\W\d][\w.*]*(?:\[\w+\])*\?{1,2}[ \t]*(?:#[^\n]*)?$")
# Texts, comments and brackets. A text that is not closed ends with its line, or with the cell.
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<text>(?P<quotes>\"{3}|'{3})(?:\\.|[^\\])*?(?:(?P=quotes)|\Z)
        | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?)
      | (?P<open>[(\[{]) | (?P<close>[)\]}])
      | (?P<continued>\\\n) | (?P<newline>\n) | [^\#"'()\[\]{}\\\n]+ | .""",
    re.VERBOSE | re.DOTALL,
)


def without_magic(cell: str) -> str:
    """Return a cell's Python: IPython's lines are replaced, and all others keep their numbers.

    Return "" for a cell whose magic, such as `%%writefile`, keeps IPython from running the cell as
    Python of the notebook. cell: a text with newlines as its only line ends.
    """
    kept, position = [], 0
    while found := _CELL_MAGIC.match(cell, position):
        if found[1] not in RUN_IN_THE_NOTEBOOK:
            return ""
        kept.append("\n" * found[0].count("\n"))
        position = found.end()
    while position < len(cell):
        end = _end_of_line(cell, position)
        line = cell[position:end]
        if _is_magic(line):
            end = _end_of_magic(cell, end)
            kept.append(_in_place_of(line) + "\n" * cell[position:end].count("\n"))
        else:
            end = _end_of_statement(cell, position)
            kept.append(cell[position:end])
        position = end + 1
        kept.append(cell[end:position])
    return "".join(kept)


def magic_of(cell: str) -> str | None:
    """Return the magic on the first line of a cell that is not run as Python, or None.

    An example is `%%writefile`. A cell with `%%time` above lines of Python gives None, and `%%time`
    above `%%writefile` gives `%%time`.
    """
    found = _CELL_MAGIC.match(cell)
    return f"%%{found[1]}" if found and without_magic(cell) == "" else None


def _is_magic(line: str) -> bool:
    """Return True if IPython runs a line itself, such as `%time`, `!ls`, `files = !ls` or `x?`."""
    return any(one.match(line) for one in (_MAGIC, _ASSIGNED_MAGIC, _HELP))


def _in_place_of(line: str) -> str:
    """Return the statement of Python that replaces a line of IPython, with the line's indentation.

    It is `files = None` for `files = !ls`, and `pass` for a line that assigns nothing.
    """
    if not _MAGIC.match(line) and _ASSIGNED_MAGIC.match(line):
        return f"{line.split('=')[0].rstrip()} = None"
    return f"{line[: len(line) - len(line.lstrip())]}pass"


def _end_of_line(cell: str, position: int) -> int:
    """Return the index of the newline that ends the line at `position`, or the cell's length."""
    end = cell.find("\n", position)
    return len(cell) if end < 0 else end


def _end_of_magic(cell: str, end: int) -> int:
    """Return the index in the cell at which a line of IPython ends, with its continuation lines.

    A line is continued if a backslash is before its newline. end: the index of the first line's
    newline, or the cell's length.
    """
    while end < len(cell) and cell[end - 1] == "\\":
        end = _end_of_line(cell, end + 1)
    return end


def _end_of_statement(cell: str, position: int) -> int:
    """Return the index of the newline that ends the statement at `position`.

    If no newline ends it, return the cell's length.
    """
    depth = 0
    for token in _TOKEN.finditer(cell, position):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth = max(depth - 1, 0)
        elif token["newline"] and not depth:
            return token.start()
    return len(cell)
