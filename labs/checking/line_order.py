"""Exercises in which the reader puts the lines of a kernel in order.

The reader gives a list of line numbers. `kernel_of` makes the kernel of these lines, and the judge
of kernels judges it, so every order that is right passes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from labs.checking import judge as kernels
from labs.checking.exercise import KernelExercise
from labs.checking.verdict import Verdict
from utils.ladder.function_text import module_of
from utils.translation import translate

Order = Sequence[int]
_OPENED = re.compile(r"expected an indented block after .* on line (\d+)")


@dataclass(frozen=True)
class OrderRule:
    """A condition that a line of a right order meets, with a sentence for a line that does not.

    line: the number of the line. after: numbers of lines, at least one of which must be above this
    line. after is empty for a superfluous line, which is wrong in every order. says: what this line
    does in the kernel if the condition is not met.
    """

    line: int
    says: str
    after: tuple[int, ...] = ()

    def broken_in(self, order: Order) -> bool:
        """Return True if this rule's line is in the order, and no line of `after` is above it.

        If `after` is empty, that is so in every order that has the line.
        """
        if self.line not in order:
            return False
        return not set(self.after).intersection(order[: order.index(self.line)])


@dataclass(frozen=True, eq=False, kw_only=True)
class OrderExercise(KernelExercise):
    """An exercise in which the reader puts the lines of one kernel in order.

    lines: the lines in disorder, with their indentation, numbered from 1. Some of them are
    superfluous. above, below: the text of the kernel's file above and below these lines, which the
    reader does not change. rules: conditions that tell what a misplaced line does. A submission is
    a list of line numbers; a whole kernel is accepted and judged too. kind and timed are as in
    KernelExercise: such an exercise is of the kind "order", and not timed.
    """

    lines: tuple[str, ...]
    rules: tuple[OrderRule, ...]
    above: str
    below: str = ""
    kind: str = "order"
    timed: bool = False

    @cached_property
    def given_lines(self) -> tuple[list[str], list[str]]:
        """Two lists of lines of the kernel's file: those above the lines to order, and below."""
        return self.above.strip("\n").splitlines(), self.below.strip("\n").splitlines()

    @cached_property
    def listing(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a label and a line, in the order of the task's text.

        Given lines above and below have letters as labels, and the lines to be ordered have their
        numbers. The lines up to and including the `def` line have the label "".
        """
        above, below = self.given_lines
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        head = next(n for n, line in enumerate(above, 1) if line.startswith("def "))
        return (
            *(("", line) for line in above[:head]),
            *((next(letters), line) for line in above[head:]),
            *((str(number), line) for number, line in enumerate(self.lines, 1)),
            *((next(letters), line) for line in below),
        )

    def text_of(self, order: Order) -> str:
        """Return the text of the kernel's file with its lines in an order of line numbers.

        The lines of the file that the reader does not move are above and below them.
        """
        above, below = self.given_lines
        return "\n".join((*above, *(self.lines[number - 1] for number in order), *below)) + "\n"

    def labels_of(self, order: Order) -> dict[int, str]:
        """Return a dict from a line's number in `text_of(order)` to its label, such as "b" or "7".

        Lines without a label are left out.
        """
        above, below = self.given_lines
        labels = {line: label for label, line in self.listing if label.isalpha()}
        every = [*map(labels.get, above), *map(str, order), *map(labels.get, below)]
        return {number: label for number, label in enumerate(every, 1) if label}


def judge(exercise: OrderExercise, submission, patience: float) -> Verdict:
    """Judge an order of lines by its kernel, and return the verdict.

    An order whose kernel is right passes, unless it has a superfluous line, which is then the
    cause. If the kernel is not right and a line breaks a rule, the cause says what the first such
    line does. If no line breaks a rule, the causes are those of the judge of kernels, with the
    task's labels instead of line numbers. A submission that is a kernel already is judged as one,
    and any other submission that gives no kernel gets the reason as its cause. patience: the
    seconds that one launch may take.
    """
    if is_kernel(submission):
        return kernels.judge(exercise, submission, patience)
    cause = no_kernel_of(exercise, submission)
    if cause:
        return Verdict(exercise.name, exercise.title, (cause,))
    verdict = kernels.judge(exercise, kernel_of(exercise, submission), patience)
    if verdict.passed:
        cause = one_too_many(exercise, submission)
        return Verdict(exercise.name, exercise.title, (cause,)) if cause else verdict
    cause = misplaced(exercise, submission)
    if cause:
        return replace(verdict, causes=(cause,))
    return replace(
        verdict, causes=tuple(labelled(exercise, submission, one) for one in verdict.causes)
    )


def is_kernel(submission: object) -> bool:
    """Return True for a callable or a compiled function, which the judge of kernels judges.

    Return False for anything else, such as a list of line numbers.
    """
    return callable(submission) or hasattr(submission, "py_func")


def kernel_of(exercise: OrderExercise, submission):
    """Return the kernel that the lines in this order make.

    The submission must be one for which `no_kernel_of` returns None. A submission that is itself a
    kernel is returned unchanged.
    """
    if is_kernel(submission):
        return submission
    module = module_of(f"order_{exercise.name}", exercise.text_of(submission))
    return getattr(module, exercise.name)


def no_kernel_of(exercise: OrderExercise, submission: object) -> str | None:
    """Return a sentence on why a submission gives no kernel, or None if it gives one.

    If Python cannot read the indentation of the lines, it is the sentence of a rule that the order
    breaks, or else one on the indentation. Raises SyntaxError if Python cannot read the lines for
    another reason.
    """
    cause = no_order(exercise, submission)
    if cause:
        return cause
    cause = open_block(exercise, submission)
    return cause and (misplaced(exercise, submission) or cause)


def no_order(exercise: OrderExercise, submission: object) -> str | None:
    """Return a sentence on why a submission is no list of distinct line numbers, else None.

    A tuple counts as a list, and an empty list gets a sentence too.
    """
    most = len(exercise.lines)
    if not isinstance(submission, list | tuple):
        return translate(
            "This is {given}, and the check needs a list of line numbers in brackets, such as "
            "`[2, 1]`.",
            given=f"`{submission!r}`"[:80],
        )
    numbers = [one for one in submission if isinstance(one, int) and not isinstance(one, bool)]
    others = [one for one in submission if one not in numbers or not 1 <= one <= most]
    if others:
        return translate(
            "`{given}` is no number of a line: the lines have the numbers 1 to {most}.",
            given=repr(others[0])[:80],
            most=most,
        )
    twice = [one for one in numbers if numbers.count(one) > 1]
    if twice:
        return translate(
            "Line {line} is in your list {times} times, and each line may be used once.",
            line=twice[0],
            times=numbers.count(twice[0]),
        )
    if not numbers:
        return translate("Your list is empty: give the numbers of the lines, from top to bottom.")
    return None


def misplaced(exercise: OrderExercise, order: Order) -> str | None:
    """Return the sentence of the rule that an order's first misplaced line breaks, or None.

    It is in the reader's language. Returns None if the order breaks no rule.
    """
    broken = [rule for rule in exercise.rules if rule.broken_in(order)]
    first = min(broken, key=lambda rule: order.index(rule.line), default=None)
    return translate(first.says) if first else None


def one_too_many(exercise: OrderExercise, order: Order) -> str | None:
    """Return a sentence on a superfluous line of an order, or None if it has no such line.

    A superfluous line is the line of a rule whose `after` is empty. If the order has several, the
    sentence is on the one whose rule is first in `exercise.rules`. The sentence says that the
    result is right, so the caller must have checked that.
    """
    too_many = [line for line in _superfluous(exercise) if line in order]
    if not too_many:
        return None
    return translate(
        "The result is right, but line {line} does nothing for it: this line is one of those that "
        "are too many. Leave it out.",
        line=too_many[0],
    )


def flaw_of(exercise: OrderExercise, order: Order) -> str | None:
    """Return a sentence on an order with a superfluous line, whose result is not known; else None.

    If the other lines break no rule, the result is right, and it is the sentence of `one_too_many`.
    If they break one, it is the sentence of `misplaced`.
    """
    others = [line for line in order if line not in _superfluous(exercise)]
    if misplaced(exercise, others):
        return misplaced(exercise, order) if len(others) < len(order) else None
    return one_too_many(exercise, order)


def _superfluous(exercise: OrderExercise) -> list[int]:
    """Return the numbers of the lines that are too many, in the order of `exercise.rules`."""
    return [rule.line for rule in exercise.rules if not rule.after]


def open_block(exercise: OrderExercise, order: Order) -> str | None:
    """Return a sentence on the first line whose indentation Python cannot read, or None.

    Raises SyntaxError if Python cannot read the lines for another reason.
    """
    labels = exercise.labels_of(order)
    try:
        ast.parse(exercise.text_of(order))
    except IndentationError as error:
        opened = _OPENED.search(error.msg)
        if opened:
            return translate(
                "Line {line} ends with a colon, so an indented line must follow it, and none does.",
                line=labels[int(opened[1])],
            )
        return translate(
            "Line {line} is indented as a line of a block, and the lines above it open no such "
            "block, so Python cannot read it there.",
            line=labels[error.lineno],
        )
    return None


def labelled(exercise: OrderExercise, order: Order, text: str) -> str:
    """Return a text with each line number of the kernel's file replaced by the line's label.

    Only numbers after the word "line" or "lines" are replaced, and the number of a line without a
    label stays. order: the order of the lines, from which the file is made.
    """
    labels = exercise.labels_of(order)
    words = translate("line|lines|Line|Lines")
    joined = re.escape(translate(" and "))
    numbers = re.compile(rf"\b({words}) (\d+(?:(?:, |{joined})\d+)*)")

    def by_label(found: re.Match) -> str:
        """Return the matched phrase, such as "lines 3 and 4", with labels instead of numbers."""
        own = re.sub(r"\d+", lambda one: labels.get(int(one[0]), one[0]), found[2])
        return f"{found[1]} {own}"

    return numbers.sub(by_label, text)
