"""Turn a child's messages into points; no other module gives points.

All points are whole. A kernel has three rows: a right result, the idea of the task, and the
targets. The idea of a task is to reach its main targets. A kernel that does nothing reaches every
count, so these two rows need right values at the first shape, and each shape with a wrong result
costs points there, too. In this module, `messages` are the dicts that `labs.grading.attempt`
yields, `by_shape` maps the index of a shape to the message about it, and `missed` maps a target's
name to the reason why it is missed, or to "".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import sentence
from labs.checking.target import Target
from labs.grading.attempt import unpacked
from labs.grading.hidden import WHOLE_SHAPES, Hidden, HiddenCases, graded_cases
from labs.grading.labs import Part
from labs.host.exercise import HostExercise
from labs.numbers.exercise import NumbersExercise, same, shown, where

# Percentages of a kernel's points. Whoever ignores the idea has the first of them at most.
RIGHT, IDEA, TARGETS = 25, 40, 35
# The same of a flawed kernel to be repaired, in whose result a race need not be seen.
REPAIRED, IDEA_OF_REPAIRED, TARGETS_OF_REPAIRED = 70, 15, 15
# Percentages for a function of numbers: the cases of its task, and cases that are drawn per class,
# so that a table of the public cases is worth little.
TASK_CASES, DRAWN_CASES = 30, 70
TASK_ROW = "right in the cases of the task"
DRAWN_ROW = "right in cases that are drawn for each class"
LONGEST_TEXT = 1500  # characters of a sentence on a page
MOST_REASONS = 3  # why shapes are not right
# The share of elements that must be right at the first shape. A kernel that leaves more of them out
# may reach a count because it does less.
NEARLY_ALL = Fraction(9, 10)
# A result that lacks a few elements has idle lanes, and is no kernel that ignores the idea: targets
# of the idea may then be missed by this factor.
SLACK = 1.5
NOT_REACHED = "This was not reached: "
NOT_RIGHT = "The result is not right, so this is not known."
NOT_RIGHT_EVERYWHERE = "It costs points here, too, that the result is not right at every shape."
NO_IDEA = "This counts only as far as the kernel uses the idea."
NOT_REPAIRED = "The kernel was to be repaired, and this one solves the task in another way."
AS_THE_STARTER = "The unchanged starter gets as many points, so this gets no fewer."
NO_COMPILER = "It is not known on this machine, which has no compiler."


@dataclass(frozen=True)
class MarkRow:
    """One line of a mark.

    part: the exercise's name. what: what the points are for. points, of: the points and their
    maximum, both whole. told: why points are missing, or "". beside: True if the row gives no
    points and is only reported, because its count depends on the machine.
    """

    part: str
    what: str
    points: int
    of: int
    told: str = ""
    beside: bool = False


@dataclass(frozen=True)
class ShapeOutcome:
    """How right a kernel is at one shape.

    reason: why it is not right there, or "". right_elements: the fraction of the result's elements
    that are right, from 0 to 1. clean: True if the virtual GPU found nothing.
    """

    reason: str
    right_elements: Fraction
    clean: bool

    @property
    def share(self) -> Fraction:
        """The fraction of the points for this shape that the kernel gets.

        It is 1 without a reason. Otherwise it is half of `right_elements` if the run is clean, else
        0.
        """
        if not self.reason:
            return Fraction(1)
        return self.right_elements / 2 if self.clean else Fraction(0)


def rows_of(
    part: Part, messages: Sequence[dict], hidden: Hidden | HiddenCases | None, problem: str
) -> list[MarkRow]:
    """Return all rows of one part of a lab, whose maxima add up to the part's points.

    A kernel has up to three rows, in the order right result, idea and targets, and then a row
    without points per target that is only reported. A function of numbers has two rows, and a host
    function has one. messages: the child's messages about this exercise, in order. hidden: its
    hidden shapes or cases, None for a host function. problem: why the child ended early, or "".
    """
    exercise = part.definition
    refusals = [one["refused"] for one in messages if "refused" in one]
    refusal = refusals[0] if refusals else ""
    if isinstance(exercise, KernelExercise):
        return _kernel_rows(part, messages, hidden, refusal, problem)
    if isinstance(exercise, NumbersExercise):
        return _number_rows(part, messages, hidden.given, refusal or problem)
    return _host_rows(part, messages, refusal, problem)


def split_points(points: int, weights: Sequence[int]) -> list[int]:
    """Return points split into whole numbers in proportion to the weights, with the same sum.

    Points left over by rounding go to the shares that lose most by it; if several lose the same,
    the last one gets the point.
    """
    exact = [Fraction(points * weight, sum(weights)) for weight in weights]
    shares = [int(one) for one in exact]
    by_loss = sorted(range(len(shares)), key=lambda i: (shares[i] - exact[i], -i))
    for position in by_loss[: points - sum(shares)]:
        shares[position] += 1
    return shares


def points_for(share: Fraction, of: int) -> int:
    """Return the whole points for a fraction of a row; a fraction below 1 loses at least one.

    Otherwise the points are rounded to the nearest whole number, and a half is rounded up. share:
    from 0 to 1. of: the row's maximum.
    """
    return of if share == 1 else max(0, min(of - 1, int(of * share + Fraction(1, 2))))


def _row(part: Part, what: str, of: int, share: Fraction, reason: str) -> MarkRow:
    """Return a row of a part: `points_for(share, of)` points of at most `of`.

    what: what the points are for. share: the fraction that was reached, from 0 to 1. reason: why
    points are missing, or "".
    """
    return MarkRow(part.exercise, what, points_for(share, of), of, reason)


def _kernel_rows(part: Part, messages, hidden: Hidden, refusal: str, problem: str) -> list[MarkRow]:
    """Return the rows of a kernel: right result, idea, targets, and those without points.

    refusal: why it was refused, or "". problem: why its child ended early, or "". messages: the
    child's messages about the kernel. hidden: its hidden shapes. A row of the first three whose
    maximum is 0 is left out.
    """
    exercise = part.definition
    problem = next((str(one["ended"]) for one in messages if "ended" in one), problem)
    by_shape = {one["shape"]: one for one in messages if isinstance(one.get("shape"), int)}
    outcomes = [
        _refused(refusal)
        if refusal
        else _outcome(exercise, shape, hidden.seed, by_shape.get(number), problem)
        for number, shape in enumerate(hidden.shapes)
    ]
    whole, others = outcomes[:WHOLE_SHAPES], outcomes[WHOLE_SHAPES:]  # whole blocks: one share
    shares = [min(one.share for one in whole), *(one.share for one in others)]
    right = sum(shares, Fraction(0)) / len(shares)
    unknown = refusal or ("" if outcomes[0].right_elements >= NEARLY_ALL else NOT_RIGHT)
    missed = {one.what: unknown or _missed_target(one, by_shape) for one in exercise.targets}
    slack = 1 if outcomes[0].right_elements == 1 else SLACK
    ignored = _ignored_targets(part, missed, by_shape, slack)
    idea = _share_of_idea(part, missed, ignored)
    main, others = main_targets(part), other_targets(part)
    missed_by_others = [missed[one.what] for one in others if missed[one.what]]
    replaced = bool(ignored) and not unknown and exercise.kind == "repair"
    shares = (
        right * Fraction(RIGHT, REPAIRED) if replaced else right,
        idea * (1 + right) / 2,
        idea * right / (1 + len(missed_by_others)),
    )
    told_of_shapes = _told_of_shapes(exercise, hidden.shapes, [one.reason for one in outcomes])
    told = (
        _joined([one for one in (told_of_shapes, NOT_REPAIRED if replaced else "") if one]),
        _told_of_idea(part, missed, ignored, right),
        _told_of_targets(missed_by_others, idea, right),
    )
    rows = [
        _row(part, what, of, share, why if share < 1 else "")
        for what, of, share, why in zip(
            (right_row(len(outcomes)), idea_row(main), targets_row(others)),
            points_of_rows(part), shares, told, strict=True,
        )
    ]  # fmt: skip
    if part.right_starter and by_shape and not refusal:
        rows = _not_below_the_starter(rows)
    return [one for one in rows if one.of] + _rows_beside(part, missed, by_shape)


def _not_below_the_starter(rows: list[MarkRow]) -> list[MarkRow]:
    """Return a kernel's rows with at least as many points as those of a starter that is right.

    Such a starter has the points of the first row. What is missing is added there.
    """
    first, *others = rows
    missing = first.of - total(rows)[0]
    if missing <= 0:
        return rows
    told = f"{first.told} {AS_THE_STARTER}".strip()
    return [replace(first, points=first.points + missing, told=told), *others]


def points_of_rows(part: Part) -> list[int]:
    """Return the maximum points of a kernel's three rows: right result, idea and targets.

    The third one is 0 if the part has no other targets that give points.
    """
    right, idea, targets = RIGHT, IDEA, TARGETS
    if part.definition.kind == "repair":
        right, idea, targets = REPAIRED, IDEA_OF_REPAIRED, TARGETS_OF_REPAIRED
    return split_points(part.points, (right, idea, targets if other_targets(part) else 0))


def right_row(shapes: int) -> str:
    """Return the text (`MarkRow.what`) of the row for a right result at this number of shapes.

    The text is such as "right at 6 shapes, and the virtual GPU finds nothing".
    """
    return f"right at {shapes} shapes, and the virtual GPU finds nothing"


def idea_row(main: Sequence[Target]) -> str:
    """Return the text (`MarkRow.what`) of the row for the idea of the task, the main targets.

    The text is "uses the idea: " and the words of these targets, separated by semicolons.
    """
    return f"uses the idea: {'; '.join(one.words for one in main)}"


def targets_row(others: Sequence[Target]) -> str:
    """Return the text (`MarkRow.what`) of the row for the other targets.

    The text is "reaches the targets: " and their words, separated by semicolons.
    """
    return f"reaches the targets: {'; '.join(one.words for one in others)}"


def scores(part: Part, target: Target) -> bool:
    """Return True if a target gives points, False if it is only reported next to the mark.

    Targets in machine code give points only if the part is pinned.
    """
    return part.pinned or not target.of_machine


def main_targets(part: Part) -> list[Target]:
    """Return the part's targets that the task is about: those named in `Part.main`."""
    return [one for one in part.definition.targets if one.what in part.main]


def other_targets(part: Part) -> list[Target]:
    """Return the targets that give points and are not those that the task is about."""
    targets = part.definition.targets
    return [one for one in targets if one.what not in part.main and scores(part, one)]


def _rows_beside(part: Part, missed: dict[str, str], by_shape: dict[int, dict]) -> list[MarkRow]:
    """Return one row of 0 of 0 points, marked as `beside`, per target that gives no points.

    The row's text has the target's words and its largest count. missed: maps a target's name to why
    it is missed, or to "". by_shape: maps the index of a shape to the child's message about it.
    """
    return [
        MarkRow(part.exercise, f"{one.words}{_worst(one, by_shape)}", 0, 0, missed[one.what], True)
        for one in part.definition.targets
        if not scores(part, one)
    ]


def _worst(target: Target, by_shape: dict[int, dict]) -> str:
    """Return the largest count of a target at any shape as text such as ": 4".

    Return "" if the target was never counted, or if a count is unknown. by_shape: maps the index of
    a shape to the child's message about it.
    """
    values = [one["value"] for one in _counts(target, by_shape)]
    return f": {max(values):.4g}" if values and None not in values else ""


def _counts(target: Target, by_shape: dict[int, dict]) -> list[dict]:
    """Return one dict per shape with a target's "value" and "cause".

    Shapes at which the target was not counted are left out, such as those of failed launches.
    by_shape: maps the index of a shape to the child's message about it.
    """
    by_target = [one.get("targets", {}) for one in by_shape.values()]
    return [one[target.what] for one in by_target if target.what in one]


def _ignored_targets(
    part: Part, missed: dict[str, str], by_shape: dict[int, dict], slack: float
) -> list[str]:
    """Return the names of missed targets because of which the main ones give no points.

    These are missed targets in `Part.needed`, and then missed targets of the idea (`of_idea`) that
    give points and whose count is unknown or more than `slack` times the limit. missed: maps a
    target's name to why it is missed, or to "". by_shape: maps the index of a shape to the child's
    message about it.
    """
    needed = [one for one in part.needed if missed[one]]
    of_idea = [one for one in part.definition.targets if one.of_idea and scores(part, one)]
    return needed + [one.what for one in of_idea if missed[one.what] and _far(one, by_shape, slack)]


def _far(target: Target, by_shape: dict[int, dict], slack: float) -> bool:
    """Return True unless the count of a target is known and at most `slack` times its limit.

    The count is the largest one of all shapes. by_shape: maps the index of a shape to the child's
    message about it.
    """
    values = [one["value"] for one in _counts(target, by_shape)]
    known = values and None not in values
    return not known or max(values) > slack * target.at_most


def _share_of_idea(part: Part, missed: dict[str, str], ignored: Sequence[str]) -> Fraction:
    """Return the fraction of the main targets that are reached; 0 if `ignored` is not empty.

    missed: maps a target's name to why it is missed, or to "". ignored: the names of missed targets
    because of which the main ones give no points.
    """
    if ignored:
        return Fraction(0)
    return Fraction(sum(not missed[one] for one in part.main), len(part.main))


def _told_of_idea(
    part: Part, missed: dict[str, str], ignored: Sequence[str], right: Fraction
) -> str:
    """Return why the row of the idea lost points, or "".

    missed: maps a target's name to why it is missed, or to "". ignored: the names of missed targets
    because of which the main ones give no points. right: the fraction of the points for a right
    result.
    """
    names = dict.fromkeys((*part.needed, *part.main, *ignored))
    reasons = [missed[one] for one in names if missed[one]]
    return _joined(reasons) or (NOT_RIGHT_EVERYWHERE if right < 1 else "")


def _told_of_targets(reasons: Sequence[str], idea: Fraction, right: Fraction) -> str:
    """Return why the row of the targets lost points, or "".

    reasons: why each missed target is missed. idea, right: the fractions of the other two rows.
    """
    if reasons:
        return _joined(reasons)
    return NO_IDEA if idea < 1 else NOT_RIGHT_EVERYWHERE if right < 1 else ""


def _joined(reasons: Sequence[str]) -> str:
    """Return several reasons as one text with spaces between them, each reason once."""
    return " ".join(dict.fromkeys(reasons))


def _told_of_shapes(exercise: KernelExercise, shapes: Sequence, reasons: Sequence[str]) -> str:
    """Return sentences on the first wrong shape, the number of other wrong ones, and the reasons.

    Return "" if the kernel is right everywhere, and only the reason if it is the same at all
    shapes. Among reasons that differ only in their numbers, only the first is given, and at most
    MOST_REASONS in all. reasons: one per shape, or "".
    """
    wrong = [number for number, one in enumerate(reasons) if one]
    if not wrong or len({one.removeprefix(NOT_REACHED) for one in reasons}) == 1:
        return reasons[0]
    kinds = {_kind(reasons[number]): reasons[number] for number in wrong[::-1]}
    why = _joined([*kinds.values()][::-1][:MOST_REASONS])
    more = f" and {len(wrong) - 1} more" if wrong[1:] else ""
    first = _size(exercise, shapes[wrong[0]])
    return f"Not right at {first}{more} of {len(shapes)} shapes. {why}"


def _kind(reason: str) -> str:
    """Return a reason with "#" for each number and without NOT_REACHED at its beginning.

    Reasons that differ only in these are then equal.
    """
    return re.sub(r"[\d,]+", "#", reason.removeprefix(NOT_REACHED))


def _size(exercise: KernelExercise, shape: Sequence[int]) -> str:
    """Return a phrase on a shape, such as "m×n×k = 16×128×24", or "4096" without names of sizes."""
    sizes = f"{'×'.join(exercise.sizes)} = " if exercise.sizes else ""
    return f"{sizes}{'×'.join(map(str, shape))}"


def _outcome(
    exercise: KernelExercise, shape, seed: int, message: dict | None, problem: str
) -> ShapeOutcome:
    """Return how right a kernel is at a shape.

    seed: the seed of the inputs. message: the child's message on this shape, or None if it sent
    none. problem: why the child ended early, or "".
    """
    if message is None:
        return _refused(sentence(f"{NOT_REACHED}{problem or 'the check ended before'}"))
    if "out" not in message:
        return _refused(str(message.get("ended", "It did not end.")))
    if message["misused"]:
        return _refused(str(message["misused"]))
    right = exercise.reference(*exercise.inputs(shape, seed))
    try:
        out = unpacked(message["out"])
    except (ValueError, TypeError, KeyError):
        return _refused("The result cannot be read.")
    if out.shape != right.shape or out.dtype != np.float32:
        return _refused("The result has the wrong shape or type.")
    wrong = int((out != right).sum())
    reason = f"{wrong:,} of {right.size:,} elements are wrong." if wrong else ""
    found = str(message.get("found") or "")
    return ShapeOutcome(reason or found, Fraction(right.size - wrong, right.size), not found)


def _refused(reason: str) -> ShapeOutcome:
    """Return the outcome of a shape at which nothing is right, with this reason."""
    return ShapeOutcome(reason, Fraction(0), clean=False)


def _missed_target(target: Target, by_shape: dict[int, dict]) -> str:
    """Return why a target is missed or not known, or "" if it is reached at all counted shapes.

    by_shape: maps the index of a shape to the child's message about it.
    """
    counts = _counts(target, by_shape)
    values = [one["value"] for one in counts]
    if not values:
        return NOT_RIGHT
    if None in values:
        return NO_COMPILER
    if not target.missed(max(values)):
        return ""
    causes = (str(one["cause"]) for one in counts if one["cause"])
    return next(causes, f"The count is {max(values):.4g}.")


def _number_rows(part: Part, messages, drawn: Sequence[tuple], problem: str) -> list[MarkRow]:
    """Return the two rows of a function of numbers: the task's cases, and the drawn cases.

    drawn: the arguments of the drawn cases. problem: why it was refused or its child ended early,
    or "". messages: the child's messages about the function.
    """
    exercise = part.definition
    cases = [(case.given, case.right) for case in graded_cases(exercise)]
    known = len(cases)
    cases += [(arguments, exercise.right(*arguments)) for arguments in drawn]
    answers = next((one["answers"] for one in messages if "answers" in one), [])
    stopped = problem or next((str(one["ended"]) for one in messages if "ended" in one), "")
    reasons = [
        _wrong_answer(exercise, arguments, answer, right, stopped)
        for (arguments, right), answer in zip_longest(cases, answers[: len(cases)])
    ]
    rights = [right for _, right in cases]
    of_known, of_drawn = split_points(part.points, (TASK_CASES, DRAWN_CASES))
    return [
        _case_row(part, TASK_ROW, of_known,
                  reasons[:known], rights[:known]),
        _case_row(part, DRAWN_ROW, of_drawn,
                  reasons[known:], rights[known:]),
    ]  # fmt: skip


def _case_row(
    part: Part, what: str, of: int, reasons: Sequence[str], rights: Sequence[float]
) -> MarkRow:
    """Return the row for the cases of a function of numbers, with the points for the right ones.

    what, of: the row's words and its maximum. reasons: why each case is wrong, or "". rights: the
    right answer of each case.
    """
    return _row(part, what, of, share_of_cases(reasons, rights), _case_summary(reasons))


def share_of_cases(reasons: Sequence[str], rights: Sequence[float]) -> Fraction:
    """Return the fraction of the points for right cases, from 0 to 1.

    It is (r² - c²) / (n² - c²), but at least 0: r of n cases are right, and c cases have the most
    frequent answer. So a function that always returns the same number gets 0, one that is right in
    one of two branches gets about a quarter, and a few wrong cases cost little. reasons: why each
    case is wrong, or "". rights: the right answers.
    """
    right, by_chance = reasons.count(""), max(Counter(rights).values(), default=0)
    if right == len(reasons):
        return Fraction(1)
    gained, possible = right**2 - by_chance**2, len(reasons) ** 2 - by_chance**2
    return Fraction(max(0, gained), max(1, possible))


def _wrong_answer(exercise: NumbersExercise, arguments, answer, right: float, problem: str) -> str:
    """Return why the answer in one case is not right, or "".

    answer: what the function returned, or None. problem: why it has no answer, or "".
    """
    if not isinstance(answer, int | float):
        return problem or f"{where(exercise, arguments)} it returns no number."
    if same(answer, right):
        return ""
    return f"{where(exercise, arguments)} it returns {shown(answer)}."


def _case_summary(reasons: Sequence[str]) -> str:
    """Return a sentence with the number of wrong cases and the first one, or "" without any."""
    wrong = [one for one in reasons if one]
    return f"{len(wrong)} of {len(reasons)} cases are wrong. {wrong[0]}" if wrong else ""


def _host_rows(part: Part, messages, refusal: str, problem: str) -> list[MarkRow]:
    """Return a list of one row, in which each named fault costs its percentage of the points.

    The row has no points if the function was refused, if its child ended early, or if the child did
    not send exactly one message with a judgement. refusal, problem: why, or "". messages: the
    child's messages about the function.
    """
    exercise: HostExercise = part.definition
    what, judged = "; ".join(exercise.promises), [one for one in messages if "passed" in one]
    causes = [str(cause) for one in messages for cause in one.get("causes", ())]
    reason = refusal or _joined(causes) or problem or "It was not judged."
    if refusal or problem or len(judged) != 1:
        return [_row(part, what, part.points, Fraction(0), reason)]
    if judged[0]["passed"] is True:
        return [_row(part, what, part.points, Fraction(1), "")]
    return [_row(part, what, part.points, Fraction(100 - judged[0]["lost"], 100), reason)]


def cut(text: str) -> str:
    """Return a text of at most 1500 characters unchanged, and a longer one cut, with a note."""
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]} … (cut: the text has {len(text):,} characters)"


def total(rows: Iterable[MarkRow]) -> tuple[int, int]:
    """Return (sum of the points of the rows, sum of their maxima)."""
    rows = list(rows)
    return sum(row.points for row in rows), sum(row.of for row in rows)
