"""The instructions for one load of b in the loop of `maxwell256`, and a card on those that change.

They are the way of a warp that loads b, from the first instruction of the iteration to the first
load. The names in the middle column are ours; each stands for one register.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass

from utils.lessons.cards import Card
from utils.translation import translate

CHANGING = "start"  # the only value that differs from tile to tile
_NAME = re.compile(r"[a-z_][a-z_0-9]*")
_STYLE = """<style>
pre.load-of-b.load-of-b {font: 12.5px/1.5 monospace; overflow-x: auto; background: transparent;
 color: inherit; border: 1px solid rgba(128,128,128,.4); border-radius: 6px; padding: 8px 12px;
 margin: 4px 0; white-space: pre; width: fit-content; max-width: 100%; box-sizing: border-box}
.load-of-b i {font-style: normal; opacity: .7}
</style>"""


@dataclass(frozen=True)
class Line:
    """An instruction as a line of Python.

    opcode: its name in the machine code. results: the names that it writes. value: what it
    computes, as text with the names that it reads.
    """

    opcode: str
    results: tuple[str, ...]
    value: str

    @property
    def reads(self) -> set[str]:
        """The names in `value`."""
        return set(_NAME.findall(self.value))

    def __str__(self) -> str:
        return f"{', '.join(self.results)} = {self.value}"


LINES = (
    Line("LDC", ("n",), "b.shape[1]"),
    Line("IMAD.SHL", ("word",), "t * 4"),
    Line("IADD3", ("below",), "start + 8"),
    Line("ULDC", ("k",), "b.shape[0]"),
    Line("LOP3.LUT", ("warp",), "t & 96"),
    Line("LOP3.LUT", ("place",), "word & 124"),
    Line("LEA.HI", ("row",), "(warp >> 5) + below"),
    Line("LOP3.LUT", ("col",), "place | corner"),
    Line("ISETP", ("beside",), "col >= n"),
    Line("ISETP", ("outside",), "row >= k or beside"),
    Line("LDC", ("n_high",), "b.shape[1] >> 32"),
    Line("IMAD.MOV", ("col_high",), "0"),
    Line("IMAD.WIDE", ("at", "at_high"), "row * n + col, col_high"),
    Line("LDC.64", ("data", "data_high"), "address of b[0, 0]"),
    Line("IMAD", ("upper",), "at_high + row * n_high"),
    Line("CS2R", ("b0", "b1"), "0, 0"),
    Line("LEA", ("low", "carry"), "data + at * 4"),
    Line("LEA.HI.X", ("high",), "data_high + upper * 4 + carry"),
    Line("CS2R", ("b2", "b3"), "0, 0"),
    Line("LDG.128", ("b0", "b1", "b2", "b3"), "load4(low, high)"),
)


@dataclass(frozen=True)
class Listing:
    """The instructions as numbered lines, which a notebook shows in a frame; `str` is their text.
    """

    def __str__(self) -> str:
        return "\n".join(
            f"{number:>2}  {line.opcode:9}  {line}" for number, line in enumerate(LINES, start=1)
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = "\n".join(
            f"{number:>2}  <i>{line.opcode:9}</i>  {html.escape(str(line))}"
            for number, line in enumerate(LINES, start=1)
        )
        return f'{_STYLE}<pre class="load-of-b">{rows}</pre>'


def changing() -> Mapping[int, str]:
    """Return number -> the name that it reads, for each line that computes with `start`.

    A line computes with it if it reads `start`, or a name that such a line writes. The numbers
    count from 1.
    """
    found, writers = {}, {CHANGING}
    for number, line in enumerate(LINES, start=1):
        if read := sorted(line.reads & writers):
            found[number] = read[0]
            writers.update(line.results)
    return found


def find_changing(*numbers: int) -> Card:
    """Return a card that says whether the reader found all lines that compute with `start`.

    numbers: those of the lines, counted from 1. The card names the first line that does not belong
    to them, or the first one that is missing.
    """
    right, given = changing(), set(numbers)
    unknown = [one for one in numbers if one not in range(1, len(LINES) + 1)]
    if unknown:
        words = translate(
            "There is no line {number}: give numbers from 1 to {count}.",
            number=unknown[0],
            count=len(LINES),
        )
        return Card("ask", (words,))
    if not given:
        words = translate("No line yet. Begin with the line that reads `start` itself.")
        return Card("ask", (words,))
    if wrong := sorted(given - set(right)):
        words = translate(
            "Line {number} does not belong to them. It is `{line}`, and nothing in it depends on "
            "`start`, so its result is the same for every tile.",
            number=wrong[0],
            line=LINES[wrong[0] - 1],
        )
        return Card("ask", (words,))
    missing = min(set(right) - given, default=None)
    if missing is None:
        words = translate(
            "Right: {count} of the {all} lines compute with `start`. The other {rest} have the "
            "same result for every tile, and a warp executes them again for each.",
            count=len(right),
            all=len(LINES),
            rest=len(LINES) - len(right),
        )
        return Card("good", (words,))
    words = translate(
        "Right so far: {count}. A line is missing that reads `{name}`, and `{name}` changes with "
        "`start`.",
        count=len(given),
        name=right[missing],
    )
    return Card("ask", (words,))
