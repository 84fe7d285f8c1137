"""Turn a child's messages into points; no other module gives points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import sentence
from labs.checking.target import Target
from labs.grading.attempt import unpacked
from labs.grading.hidden import Hidden, HiddenCases, graded_cases
from labs.grading.labs import Part
from labs.host.exercise import HostExercise
from labs.numbers.exercise import NumbersExercise, same, shown, where
from utils.division import cdiv

# Percentages of a kernel's points: right results at all shapes, no findings, the main targets,
# and all others. In an exercise with main targets, the starter's result may be right already.
RESULT_IS_ADDED = (45, 30, 0, 25)
MAIN_IS_ADDED = (10, 15, 70, 5)
BOTH_ARE_ADDED = (30, 25, 40, 5)
# A flawed kernel may give right results already, where a race is not seen in them.
FLAW_IS_CURED = (15, 70, 0, 15)
# Percentages for a function of numbers: the first cases of its task, all of them, and cases drawn
# per class, so that a table of the public cases is worth little.
SIMPLE_CASES, ALL_CASES, DRAWN_CASES = 20, 10, 70
SIMPLE = 4  # the first cases are a quarter of them
LONGEST_TEXT = 1500  # characters of a sentence on a page
NO_FINDING = "the virtual GPU finds nothing"
NOT_RIGHT = "The result is not right, so this is not known."


@dataclass(frozen=True)
class MarkRow:
    """One line of a mark; points and their maximum (`of`) are in hundredths.

    told: why points are missing, or "". beside: True if the row has no points and is reported next
    to the mark, because its count depends on the machine.
    """

    part: str
    what: str
    points: int
    of: int
    told: str = ""
    beside: bool = False


def rows_of(
    part: Part, messages: Sequence[dict], hidden: Hidden | HiddenCases | None, problem: str
) -> list[MarkRow]:
    """Return all rows of one part of a lab.

    messages: the child's messages about this exercise. hidden: its hidden shapes or cases, None for
    a host function. problem: how the child ended if it did not end by itself, else "".
    """
    exercise = part.definition
    refusals = [one["refused"] for one in messages if "refused" in one]
    if isinstance(exercise, KernelExercise):
        return _kernel_rows(part, messages, hidden, refusals[0] if refusals else "", problem)
    refusal = refusals[0] if refusals else ""
    if isinstance(exercise, NumbersExercise):
        return _number_rows(part, messages, hidden.given, refusal or problem)
    return _host_rows(part, messages, refusal, problem)


def split_points(points: int, weights: Sequence[int]) -> list[int]:
    """Split points by weight into whole hundredths with the same sum.

    Hundredths left over by rounding go to the last shares, one each.
    """
    whole = 100 * points
    shares = [whole * weight // sum(weights) for weight in weights]
    for position in range(whole - sum(shares)):
        shares[-1 - position] += 1
    return shares


def _kernel_rows(part: Part, messages, hidden: Hidden, refusal: str, problem: str) -> list[MarkRow]:
    exercise = part.definition
    problem = next((str(one["ended"]) for one in messages if "ended" in one), problem)
    by_shape = {one["shape"]: one for one in messages if isinstance(one.get("shape"), int)}
    points = iter(split_points(part.points, _weights(part, len(hidden.shapes))))
    rows, right = [], []
    for number, shape in enumerate(hidden.shapes):
        reason = refusal or _wrong_result(
            exercise, shape, hidden.seed, by_shape.get(number), problem
        )
        right.append(not reason)
        rows.append(_row(part, f"right at {_size(exercise, shape)}", next(points), reason))
    findings = [one["found"] for one in by_shape.values() if one.get("found")]
    reason = str(findings[0]) if findings else ("" if right[0] else NOT_RIGHT)
    rows.append(_row(part, NO_FINDING, next(points), reason))
    missed = {one.what: _missed_target(one, by_shape, right) for one in exercise.targets}
    for target in exercise.targets:
        reason, value = missed[target.what]
        if target.what in part.main and not reason:
            reason = next((missed[one][0] for one in part.needed), "")
        if scores(part, target):
            rows.append(_row(part, f"{target.words}{value}", next(points), reason))
        else:
            rows.append(MarkRow(part.exercise, f"{target.words}{value}", 0, 0, reason, beside=True))
    return rows


def scores(part: Part, target: Target) -> bool:
    """Return True if a target gives points, False if it is only reported next to the mark."""
    return part.pinned or not target.of_machine


def percents(part: Part) -> tuple[int, int, int, int]:
    """Return the percentages for the result, the virtual GPU's findings, main and other targets."""
    if getattr(part.definition, "kind", "") == "repair":
        return FLAW_IS_CURED
    if not part.main:
        return RESULT_IS_ADDED
    return BOTH_ARE_ADDED if part.adds_result else MAIN_IS_ADDED


def _weights(part: Part, shapes: int) -> list[int]:
    """Return the weight of every row: the shapes, the virtual GPU's findings, each scoring target.

    Each of these kinds splits its percentage evenly; a kind without rows gives nothing.
    """
    scored = [one.what in part.main for one in part.definition.targets if scores(part, one)]
    result, findings, main, others = (10_000 * one for one in percents(part))
    main, others = main // max(1, sum(scored)), others // max(1, scored.count(False))
    return [result // shapes] * shapes + [findings] + [main if one else others for one in scored]


def _row(part: Part, what: str, points: int, reason: str) -> MarkRow:
    return MarkRow(part.exercise, what, 0 if reason else points, points, reason)


def _size(exercise: KernelExercise, shape: Sequence[int]) -> str:
    sizes = f"{'×'.join(exercise.sizes)} = " if exercise.sizes else ""
    return f"{sizes}{'×'.join(map(str, shape))}"


def _wrong_result(
    exercise: KernelExercise, shape, seed: int, message: dict | None, problem: str
) -> str:
    """Return why the result at a shape is not right, or ""."""
    if message is None:
        return sentence(f"This was not reached: {problem or 'the check ended before'}")
    if "out" not in message:
        return str(message.get("ended", "It did not end."))
    if message["misused"]:
        return str(message["misused"])
    right = exercise.reference(*exercise.inputs(shape, seed))
    try:
        out = unpacked(message["out"])
    except (ValueError, TypeError, KeyError):
        return "The result cannot be read."
    if out.shape != right.shape or out.dtype != np.float32:
        return "The result has the wrong shape or type."
    wrong = int((out != right).sum())
    return f"{wrong:,} of {right.size:,} elements are wrong." if wrong else ""


def _missed_target(
    target: Target, by_shape: dict[int, dict], right: Sequence[bool]
) -> tuple[str, str]:
    """Return why a target is missed, or "", and its worst value as text.

    A kernel that does nothing reaches every count, so a target needs the right result as well.
    """
    if not right[0] or (target.every_shape and not all(right)):
        return NOT_RIGHT, ""
    # A launch that did not end has no counts.
    by_target = [one.get("targets", {}) for one in by_shape.values()]
    counts = [one[target.what] for one in by_target if target.what in one]
    values = [one["value"] for one in counts]
    if any(value is None for value in values):
        return "It is not known on this machine, which has no compiler.", ""
    worst = max(values)
    reason = next((str(one["cause"]) for one in counts if one["cause"]), "")
    if target.missed(worst) and not reason:
        reason = f"The count is {worst:.4g}."
    return reason if target.missed(worst) else "", f": {worst:.4g}"


def _number_rows(part: Part, messages, drawn: Sequence[tuple], problem: str) -> list[MarkRow]:
    exercise = part.definition
    cases = [(case.given, case.right) for case in graded_cases(exercise)]
    known, simple = len(cases), cdiv(len(cases), SIMPLE)
    cases += [(arguments, exercise.right(*arguments)) for arguments in drawn]
    answers = next((one["answers"] for one in messages if "answers" in one), [])
    stopped = problem or next((str(one["ended"]) for one in messages if "ended" in one), "")
    reasons = [
        _wrong_answer(exercise, arguments, answer, right, stopped)
        for (arguments, right), answer in zip_longest(cases, answers[: len(cases)])
    ]
    return [
        _row(part, what, points, _case_summary(own))
        for what, own, points in zip(
            (
                f"right in the first {simple} cases of the task",
                f"right in the first {known} cases of the task",
                "right in cases that are drawn for each class",
            ),
            (reasons[:simple], reasons[:known], reasons[known:]),
            split_points(part.points, (SIMPLE_CASES, ALL_CASES, DRAWN_CASES)),
            strict=True,
        )
    ]


def _wrong_answer(exercise: NumbersExercise, arguments, answer, right: float, problem: str) -> str:
    """Return why the answer in one case is not right, or ""."""
    if not isinstance(answer, int | float):
        return problem or f"{where(exercise, arguments)} it returns no number."
    if same(answer, right):
        return ""
    return f"{where(exercise, arguments)} it returns {shown(answer)}."


def _case_summary(reasons: Sequence[str]) -> str:
    """Return the number of wrong cases and the first of them as a sentence, or ""."""
    wrong = [one for one in reasons if one]
    return f"{len(wrong)} of {len(reasons)} cases are wrong. {wrong[0]}" if wrong else ""


def _host_rows(part: Part, messages, refusal: str, problem: str) -> list[MarkRow]:
    exercise: HostExercise = part.definition
    passed = any(one.get("passed") is True for one in messages)
    causes = [str(cause) for one in messages for cause in one.get("causes", ())]
    reason = refusal or (causes[0] if causes else "") or problem or "It was not judged."
    return [_row(part, "; ".join(exercise.promises), 100 * part.points, "" if passed else reason)]


def cut(text: str) -> str:
    """Return a text as it is, or a long one cut, with a note: a student chooses how long it is."""
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]} … (cut: the text has {len(text):,} characters)"


def total(rows: Iterable[MarkRow]) -> tuple[int, int]:
    """Return the points of the rows and their maximum, both in hundredths."""
    rows = list(rows)
    return sum(row.points for row in rows), sum(row.of for row in rows)
