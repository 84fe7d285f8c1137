"""Functions of numbers that the reader writes: formulas, judged case by case.

The function is evaluated by its text (`evaluator`), so nothing of the reader's Python runs.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from labs.checking.exercise import Exercise
from labs.checking.phrasing import counted
from labs.checking.recognise import NOTHING_KNOWN, Table, table_in
from labs.checking.verdict import Verdict
from labs.host.exercise import no_function
from labs.numbers.evaluator import CannotEvaluate, evaluated

NEAR = 1e-9  # of floats, relative to what is right


@dataclass(frozen=True)
class Case:
    """Numbers that the function gets, and the one that it must return.

    why: a sentence on what decides in this case, said where no slip explains a wrong answer.
    """

    given: tuple[int, ...]
    right: int
    why: str


@dataclass(frozen=True, eq=False, kw_only=True)
class NumbersExercise(Exercise):
    """One function of numbers that the reader writes.

    parameters: of the function. unit: of what it returns, in the singular, or "". promises: what
    the task says that is looked at. cases: in the order in which they are told, the simplest first.
    right: the formula, for any numbers that are valid. draw: such numbers, for a grader.
    enough: as many cases tell mistakes apart; where an answer is wrong, no further ones are tried.
    beside: of what is given in a case and the wrong answer, a sentence with the numbers behind it,
    said where the mistake is not known. instead: of the same, a sentence in place of the case's
    own, where the answer itself tells more; or "".
    whole: every right answer is a whole number by its nature, not by the choice of the cases.
    """

    parameters: tuple[str, ...]
    unit: str
    promises: tuple[str, ...]
    cases: Callable[[], Sequence[Case]]
    right: Callable[..., float]
    draw: Callable[[Random], tuple[int, ...]]
    enough: int = 1000
    beside: Callable[[tuple[int, ...], float], str] = lambda given, answer: ""
    instead: Callable[[tuple[int, ...], float], str] = lambda given, answer: ""
    whole: bool = True

    @property
    def goals(self) -> tuple[str, ...]:
        """The promises."""
        return self.promises

    @cached_property
    def all_cases(self) -> tuple[Case, ...]:
        """The cases; those that are records are read when they are first needed."""
        return tuple(self.cases())


def judge(asked: NumbersExercise, given, patience: float) -> Verdict:
    """Evaluate a function in every case, and tell the first that is wrong.

    patience: seconds for all cases; a budget of steps ends what does not end by itself.
    """
    cause = (
        no_function(asked.parameters, given)
        or _other_order(asked.parameters, given)
        or wrong_answer(asked, given, patience, table_in(asked.folder))
    )
    if cause:
        return Verdict(asked.name, asked.title, (cause,))
    facts = (f"Right in all {len(asked.all_cases):,} cases.", asked.after)
    return Verdict(asked.name, asked.title, (), facts, {"cases": len(asked.all_cases)})


def _other_order(parameters: tuple[str, ...], function) -> str | None:
    theirs = tuple(inspect.signature(function).parameters)
    if theirs == parameters or sorted(theirs) != sorted(parameters):
        return None
    wanted, found = (", ".join(f"`{name}`" for name in names) for names in (parameters, theirs))
    return (
        f"The check gives the numbers as {wanted}. Your parameters stand in another order: {found}."
    )


def wrong_answer(
    asked: NumbersExercise, function, patience: float, table: Table = NOTHING_KNOWN
) -> str | None:
    """Why the first case that is not right is not; None where all are.

    table: of the mistakes that are known by their answers.
    """
    answers, failed = _answers(asked, function, patience)
    for case, answer in zip(asked.all_cases, answers, strict=False):
        if not same(answer, case.right):
            known = _mistake(asked, table, answers)
            numbers = asked.beside(case.given, answer)
            told = known.replace("{numbers}", numbers) if known else _told(asked, case, answer)
            return (
                f"{where(asked, case.given)} you return {shown(answer)}, and {_right(asked, case)} "
                f"right. {told}"
            )
    return failed


def _right(asked: NumbersExercise, case: Case) -> str:
    """What is right, with its verb: 1 block is, 2 blocks are, 2 is."""
    if not asked.unit:
        return f"{shown(case.right)} is"
    return f"{counted(case.right, asked.unit)} {'is' if case.right == 1 else 'are'}"


def _told(asked: NumbersExercise, case: Case, answer: float) -> str:
    if asked.whole and not float(answer).is_integer():
        of_what = f"A number of {asked.unit}s is" if asked.unit else "The answer is always"
        return f"{of_what} whole, and this is not. Does a division need rounding?"
    why = asked.instead(case.given, answer) or case.why
    return f"{why} {asked.beside(case.given, answer)}".strip()


def _mistake(asked: NumbersExercise, table: Table, answers: Sequence[float]) -> str | None:
    """The mistake of `wrong.py` that gives all of these answers, if they are enough to tell."""
    mark = _mark(asked, answers)
    known = table.known.get(mark) if mark else None
    return known[0] if known else None


def fingerprint(asked: NumbersExercise, function: Callable, patience: float) -> str | None:
    """Return what the answers of a wrong function are known by; None where they are too few."""
    if no_function(asked.parameters, function):
        return None
    answers, _ = _answers(asked, function, patience)
    return _mark(asked, answers)


def _mark(asked: NumbersExercise, answers: Sequence[float]) -> str | None:
    if len(answers) < min(asked.enough, len(asked.all_cases)):
        return None
    return hashlib.sha256(json.dumps([f"{one:.9g}" for one in answers]).encode()).hexdigest()[:10]


def _answers(asked: NumbersExercise, function, patience: float) -> tuple[list[float], str | None]:
    """What the function returns in each case, up to one that has no answer, and why it has none.

    They end early where one is wrong and there are enough of them.
    """
    answers: list[float] = []
    evaluate, until, all_right = evaluated(function), time.monotonic() + patience, True
    for case in asked.all_cases:
        if time.monotonic() > until:
            return answers, (
                f"{len(answers):,} of {len(asked.all_cases):,} cases took {patience:g} seconds. "
                "Your function does far more than the task needs."
            )
        try:
            answer = evaluate(case.given)
        except CannotEvaluate as error:
            return answers, f"{where(asked, case.given)}: {error}"
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return answers, f"{where(asked, case.given)} the function {_no_number(answer)}"
        answers.append(answer)
        all_right = all_right and same(answer, case.right)
        if not all_right and len(answers) >= asked.enough:
            break
    return answers, None


def _no_number(answer: object) -> str:
    if answer is None:
        return "returns nothing. Is there a `return` with a value on the way that it takes?"
    if isinstance(answer, tuple | list):
        return f"returns {len(answer)} values, and one number is wanted."
    return f"returns {answer!r}, and a number is wanted."


def same(one: float, other: float) -> bool:
    """Whether two numbers are equal, but for the rounding of floats."""
    return math.isclose(one, other, rel_tol=NEAR)


def where(asked: NumbersExercise, given: tuple[int, ...]) -> str:
    """What is given in a case, to begin a sentence: For threads = 33, registers = 32."""
    named = zip(asked.parameters, given, strict=True)
    return "For " + ", ".join(f"`{name} = {value}`" for name, value in named)


def shown(answer: float) -> str:
    """An answer within a sentence."""
    return f"{answer:,}" if isinstance(answer, int) else f"{answer:,.6g}"
