"""Split a text into lines as Python's parser does: only at newlines.

`str.splitlines` also splits at form feeds, U+0085, U+2028 and others. With it, the lines that are
run would not be those that were checked.
"""

from __future__ import annotations

import linecache


def with_newlines_alone(text: str) -> str:
    """Return a text with the line ends of Windows and of old Macs replaced by newlines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, each with its newline.

    Text after the last newline is a line without one.
    """
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + [last] * bool(last)


def register(file: str, text: str) -> None:
    """Put a text into `linecache`, as the lines of a file of this name, which need not exist.

    file: the file's name, such as `<piece 1>`.
    """
    linecache.cache[file] = (len(text), None, lines_of(text), file)
