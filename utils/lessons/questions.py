"""What a lesson asks before it shows: the questions of `questions.toml` in each lesson's room."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from utils.errors import CourseError
from utils.figures.look import number
from utils.lessons.rooms import read_in_all

CLOSE_POINTS = 10  # of a share in per cent


@dataclass(frozen=True)
class Question:
    """A question with one kind of answer: a number, one of some choices, or an order.

    text: what is asked, in a few words. unit, at_least: of a number, and what it cannot be below.
    choices: of which one is right. order: the things to be put in order.
    """

    text: str
    unit: str = ""
    at_least: float = 0.0
    choices: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    @property
    def wanted(self) -> str:
        """What an answer looks like, as a sentence."""
        if self.choices:
            return f"Choose one: {_quoted(self.choices)}."
        if self.order:
            return f"Give a list of these in your order: {_quoted(self.order)}."
        return "Give a number, in percent." if self.unit == "%" else "Give a number."

    def accepted(self, value: object) -> object:
        """The answer in the form that is kept; CourseError with one sentence if it is none."""
        if self.choices:
            return _same(value, self.choices, self.wanted)
        if self.order:
            return self._ordered(value)
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):
            raise CourseError(f"A prediction is a number here, and this is `{value!r}`.")
        if value < self.at_least or value == self.at_least == 0:
            least = f"at least {self.at_least:g}" if self.at_least else "more than 0"
            raise CourseError(f"{self.text}: this must be {least}, and {value:g} was given.")
        return float(value)

    def doubted(self, value: object) -> str | None:
        """Why an answer that is accepted may not be what was meant, as a sentence."""
        if self.unit != "%" or not 0 < value < 1:
            return None
        return (
            f"That is less than one percent. If you mean {100 * value:g} %, write {100 * value:g}, "
            "and run the cell again."
        )

    def said(self, value: object) -> str:
        """An answer in words, with its unit."""
        if isinstance(value, str):
            return value
        if isinstance(value, Sequence):
            return ", then ".join(value)
        return f"{number(value)} {self.unit}".strip()

    def compared(self, value: object, measured: object) -> str:
        """How far a prediction was from what was measured."""
        if self.choices:
            return "You were right." if value == measured else "It is another one."
        if self.order:
            placed = sum(one == other for one, other in zip(value, measured, strict=True))
            return "You were right." if placed == len(value) else (
                f"{placed} of {len(value)} stand in their place."
            )  # fmt: skip
        if value == measured or (measured and 0.95 <= value / measured <= 1.05):
            return "You were right."
        factor = max(value / measured, measured / value) if measured else math.inf
        side = "high" if value > measured else "low"
        if self.unit == "%":
            points = abs(value - measured)
            close = " That is close." if points < CLOSE_POINTS else ""
            return f"Your number is too {side} by {number(points)} percentage points.{close}"
        close = " That is close." if factor < 1.5 else ""
        return f"Your number is too {side} by a factor of {number(factor)}.{close}"

    def _ordered(self, value: object) -> list[str]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise CourseError(f"`{value!r}` is no list. {self.wanted}")
        found = [_same(one, self.order, self.wanted) for one in value]
        if sorted(found) != sorted(self.order):
            raise CourseError(f"Each must stand in the list once. {self.wanted}")
        return found


@cache
def bank() -> dict[str, Question]:
    """All questions by name, such as "05.strided": `strided` in the room of lesson 05."""
    lists = ("choices", "order")
    return {
        f"{number}.{name}": Question(
            **{key: tuple(v) if key in lists else v for key, v in row.items()}
        )
        for number, rows in read_in_all("questions.toml").items()
        for name, row in rows.items()
    }


def question(name: str) -> Question:
    """The question of that name; CourseError with the nearest name if there is none."""
    if name not in bank():
        close = difflib.get_close_matches(str(name), bank(), n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(bank())}."
        raise CourseError(f"Nothing is asked under the name {name!r}. {hint}")
    return bank()[name]


def _same(value: object, known: Sequence[str], wanted: str) -> str:
    """The one of these that is meant, however it is written."""
    found = {_typed(one): one for one in known}
    if not isinstance(value, str) or _typed(value) not in found:
        raise CourseError(f"`{value!r}` is none of the answers. {wanted}")
    return found[_typed(value)]


def _typed(answer: str) -> str:
    """As a keyboard without × writes it, in small letters."""
    return answer.strip().casefold().replace("×", "x")


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'`"{name}"`' for name in names)
