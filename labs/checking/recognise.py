"""Recognise mistakes by what a run does, whatever the spelling of the kernel.

A run is reduced to fingerprints, from the most exact to the coarsest. `mistakes.json` of an
exercise says which sentence belongs to which fingerprint; `python -m tools.mistakes` makes it from
`wrong.py` and from mutants of the right kernels. A fingerprint that two known mistakes with
different sentences share is not in the table.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from labs.checking.placeholders import conditions_in, fill
from labs.checking.run import Run
from virtual_gpu import Finding

FILE = "mistakes.json"
UNWRITTEN = np.float32(-12345.678)  # replaces elements that were never written
_FLAWS = 2  # the most findings in a fingerprint; later ones depend on the spelling


@dataclass(frozen=True)
class MistakeTable:
    """The known mistakes of one exercise: two dicts from a fingerprint to a list of sentences.

    known: the sentences of `wrong.py` by their most exact fingerprint. alike: sentences of mutants,
    and all sentences by coarser fingerprints. `check` says the first sentence of a list whose
    placeholders the reader's run can fill.
    """

    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    alike: Mapping[str, Sequence[str]] = field(default_factory=dict)


NOTHING_KNOWN = MistakeTable()


@cache
def table_in(folder: Path) -> MistakeTable:
    """Return the table of mistakes that `mistakes.json` in an exercise's folder holds.

    It is an empty table if there is no such file. The result is cached.
    """
    file = folder / FILE
    if not file.exists():
        return NOTHING_KNOWN
    content = json.loads(file.read_text(encoding="utf-8"))
    return MistakeTable(*(_by_print(content[part]) for part in ("known", "alike")))


def _by_print(sentences: Mapping[str, str]) -> dict[str, list[str]]:
    """Return a dict from each fingerprint to the list of its sentences.

    In a list, sentences whose placeholders set more conditions come first, and equal ones are in
    alphabetical order. sentences: maps each sentence to its fingerprints, separated by spaces.
    """
    by_print = defaultdict(list)
    for sentence in in_order(sentences):
        for one in sentences[sentence].split():
            by_print[one].append(sentence)
    return by_print


def in_order(sentences: Iterable[str]) -> list[str]:
    """Return sentences as a list in the order in which they are tried.

    Sentences whose placeholders set more conditions come first, and equal ones are in alphabetical
    order.
    """
    return sorted(sentences, key=lambda sentence: (-conditions_in(sentence), sentence))


def known_mistake(table: MistakeTable, runs: Sequence[Run]) -> str | None:
    """Return the sentence of the mistake in `wrong.py` that behaves exactly alike, or None.

    Its placeholders are filled from the last run; the result is None, too, if that run lacks a
    value for one of them. runs: the runs at all shapes, in order, up to the first that goes wrong.
    """
    return first_filled(table.known.get(next(fingerprints(runs)), ()), runs[-1])


def similar_mistake(table: MistakeTable, runs: Sequence[Run]) -> str | None:
    """Return the sentence of a known mistake that shares a fingerprint with these runs, or None.

    More exact fingerprints are tried first. The placeholders are filled from the last run, and
    sentences for which it lacks a value are skipped. runs: the runs at all shapes, in order, up to
    the first that goes wrong.
    """
    sentences = (first_filled(table.alike.get(one, ()), runs[-1]) for one in fingerprints(runs))
    return next((sentence for sentence in sentences if sentence), None)


def first_filled(sentences: Iterable[str], run: Run) -> str | None:
    """Return the first sentence whose placeholders the run can fill, with these filled, or None."""
    filled = (fill(sentence, run) for sentence in sentences)
    return next((sentence for sentence in filled if sentence), None)


def goes_wrong(run: Run) -> bool:
    """Return True if a run has a wrong result or a finding that is no warning."""
    return bool(run.wrong.any()) or any(not one.is_warning for one in run.trace.findings)


def fingerprints(runs: Sequence[Run]) -> Iterator[str]:
    """Yield hexadecimal digests of what the runs of a wrong kernel did, the most exact one first.

    If the virtual GPU found flaws in the last run, they are digests of the flaws; otherwise, of the
    wrong or unwritten elements. runs: the runs at all shapes, in order, up to the first that goes
    wrong.
    """
    last, place = runs[-1], len(runs) - 1
    before, accesses = [_digest(run.out) for run in runs[:-1]], (_accesses(last), _left(last))
    flaws = [one for one in last.trace.findings if not one.is_warning]
    if flaws:
        exact = sorted({_flaw(last, one) for one in flaws})[:_FLAWS]
        kinds = sorted({_kind_of_flaw(last, one) for one in flaws})
        yield _print("flaws and accesses", place, before, exact, accesses)
        yield _print("flaws", place, exact)
        yield _print("kinds and accesses", place, kinds, accesses)
        yield _print("kinds", place, kinds)
        yield _print("first kind", _kind_of_flaw(last, flaws[0]))
        return
    where = _digest(last.unwritten), _digest(last.wrong)
    yield _print("values and accesses", place, before, _result(last), accesses)
    yield _print("values", place, _result(last))
    yield _print("elements and accesses", place, where, accesses)
    if last.unwritten.any() or not last.wrong.all():
        yield _print("elements", place, where)


EXACT = 2  # the first fingerprints above, which say what a run did and not only what kind it is


def _flaw(run: Run, one: Finding) -> str:
    """Return JSON text of a finding: `_kind_of_flaw`, index, first thread and number of threads."""
    return json.dumps((
        _kind_of_flaw(run, one), [int(part) for part in one.index or ()], str(one.threads[0]),
        one.threads_in_all,
    ))  # fmt: skip


def _kind_of_flaw(run: Run, one: Finding) -> str:
    """Return a finding's kind, parameter, axis and index range as JSON text, without its thread."""
    reach = [int(part) for part in one.index_range or ()]
    return json.dumps((one.kind, run.parameter(one.array) or "", one.axis, reach))


def _accesses(run: Run) -> list:
    """Return a sorted list of pairs such as ("x load", active lanes), summed over all lines.

    For global memory, the text begins with the parameter's name, otherwise with the memory space.
    """
    lanes: Counter = Counter()
    for one in run.trace.access_counts:
        name = run.parameter(one.array) if one.space == "global" else None
        lanes[f"{name or one.space} {one.kind}"] += int(one.lanes)
    return sorted(lanes.items())


def _left(run: Run) -> list[str]:
    """Return a list with a digest of each scratch array after the launch, in parameter order."""
    by_name = zip(run.job.parameters, run.left, strict=False)
    return [_digest(array) for name, array in by_name if name in run.job.scratch]


def _result(run: Run) -> str:
    """Return a digest of the result, in which all unwritten elements have one fixed value."""
    return _digest(np.where(run.unwritten, UNWRITTEN, run.out))


def _digest(array: np.ndarray) -> str:
    """Return a digest of an array's values, 12 hexadecimal digits, in which all NaNs are equal."""
    if array.dtype.kind == "f":
        array = np.nan_to_num(array, nan=7e37, posinf=8e37, neginf=9e37) + np.float32(0)
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]


def _print(*facts) -> str:
    """Return 10 hexadecimal digits of a hash of these facts, which must be JSON values."""
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:10]
