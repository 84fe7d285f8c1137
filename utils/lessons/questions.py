"""The questions that lessons ask before they show an answer, read from `questions.toml`."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from utils.errors import CourseError
from utils.figures.look import number
from utils.lessons.folders import read_in_all
from utils.translation import translate

QUESTIONS = "questions.toml"
RIGHT, CLOSE = 0.05, 0.15  # the parts of the answer by which such a number may be off
SMALL_SHARE = 20  # percent; a smaller share is compared by its factor alone


@dataclass(frozen=True)
class Question:
    """A question whose answer is a number, one of some choices, or an order.

    text: the question in a few words. unit: the unit of a number. unit_of_one: the unit of
    the number 1, where that is another word. at_least: the least number that is possible; 0 means
    any number above 0, and from 0 on for a count. exact: True for a count, a whole number of which
    only the very number is right. choices: the possible answers, of which one is right.
    order: the items to put in order. because: the arithmetic that leads to the answer, as one or
    two lines; "" if the lesson has none. label: the noun before a number that identifies something,
    such as "thread" for "thread 88". slips: a wrong number, as text -> a sentence on the mistake
    that leads to it; an equal prediction is told so, or one within 5 % if the answer is not exact.
    """

    text: str
    unit: str = ""
    unit_of_one: str = ""
    at_least: float = 0.0
    exact: bool = False
    choices: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    because: str = ""
    label: str = ""
    slips: Mapping[str, str] = field(default_factory=dict)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The lines of `because` in the reader's language; () if there are none."""
        return tuple(translate(self.because).strip().splitlines()) if self.because else ()

    @property
    def shown(self) -> str:
        """The text in the reader's language."""
        return translate(self.text)

    @property
    def hint(self) -> str:
        """The sentence that tells the reader, in their language, which form an answer has."""
        if self.choices:
            return translate("Choose one: {answers}.", answers=_quoted(self.choices))
        if self.order:
            items = _quoted(self.order)
            return translate("Give a list of these in your order: {items}.", items=items)
        if self.unit == "%":
            return translate("Give a number, in percent.")
        return translate("Give a number.")

    def parse(self, value: object) -> object:
        """Return an answer in the form that is kept: a float, a choice, or a list of items.

        A choice is one of `choices`, and a list has the items of `order`. Raises CourseError, with
        a sentence for the reader, for a value that cannot be an answer.
        """
        if self.choices:
            return _same(value, self.choices, self.hint)
        if self.order:
            return self._ordered(value)
        if not _is_number(value):
            raise CourseError(
                translate(
                    "This prediction must be a number, and `{given!r}` was given.", given=value
                )
            )
        if value < self.at_least or (value == 0 and not self.exact):
            raise CourseError(self._too_small(value))
        if self.exact and value != int(value):
            raise CourseError(
                translate(
                    "{question}: this is a count, so give a whole number; {given:g} was given.",
                    question=self.shown,
                    given=value,
                )
            )
        return float(value)

    def note_on_percent(self, value: object) -> str | None:
        """Return a sentence on how a number between 0 and 1 is understood, if the unit is %.

        Otherwise return None. The sentence is the same for right and for wrong answers, so it does
        not tell whether the answer is less than one percent.
        """
        if self.unit != "%" or not 0 < value < 1:
            return None
        return translate(
            "`{share:g}` means {share:g} percent; `{percent:g}` would mean {percent:g} percent.",
            share=value,
            percent=100 * value,
        )

    def as_text(self, value: object) -> str:
        """Return an answer as text in the reader's language: a number has its unit.

        The items of a list are joined by ", then ", and a number that identifies something follows
        its label.
        """
        if isinstance(value, str):
            return translate(value)
        if isinstance(value, Sequence):
            return translate(", then ").join(map(translate, value))
        if self.label:
            return f"{translate(self.label)} {number(value)}"
        unit = (value == 1 and self.unit_of_one) or self.unit
        return f"{number(value)} {translate(unit)}" if unit else number(value)

    def feedback(self, value: object, measured: object) -> str:
        """Return a sentence that compares a prediction with the answer, in the reader's language.

        Both have the form that `parse` returns. The sentence contains the prediction and, if that
        is a wrong choice or a number that is not right, the answer. A number is right if it is off
        by at most 5 % of the answer, a count only if it is equal. A number without a label is close
        if it is off by at most 15 %, one with a label never is. For a wrong order, the sentence has
        the number of items in the right position. After a number that is neither right nor close,
        the sentences of `slips` that fit it follow.
        """
        said, answer = self.as_text(value), self.as_text(measured)
        if self.choices:
            return _chosen(said, answer)
        if self._is_right(value, measured):
            return translate("You were right: you said {said}.", said=said)
        if self.order:
            right = sum(one == other for one, other in zip(value, measured, strict=True))
            return translate(
                "You said: {said}. {right} of {count} are in the right position.",
                said=said,
                right=right,
                count=len(value),
            )
        if not self.label and self._is_close(value, measured):
            return translate(
                "Close: you said {said}, the answer is {answer}.", said=said, answer=answer
            )
        return " ".join([self._how_far(value, measured), *self._slips_of(value)])

    def agrees(self, value: object, measured: object) -> bool:
        """Return True if `feedback` calls a prediction right or close."""
        if self.choices or self.order:
            return value == measured
        close = not self.label and self._is_close(value, measured)
        return self._is_right(value, measured) or close

    def _is_right(self, value: object, measured: object) -> bool:
        """Return True for an equal count or order; other numbers may be 5 % off."""
        if self.order or self.exact:
            return value == measured
        return abs(value - measured) <= RIGHT * abs(measured)

    def _is_close(self, value: float, measured: float) -> bool:
        """Return True if a number is off by at most 15 % of the answer, `measured`."""
        return abs(value - measured) <= CLOSE * abs(measured)

    def _slips_of(self, value: float) -> list[str]:
        """Return the translated sentences of `slips` whose number fits a wrong prediction.

        It fits if it is equal or, for an answer that is not exact, differs by at most 5 %.
        """
        return [
            translate(sentence)
            for slip, sentence in self.slips.items()
            if self._is_right(value, float(slip))
        ]

    def _how_far(self, value: float, measured: float) -> str:
        """Return a sentence on how far a number is from the answer.

        A number that identifies something has no distance, and the sentence has only both. Else it
        tells the difference of an exact count, percentage points of a share of at least 20 %, and a
        factor of any other number.
        """
        words = {"said": self.as_text(value), "answer": self.as_text(measured)}
        if self.label:
            return translate("You said {said}, the answer is {answer}.", **words)
        if self.exact:
            off = self.as_text(abs(value - measured))
            if value > measured:
                return translate(
                    "You said {said}, the answer is {answer}: {off} too many.", off=off, **words
                )
            return translate(
                "You said {said}, the answer is {answer}: {off} too few.", off=off, **words
            )
        if self.unit == "%" and measured >= SMALL_SHARE:
            far = number(abs(value - measured))
            if value > measured:
                return translate(
                    "You said {said}, the answer is {answer}: too high by {far} percentage points.",
                    far=far, **words,
                )  # fmt: skip
            return translate(
                "You said {said}, the answer is {answer}: too low by {far} percentage points.",
                far=far, **words,
            )  # fmt: skip
        far = number(max(value / measured, measured / value))
        if value > measured:
            return translate(
                "You said {said}, the answer is {answer}: too high by a factor of {far}.",
                far=far, **words,
            )  # fmt: skip
        return translate(
            "You said {said}, the answer is {answer}: too low by a factor of {far}.",
            far=far, **words,
        )  # fmt: skip

    def _too_small(self, value: float) -> str:
        """Return the sentence for a number that is below the least possible one."""
        if not (self.at_least or self.exact):
            return translate(
                "{question}: this must be more than 0, and {given:g} was given.",
                question=self.shown,
                given=value,
            )
        return translate(
            "{question}: this must be at least {least:g}, and {given:g} was given.",
            question=self.shown,
            least=self.at_least,
            given=value,
        )

    def _ordered(self, value: object) -> list[str]:
        """Return the list of items in the reader's order.

        Raises CourseError if the value is no sequence, or if it does not hold each item once.
        """
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise CourseError(
                translate("`{given!r}` is not a list. {hint}", given=value, hint=self.hint)
            )
        items = [_same(one, self.order, self.hint) for one in value]
        if sorted(items) != sorted(self.order):
            raise CourseError(
                translate("The list must have each of them once. {hint}", hint=self.hint)
            )
        return items


@cache
def bank() -> dict[str, Question]:
    """Return name -> Question of all lessons; the result is cached.

    A name such as "05.strided" is the lesson's number and the question's name in the lesson's
    `questions.toml`.
    """
    lists = ("choices", "order")
    return {
        f"{number}.{name}": Question(
            **{key: tuple(v) if key in lists else v for key, v in row.items()}
        )
        for number, rows in read_in_all(QUESTIONS).items()
        for name, row in rows.items()
    }


def question(name: str) -> Question:
    """Return the question of a name, such as "05.strided".

    Raises CourseError if none has this name; the message suggests the nearest name.
    """
    if name not in bank():
        close = difflib.get_close_matches(str(name), bank(), n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(bank())}."
        raise CourseError(f"There is no question named {name!r}. {hint}")
    return bank()[name]


def _is_number(value: object) -> bool:
    """Return True for a finite real number that a float can hold, other than True and False."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _chosen(said: str, answer: str) -> str:
    """Return a sentence on a choice. said: the reader's choice. answer: the right one."""
    if said == answer:
        return translate('You chose "{said}". That is right.', said=said)
    return translate(
        'You chose "{said}". The right answer is "{answer}".', said=said, answer=answer
    )


def _same(value: object, answers: Sequence[str], hint: str) -> str:
    """Return the one of `answers` that equals `value` apart from case, outer spaces, and × or x.

    `value` may also be in the reader's language; the English answer is returned. A number equals an
    answer that is written as this number. Raises CourseError, whose message ends with `hint`, if no
    answer equals `value`.
    """
    by_spelling = {_normalized(translate(answer)): answer for answer in answers}
    by_spelling |= {_normalized(answer): answer for answer in answers}
    written = _as_written(value)
    if written is None or _normalized(written) not in by_spelling:
        raise CourseError(
            translate("`{given!r}` is not one of the answers. {hint}", given=value, hint=hint)
        )
    return by_spelling[_normalized(written)]


def _as_written(value: object) -> str | None:
    """Return a text unchanged, and a number as text; None for other values.

    The numbers 2048.0 and 2048 give "2048", and others have up to six significant digits. NaN,
    infinities and bools give None.
    """
    if isinstance(value, str):
        return value
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        return None
    return str(int(value)) if value == int(value) else f"{value:g}"


def _normalized(answer: str) -> str:
    """Return an answer in lower case without outer spaces, with x for ×."""
    return answer.strip().casefold().replace("×", "x")  # most keyboards have no ×


def _quoted(names: Sequence[str]) -> str:
    """Return the translated names, in quotes and backticks, joined by commas."""
    return ", ".join(f'`"{translate(name)}"`' for name in names)
