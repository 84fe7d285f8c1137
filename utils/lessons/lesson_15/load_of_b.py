"""The instructions for one load of b in the loop of `maxwell256`, and a card on those that change.

A warp that loads b executes them in each iteration, up to its first load. Each statement has
names of ours instead of registers, and the predicates are left out. A test compares the opcodes
with what the compiler makes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
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
@media (max-width: 600px) {pre.load-of-b.load-of-b {font-size: 11px; padding: 8px 6px}}
</style>"""


@dataclass(frozen=True)
class Statement:
    """An instruction as a statement in Python.

    opcode: its name in the machine code. results: the names that it writes. value: what it
    computes, as text with the names that it reads.
    """

    opcode: str
    results: tuple[str, ...]
    value: str

    @property
    def reads(self) -> set[str]:
        """All words of lower-case letters and digits in `value`, also those that are no names.

        So "or" is among them if a condition has it.
        """
        return set(_NAME.findall(self.value))

    def __str__(self) -> str:
        return f"{', '.join(self.results)} = {self.value}"


STATEMENTS = (
    Statement("LDC", ("n",), "b.shape[1]"),
    Statement("IMAD.SHL", ("word",), "t * 4"),
    Statement("IADD3", ("below",), "start + 8"),
    Statement("ULDC", ("k",), "b.shape[0]"),
    Statement("LOP3.LUT", ("first",), "t & 96"),
    Statement("LOP3.LUT", ("place",), "word & 124"),
    Statement("LEA.HI", ("row",), "(first >> 5) + below"),
    Statement("LOP3.LUT", ("col",), "place | corner"),
    Statement("ISETP", ("beside",), "col >= n"),
    Statement("ISETP", ("outside",), "row >= k or beside"),
    Statement("LDC", ("n_high",), "b.shape[1] >> 32"),
    Statement("IMAD.MOV", ("col_high",), "0"),
    Statement("IMAD.WIDE", ("at", "at_high"), "row * n + col, col_high"),
    Statement("LDC.64", ("data", "data_high"), "address of b[0, 0]"),
    Statement("IMAD", ("upper",), "at_high + row * n_high"),
    Statement("CS2R", ("b0", "b1"), "0, 0"),
    Statement("LEA", ("low", "carry"), "data + at * 4"),
    Statement("LEA.HI.X", ("high",), "data_high + upper * 4 + carry"),
    Statement("CS2R", ("b2", "b3"), "0, 0"),
    Statement("LDG.128", ("b0", "b1", "b2", "b3"), "load4(low, high)"),
)


@dataclass(frozen=True)
class Listing:
    """The instructions of `STATEMENTS`, numbered from 1, in a frame; `str` gives them as text."""

    def __str__(self) -> str:
        return "\n".join(
            f"{number:>2}  {statement.opcode:9}  {statement}"
            for number, statement in enumerate(STATEMENTS, start=1)
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = "\n".join(
            f"{number:>2}  <i>{statement.opcode:9}</i>  {html.escape(str(statement))}"
            for number, statement in enumerate(STATEMENTS, start=1)
        )
        return f'{_STYLE}<pre class="load-of-b">{rows}</pre>'


def changing() -> Mapping[int, str]:
    """Return number -> a name that it reads, for each statement that computes with `start`.

    A statement computes with it if it reads `start`, or a name that an earlier statement of them
    writes. The value is this name; of several, the first one of the alphabet. The numbers count
    from 1, in ascending order.
    """
    found, writers = {}, {CHANGING}
    for number, statement in enumerate(STATEMENTS, start=1):
        if read := sorted(statement.reads & writers):
            found[number] = read[0]
            writers.update(statement.results)
    return found


def find_changing(*numbers: int | Iterable[int]) -> Card:
    """Return a card that says whether the reader found all statements that compute with `start`.

    numbers: those of the statements, counted from 1, one by one or in a tuple, a list or a set. The
    card names the first number that no statement has, or else the lowest one that does not belong
    to them. If all of them belong, it names only the variable that the first missing statement
    reads. Without any number, it says with which statement to begin.
    """
    if len(numbers) == 1 and isinstance(numbers[0], Iterable):
        numbers = tuple(numbers[0])
    right, given = changing(), set(numbers)
    unknown = [one for one in numbers if one not in range(1, len(STATEMENTS) + 1)]
    if unknown:
        words = translate(
            "There is no statement {number}: give numbers from 1 to {count}.",
            number=unknown[0],
            count=len(STATEMENTS),
        )
        return Card("ask", (words,))
    if not given:
        words = translate("None yet. Begin with the statement that reads `start` itself.")
        return Card("ask", (words,))
    if wrong := sorted(given - set(right)):
        words = translate(
            "Statement {number} does not belong to them. It is `{statement}`, and nothing in it "
            "depends on `start`, so its result is the same for every tile.",
            number=wrong[0],
            statement=STATEMENTS[wrong[0] - 1],
        )
        return Card("ask", (words,))
    missing = min(set(right) - given, default=None)
    if missing is None:
        words = translate(
            "Right: {count} of the {all} statements compute with `start`. The other {rest} have "
            "the same result for every tile, and a warp executes them again for each.",
            count=len(right),
            all=len(STATEMENTS),
            rest=len(STATEMENTS) - len(right),
        )
        return Card("good", (words,))
    words = translate(
        "Right so far: {count}. A statement is missing that reads `{name}`, and `{name}` changes "
        "with `start`.",
        count=len(given),
        name=right[missing],
    )
    return Card("ask", (words,))
