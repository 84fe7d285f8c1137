"""Exercises in which the reader writes a formula: a function of numbers, judged case by case.

The function is evaluated from its source code (`evaluator`), so none of the reader's Python runs.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from labs.checking.exercise import Exercise
from labs.checking.phrasing import counted
from labs.checking.recognise import NOTHING_KNOWN, MistakeTable, table_in
from labs.checking.translated_mistakes import translated
from labs.checking.verdict import Verdict
from labs.host.exercise import no_function
from labs.numbers.evaluator import CannotEvaluate, make_evaluator
from utils.translation import translate

NEAR = 1e-9  # the relative tolerance of a float answer
MOST_BITS_SHOWN = 256  # of a whole number; beyond, Python may refuse to write it


@dataclass(frozen=True)
class Case:
    """One test case of a formula.

    given: the arguments of the function. right: the number that it must return. why: a sentence on
    what decides the result in this case, for a wrong answer that no known mistake explains. facts:
    numbers and texts behind the right answer, by name, for the exercise's `beside` and `instead`.
    All of it can be written as JSON.
    """

    given: tuple[int, ...]
    right: float
    why: str
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class NumbersExercise(Exercise):
    """An exercise in which the reader writes one function of numbers.

    parameters: the names of the function's parameters. unit: the unit of its result, in the
    singular, or "". promises: the criteria that the task states. cases: returns the cases in the
    order in which they are judged, the simplest first. right: the right formula. draw: returns
    random valid arguments, for a grader; None if `cases` has all valid arguments. branch: takes the
    arguments and returns what decides about the right answer there, such as which of two bounds is
    the lower one; a grader draws equally many cases of each branch. enough: after a wrong answer,
    the function is evaluated for this number of cases, which is enough to distinguish the known
    mistakes. beside: takes a case and the wrong answer, and returns a sentence with the numbers
    behind the right one.
    instead: takes the same, and returns a sentence that replaces the case's `why`, or "". whole:
    True if every right answer must be a whole number, whatever the arguments. integers: True if it
    must also be of the type int, because a launch takes no float. kind: "write", or "repair" for a
    flawed function. calls: the exercise whose function the reader's function calls,
    None if there is none; a wrong answer may be the fault of that function.
    """

    parameters: tuple[str, ...]
    unit: str
    promises: tuple[str, ...]
    cases: Callable[[], Sequence[Case]]
    right: Callable[..., float]
    draw: Callable[[Random], tuple[int, ...]] | None
    branch: Callable[..., Hashable] = lambda *arguments: None
    enough: int = 1000
    beside: Callable[[Case, float], str] = lambda case, answer: ""
    instead: Callable[[Case, float], str] = lambda case, answer: ""
    whole: bool = True
    integers: bool = False
    kind: str = "write"
    calls: NumbersExercise | None = None

    @property
    def goals(self) -> tuple[str, ...]:
        """The criteria that the task states, as English sentences or phrases."""
        return self.promises

    @cached_property
    def all_cases(self) -> tuple[Case, ...]:
        """All cases in the order in which they are judged, computed at the first use."""
        return tuple(self.cases())


def judge(exercise: NumbersExercise, function, patience: float) -> Verdict:
    """Evaluate a function case by case; return the verdict, whose cause is on the first wrong case.

    patience: the seconds of processor time for all cases together. The evaluator limits the steps
    of each call, so endless loops end too.
    """
    cause = _cause(exercise, function, patience)
    if cause:
        cause = _fault_of_called(exercise, function, patience) or cause
        return Verdict(exercise.name, exercise.title, (cause,))
    right = translate("Right in all {count:,} cases.", count=len(exercise.all_cases))
    facts = (right, translate(exercise.after))
    return Verdict(exercise.name, exercise.title, (), facts, {"cases": len(exercise.all_cases)})


def _cause(exercise: NumbersExercise, function, patience: float) -> str | None:
    """Return sentences on what is wrong with a function, or None if nothing is.

    patience: the seconds of processor time for all cases together.
    """
    return (
        no_function(exercise.parameters, function)
        or _other_order(exercise.parameters, function)
        or wrong_answer(exercise, function, patience, translated(table_in(exercise.folder)))
    )


def _fault_of_called(exercise: NumbersExercise, function, patience: float) -> str | None:
    """Return sentences on a fault in the other function that the reader's function calls, or None.

    It is the function of the exercise `exercise.calls`. Return None if there is no such exercise,
    if the reader has no function with its parameters, or if that function is right. patience: the
    seconds for its cases.
    """
    other = exercise.calls
    called = getattr(function, "__globals__", {}).get(other.name) if other else None
    if not other or no_function(other.parameters, called):
        return None
    cause = _cause(other, called, patience)
    return cause and translate(
        "Finish `{called}` first: `{name}` calls it, and it is not right yet. {cause}",
        called=other.name,
        name=exercise.name,
        cause=cause,
    )


def _other_order(parameters: tuple[str, ...], function) -> str | None:
    """Return a sentence if a function has the task's parameters in another order, else None."""
    own = tuple(inspect.signature(function).parameters)
    if own == parameters or sorted(own) != sorted(parameters):
        return None
    expected, actual = (", ".join(f"`{name}`" for name in names) for names in (parameters, own))
    return translate(
        "The check gives the numbers as {expected}. Your parameters stand in another order: "
        "{actual}.",
        expected=expected,
        actual=actual,
    )


def wrong_answer(
    exercise: NumbersExercise, function, patience: float, table: MistakeTable = NOTHING_KNOWN
) -> str | None:
    """Return sentences on the first wrong case and its mistake, or None if all cases are right.

    The result is one sentence if every answer is right until a case has no answer, until the time
    is over, or although an answer that must be an int is a float. patience: the seconds for all
    cases together. table: the exercise's known mistakes.
    """
    answers, failed = _answers(exercise, function, patience)
    for case, answer in zip(exercise.all_cases, answers, strict=False):
        if not same(answer, case.right):
            sentence = _mistake(exercise, table, answers)
            numbers = exercise.beside(case, answer)
            if sentence:
                explanation = sentence.replace("{numbers}", numbers)
            else:
                explanation = _explained(exercise, case, answer)
            return f"{_symptom(exercise, case, answer)} {explanation}"
    return failed or _no_integer(exercise, answers)


def _no_integer(exercise: NumbersExercise, answers: Sequence[float]) -> str | None:
    """Return a sentence on the first answer that must be an int and is a float, or None."""
    if not exercise.integers:
        return None
    for case, answer in zip(exercise.all_cases, answers, strict=True):
        if not isinstance(answer, int):
            return translate(
                "{where} you return `{given}`, which is a float, and a launch takes only whole "
                "numbers of type int. Use `//`, or `math.ceil`.",
                where=where(exercise, case.given),
                given=float(answer),
            )
    return None


def _symptom(exercise: NumbersExercise, case: Case, answer: float) -> str:
    """Return a sentence with a case's arguments, the wrong answer and the right one."""
    begin, given = where(exercise, case.given), shown(answer)
    right = counted(case.right, exercise.unit) if exercise.unit else shown(case.right)
    if exercise.unit and case.right != 1:
        return translate(
            "{where} you return {given}, and {right} are right.",
            where=begin,
            given=given,
            right=right,
        )
    return translate(
        "{where} you return {given}, and {right} is right.", where=begin, given=given, right=right
    )


def _explained(exercise: NumbersExercise, case: Case, answer: float) -> str:
    """Return sentences on a wrong answer that no known mistake explains.

    If every right answer is whole and this one is not, they say that and ask whether a division
    needs rounding. Otherwise they are what `exercise.instead` says, or the case's `why` if that is
    "", and then what `exercise.beside` says.
    """
    if exercise.whole and not float(answer).is_integer():
        if not exercise.unit:
            return translate(
                "The answer is always whole, and this is not. Does a division need rounding?"
            )
        return translate(whole_number_of(exercise.unit))
    why = exercise.instead(case, answer) or translate(case.why)
    return f"{why} {exercise.beside(case, answer)}".strip()


def whole_number_of(unit: str) -> str:
    """Return the English message on an answer that is not whole. unit: in the singular."""
    return f"A number of {unit}s is whole, and this is not. Does a division need rounding?"


def _mistake(
    exercise: NumbersExercise, table: MistakeTable, answers: Sequence[float]
) -> str | None:
    """Return the sentence of the mistake in `wrong.py` that gives exactly these answers, or None.

    If several sentences belong to these answers, the first in the table is returned. Its
    placeholder {numbers}, if it has one, is not filled yet. answers: the answers of the reader's
    function, in the order of the cases.
    """
    key = _fingerprint(exercise, answers)
    sentences = table.known.get(key) if key else None
    return sentences[0] if sentences else None


def fingerprint(exercise: NumbersExercise, function: Callable, patience: float) -> str | None:
    """Return a digest of a wrong function's answers, 10 hexadecimal digits, or None.

    Returns None if it has answers for fewer than `exercise.enough` cases and not for all cases, or
    if it is no function with the right parameters. patience: the seconds of processor time for all
    cases together.
    """
    if no_function(exercise.parameters, function):
        return None
    answers, _ = _answers(exercise, function, patience)
    return _fingerprint(exercise, answers)


def _fingerprint(exercise: NumbersExercise, answers: Sequence[float]) -> str | None:
    """Return a digest of answers, 10 hexadecimal digits, or None if there are too few of them.

    There must be at least `exercise.enough` answers, or one per case if there are fewer cases.
    """
    if len(answers) < min(exercise.enough, len(exercise.all_cases)):
        return None
    return hashlib.sha256(json.dumps([f"{one:.9g}" for one in answers]).encode()).hexdigest()[:10]


def _answers(
    exercise: NumbersExercise, function, patience: float
) -> tuple[list[float], str | None]:
    """Return (answers in the order of the cases, sentence on why they end early or None).

    The answers end early at a case without an answer, or after `patience` seconds of processor
    time. They also end, without a sentence, as soon as an answer was wrong and there are at least
    `enough` answers.
    """
    answers: list[float] = []
    evaluate, all_right = make_evaluator(function), True
    deadline = time.thread_time() + patience  # other programs cost the reader nothing
    for case in exercise.all_cases:
        if time.thread_time() > deadline:
            return answers, translate(
                "{done:,} of {count:,} cases took {seconds:g} seconds. Your function does far more "
                "than the task needs.",
                done=len(answers),
                count=len(exercise.all_cases),
                seconds=patience,
            )
        try:
            answer = evaluate(case.given)
        except CannotEvaluate as error:
            return answers, f"{where(exercise, case.given)}: {error}"
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return answers, f"{where(exercise, case.given)} {_no_number(answer)}"
        answers.append(answer)
        all_right = all_right and same(answer, case.right)
        if not all_right and len(answers) >= exercise.enough:
            break
    return answers, None


def _no_number(answer: object) -> str:
    """Return what a sentence says of an answer that is not a number, with its full stop.

    Two values give "the function returns 2 values, and one number is wanted.".
    """
    if answer is None:
        return translate(
            "the function returns nothing. Is there a `return` with a value on the way that it "
            "takes?"
        )
    if isinstance(answer, tuple | list):
        return translate(
            "the function returns {count} values, and one number is wanted.", count=len(answer)
        )
    return translate("the function returns {answer!r}, and a number is wanted.", answer=answer)


def same(one: float, other: float) -> bool:
    """Return True if two numbers differ by at most 1e-9 times the larger one.

    Whole numbers that no float holds must be equal.
    """
    try:
        return math.isclose(one, other, rel_tol=NEAR)
    except OverflowError:  # a whole number that no float holds; Python compares it exactly
        return one == other


def where(exercise: NumbersExercise, given: tuple[int, ...]) -> str:
    """Return a phrase on a case's arguments to begin a sentence: "For `x = 33`, `y = 32`"."""
    pairs = zip(exercise.parameters, given, strict=True)
    given = ", ".join(f"`{name} = {value}`" for name, value in pairs)
    return translate("For {arguments}", arguments=given)


def shown(answer: float) -> str:
    """Return a number as text: a whole one with commas, a float with six significant digits.

    For a whole number of more than 256 bits, return a phrase with its number of bits.
    """
    if not isinstance(answer, int):
        return f"{answer:,.6g}"
    if answer.bit_length() > MOST_BITS_SHOWN:
        return translate("a whole number of {bits:,} bits", bits=answer.bit_length())
    return f"{answer:,}"
