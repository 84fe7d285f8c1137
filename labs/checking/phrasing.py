"""The phrases of a verdict: source lines, array elements, sizes and counts."""

from __future__ import annotations

from collections.abc import Iterable

from utils.translation import translate
from virtual_gpu import Site


def at(site: Site) -> str:
    """Return a phrase for the beginning of a sentence, such as "Line 7, `i += 1`"."""
    return translate("Line {line}, {code}", line=site.line, code=quoted(site.source))


def at_line(site: Site) -> str:
    """Return a phrase for the middle of a sentence, such as "line 7, `i += 1`"."""
    return translate("line {line}, {code}", line=site.line, code=quoted(site.source))


def quoted(source: str) -> str:
    """Return a source line in backticks, without outer spaces and the colon at its end."""
    return f"`{source.strip().removesuffix(':').rstrip()}`"


def counted(number: int, what: str) -> str:
    """Return a number with its noun in the reader's language: "1 thread" or "2,000 threads".

    what: the English noun in the singular. `python -m tools.messages` finds it where it is a
    constant in the call.
    """
    return translate(one_and_many(what)[number != 1], number=f"{number:,}")


def rounded(value: float, digits: int = 3) -> str:
    """Return a number as text with this many significant digits, such as "0.333".

    A number that is too large for that without an exponent is rounded to a whole number and written
    with commas, such as "12,346". One below 0.0001 keeps its exponent, such as "1e-05".
    """
    shown = f"{value:.{digits}g}"
    return f"{value:,.0f}" if "e+" in shown else shown


def one_and_many(what: str) -> tuple[str, str]:
    """Return two English messages with the placeholder {number}: the singular, then the plural.

    For "row" they are "{number} row" and "{number} rows".
    """
    return f"{{number}} {what}", f"{{number}} {what}s"


def block_number(block: tuple[int, ...]) -> str:
    """Return the coordinates of a block as text: "3", or "(1, 2)" if y or z is not 0.

    z is always left out.
    """
    x, *others = block
    return str(tuple(block[:2])) if any(others) else str(x)


def extent(name: str, shape: tuple[int, ...]) -> str:
    """Return a clause on the size of an array, such as "`a` has 3 rows and 6 columns".

    For one dimension it is "`a` has 6 elements", and for three or more "`a` is 2×3×4".
    """
    if len(shape) == 2:
        rows, columns = counted(shape[0], "row"), counted(shape[1], "column")
        return translate("`{name}` has {rows} and {columns}", name=name, rows=rows, columns=columns)
    if len(shape) == 1:
        elements = counted(shape[0], "element")
        return translate("`{name}` has {elements}", name=name, elements=elements)
    return translate("`{name}` is {shape}", name=name, shape="×".join(map(str, shape)))


def element(name: str, index: Iterable[int]) -> str:
    """Return the name of an array element in backticks, such as "`c[3, 5]`"."""
    return f"`{name}[{', '.join(str(int(one)) for one in index)}]`"


def sentence(text: str) -> str:
    """Return the text with a full stop, unless it ends with one or with a question mark."""
    return text if text.endswith((".", "?")) else f"{text}."


def up_to(what: str, count: int) -> str:
    """Return an English subject and verb for items 0 to count − 1: "rows 0 to 7 are".

    what: the noun in the singular, such as "row". For a count of 1, the phrase is "row 0 is".
    """
    return f"{what} 0 is" if count == 1 else f"{what}s 0 to {count - 1} are"
