"""How a verdict says where, how large and how many."""

from __future__ import annotations

from collections.abc import Iterable

from virtual_gpu import Site


def at(site: Site) -> str:
    """The source line, to begin a sentence."""
    return f"Line {site.line}, {quoted(site.source)}"


def at_line(site: Site) -> str:
    """The source line, within a sentence."""
    return f"line {site.line}, {quoted(site.source)}"


def quoted(source: str) -> str:
    """A source line as a sentence quotes it: without the colon of a loop or a test."""
    return f"`{source.strip().removesuffix(':').rstrip()}`"


def counted(number: int, what: str) -> str:
    """A number with its noun: 1 thread, 2 threads."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def extent(name: str, shape: tuple[int, ...]) -> str:
    """How large an array is."""
    if len(shape) == 2:
        return f"`{name}` has {counted(shape[0], 'row')} and {counted(shape[1], 'column')}"
    if len(shape) == 1:
        return f"`{name}` has {counted(shape[0], 'element')}"
    return f"`{name}` is {'×'.join(map(str, shape))}"


def element(name: str, index: Iterable[int]) -> str:
    """An element of an array: `c[3, 5]`."""
    return f"`{name}[{', '.join(str(int(one)) for one in index)}]`"


def sentence(text: str) -> str:
    """The text with a full stop."""
    return text if text.endswith((".", "?")) else f"{text}."


def up_to(what: str, count: int) -> str:
    """The first of something, with their verb: rows 0 to 7 are."""
    return f"{what} 0 is" if count == 1 else f"{what}s 0 to {count - 1} are"
