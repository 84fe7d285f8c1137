"""From what a child has seen to points: the one place where they are given."""

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

# Of the points of a kernel, in percent: a right result at all shapes, nothing found, the main
# targets, and all others. Where there are main targets, the starter's result may be right already.
RESULT_IS_ADDED = (45, 30, 0, 25)
MAIN_IS_ADDED = (10, 15, 70, 5)
BOTH_ARE_ADDED = (30, 25, 40, 5)
# Of a function of numbers: the first cases of its task, all of them, and cases that are drawn for
# each class, so that a table of those that everyone can read is worth little.
SIMPLE_CASES, ALL_CASES, DRAWN_CASES = 20, 10, 70
SIMPLE = 4  # the first part of the cases is one in so many
NOT_RIGHT = "The result is not right, so this is not known."


@dataclass(frozen=True)
class Row:
    """One line of a mark. points, of: hundredths. told: why points are missing, or "".

    beside: the row has no points and stands beside the mark, because it moves with the machine.
    """

    part: str
    what: str
    points: int
    of: int
    told: str = ""
    beside: bool = False


def rows_of(
    part: Part, seen: Sequence[dict], hidden: Hidden | HiddenCases | None, ended: str
) -> list[Row]:
    """All rows of a part. seen: its messages. ended: how the child ended, where not by itself."""
    asked = part.asked
    refused = [one["refused"] for one in seen if "refused" in one]
    if isinstance(asked, KernelExercise):
        return _of_kernel(part, seen, hidden, refused[0] if refused else "", ended)
    refusal = refused[0] if refused else ""
    if isinstance(asked, NumbersExercise):
        return _of_numbers(part, seen, hidden.given, refusal or ended)
    return _of_host(part, seen, refusal, ended)


def shared_out(points: int, weights: Sequence[int]) -> list[int]:
    """Points in hundredths by weight, whole, with the same sum: what is left goes to the last."""
    whole = 100 * points
    given = [whole * weight // sum(weights) for weight in weights]
    for place in range(whole - sum(given)):
        given[-1 - place] += 1
    return given


def _of_kernel(part: Part, seen, hidden: Hidden, refused: str, ended: str) -> list[Row]:
    asked = part.asked
    ended = next((str(one["ended"]) for one in seen if "ended" in one), ended)
    by_shape = {one["shape"]: one for one in seen if isinstance(one.get("shape"), int)}
    points = iter(shared_out(part.points, _weights(part, len(hidden.shapes))))
    rows, right = [], []
    for number, shape in enumerate(hidden.shapes):
        told = refused or _wrong(asked, shape, hidden.seed, by_shape.get(number), ended)
        right.append(not told)
        rows.append(_row(part, f"right at {_size(asked, shape)}", next(points), told))
    found = [one["found"] for one in by_shape.values() if one.get("found")]
    told = str(found[0]) if found else ("" if right[0] else NOT_RIGHT)
    rows.append(_row(part, "the virtual GPU finds nothing", next(points), told))
    missed = {one.what: _missed(one, by_shape, right) for one in asked.targets}
    for target in asked.targets:
        told, value = missed[target.what]
        if target.what in part.main and not told:
            told = next((missed[one][0] for one in part.needed), "")
        if scores(part, target):
            rows.append(_row(part, f"{target.words}{value}", next(points), told))
        else:
            rows.append(Row(part.exercise, f"{target.words}{value}", 0, 0, told, beside=True))
    return rows


def scores(part: Part, target: Target) -> bool:
    """Whether a target gives points, or stands beside the mark."""
    return part.pinned or not target.of_machine


def percents(part: Part) -> tuple[int, int, int, int]:
    """Of the result, of what is found, of the main targets, and of the others."""
    if not part.main:
        return RESULT_IS_ADDED
    return BOTH_ARE_ADDED if part.adds_result else MAIN_IS_ADDED


def _weights(part: Part, shapes: int) -> list[int]:
    """Of the rows in their order: the shapes, what was found, and each target that gives points.

    Each of the four kinds shares its percents out evenly; kinds that are not there give nothing.
    """
    scored = [one.what in part.main for one in part.asked.targets if scores(part, one)]
    result, found, main, others = (10_000 * one for one in percents(part))
    main, others = main // max(1, sum(scored)), others // max(1, scored.count(False))
    return [result // shapes] * shapes + [found] + [main if one else others for one in scored]


def _row(part: Part, what: str, points: int, told: str) -> Row:
    return Row(part.exercise, what, 0 if told else points, points, told)


def _size(asked: KernelExercise, shape: Sequence[int]) -> str:
    sizes = f"{'×'.join(asked.sizes)} = " if asked.sizes else ""
    return f"{sizes}{'×'.join(map(str, shape))}"


def _wrong(asked: KernelExercise, shape, seed: int, message: dict | None, ended: str) -> str:
    """Why the result at a shape is not right, or ""."""
    if message is None:
        return sentence(f"This was not reached: {ended or 'the check ended before'}")
    if "out" not in message:
        return str(message.get("ended", "It did not end."))
    if message["misused"]:
        return str(message["misused"])
    right = asked.reference(*asked.inputs(shape, seed))
    try:
        out = unpacked(message["out"])
    except (ValueError, TypeError, KeyError):
        return "The result cannot be read."
    if out.shape != right.shape or out.dtype != np.float32:
        return "The result has another shape or type."
    wrong = int((out != right).sum())
    return f"{wrong:,} of {right.size:,} elements are wrong." if wrong else ""


def _missed(target: Target, by_shape: dict[int, dict], right: Sequence[bool]) -> tuple[str, str]:
    """Why a target is missed, or "", and its worst value as text.

    A kernel that does nothing reaches every count, so a target needs the right result as well.
    """
    if not right[0] or (target.every_shape and not all(right)):
        return NOT_RIGHT, ""
    counts = [
        one["targets"][target.what] for one in by_shape.values() if target.what in one["targets"]
    ]
    values = [one["value"] for one in counts]
    if any(value is None for value in values):
        return "It is not known on this machine, which has no compiler.", ""
    worst = max(values)
    told = next((str(one["cause"]) for one in counts if one["cause"]), "")
    if target.missed(worst) and not told:
        told = f"{worst:.4g} were counted."
    return told if target.missed(worst) else "", f": {worst:.4g}"


def _of_numbers(part: Part, seen, drawn: Sequence[tuple], ended: str) -> list[Row]:
    asked = part.asked
    cases = [(case.given, case.right) for case in graded_cases(asked)]
    known, simple = len(cases), -(-len(cases) // SIMPLE)
    cases += [(given, asked.right(*given)) for given in drawn]
    answers = next((one["answers"] for one in seen if "answers" in one), [])
    stopped = ended or next((str(one["ended"]) for one in seen if "ended" in one), "")
    told = [
        _wrong_answer(asked, given, answer, right, stopped)
        for (given, right), answer in zip_longest(cases, answers[: len(cases)])
    ]
    return [
        _row(part, what, points, _of_cases(own))
        for what, own, points in zip(
            (
                f"right in the first {simple} cases of the task",
                f"right in the first {known} cases of the task",
                "right in cases that are drawn for each class",
            ),
            (told[:simple], told[:known], told[known:]),
            shared_out(part.points, (SIMPLE_CASES, ALL_CASES, DRAWN_CASES)),
            strict=True,
        )
    ]


def _wrong_answer(asked: NumbersExercise, given, answer, right: float, stopped: str) -> str:
    """Why the answer in one case is not right, or ""."""
    if not isinstance(answer, int | float):
        return stopped or f"{where(asked, given)} it returns no number."
    return "" if same(answer, right) else f"{where(asked, given)} it returns {shown(answer)}."


def _of_cases(told: Sequence[str]) -> str:
    """The first that is wrong, and how many are."""
    wrong = [one for one in told if one]
    return f"{len(wrong)} of {len(told)} cases are wrong. {wrong[0]}" if wrong else ""


def _of_host(part: Part, seen, refused: str, ended: str) -> list[Row]:
    asked: HostExercise = part.asked
    passed = any(one.get("passed") is True for one in seen)
    causes = [str(cause) for one in seen for cause in one.get("causes", ())]
    told = refused or (causes[0] if causes else "") or ended or "It was not judged."
    return [_row(part, "; ".join(asked.promises), 100 * part.points, "" if passed else told)]


def total(rows: Iterable[Row]) -> tuple[int, int]:
    """Points and their maximum, in hundredths."""
    rows = list(rows)
    return sum(row.points for row in rows), sum(row.of for row in rows)
