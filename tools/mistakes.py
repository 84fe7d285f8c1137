"""Make the tables by which `check` recognises mistakes: `python -m tools.mistakes tiling`.

For each wrong version of an exercise, and for mutants of its right ones, the table holds what a run
of it does and the sentence that `check` reports. A wrong version whose cause the checker finds
without a table needs no entry. `--list` shows wrong versions that behave alike and have different
sentences.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from labs.checking.exercise import Exercise, KernelExercise
from labs.checking.judge import run_shapes
from labs.checking.placeholders import fill
from labs.checking.recognise import (
    EXACT,
    FILE,
    MistakeTable,
    fingerprints,
    first_filled,
    goes_wrong,
    in_order,
)
from labs.checking.run import Run
from labs.checking.submission_checks import no_kernel
from labs.checking.variants import function_in, right_versions, wrong_versions
from labs.exercises import EXERCISES
from labs.grading.mutants import Mutant, sample
from labs.numbers import exercise as numbers
from labs.numbers.exercise import NumbersExercise
from tools.mutant_sentences import sentence_of
from utils.paths import ROOT

OF_A_RIGHT_ONE = 8  # mutants per version of right.py; the solution has no limit
PATIENCE = 5.0  # seconds of one launch
ALL_CASES = 120.0  # seconds of all cases of a function of numbers
# Files that every table depends on, in addition to the exercise's own.
_SOURCES = (
    "labs/checking/recognise.py",
    "labs/checking/placeholders.py",
    "labs/grading/mutants.py",
    "labs/grading/mutation_rules.py",
    "tools/mistakes.py",
    "tools/mutant_sentences.py",
)


@dataclass(frozen=True)
class Known:
    """A wrong kernel, or a wrong function of numbers, whose behaviour is known.

    what: the mistake in words. prints: its fingerprints, the most exact first. sentence: what
    `check` says about it, or None if the checker says so without a table. listed: True for a
    version of `wrong.py`, False for a mutant. run: the run that went wrong; None for a function of
    numbers.
    """

    what: str
    prints: tuple[str, ...]
    sentence: str | None
    listed: bool
    run: Run | None = None


def table(exercise: Exercise) -> dict:
    """Return the content of `mistakes.json` for an exercise, a dict with three keys.

    "made_from" is a digest of the files that the table depends on. "known" and "alike" map each
    sentence to its fingerprints, separated by spaces. Those in "known" are the exact ones of
    `wrong.py`; those in "alike" are the exact ones of mutants, and coarser ones of both.
    """
    made = table_of(list(known_kernels(exercise)))
    return {
        "made_from": digest_of(exercise),
        "known": _by_sentence(made.known),
        "alike": _by_sentence(made.alike),
    }


def table_of(every: Sequence[Known]) -> MistakeTable:
    """Return the table that maps fingerprints of these kernels to sentences."""
    listed, alike = _listed(every), {}
    for level in range(max((len(one.prints) for one in every), default=0)):
        for mark, group in _by_print(every, level).items():
            sentence = _shared(group, listed, level)
            if sentence and mark not in listed and mark not in alike:
                alike[mark] = [sentence]
    return MistakeTable(listed, alike)


def _listed(every: Sequence[Known]) -> dict[str, list[str]]:
    """Return a dict from exact fingerprint to sentences, for the versions of `wrong.py`.

    The sentences are in the order in which `check` tries them. A fingerprint is left out if `check`
    would say the sentence of another kernel on one that has it, or if no kernel with it needs a
    sentence.
    """
    sentences_by_mark = {}
    for mark, group in _by_print([one for one in every if one.listed], 0).items():
        sentences = in_order({one.sentence for one in group if one.sentence})
        if sentences and not _taken_for_another(group, sentences):
            sentences_by_mark[mark] = sentences
    return sentences_by_mark


def _taken_for_another(group: Sequence[Known], sentences: Sequence[str]) -> list[Known]:
    """Return the kernels of a group for which `check` would say the sentence of another kernel.

    group: kernels with the same behaviour. sentences: all sentences of the group, in the order in
    which `check` tries them; it says the first one that it can fill.
    """
    if len(sentences) == 1:
        return []
    return [
        one
        for one in group
        if one.sentence and first_filled(sentences, one.run) != fill(one.sentence, one.run)
    ]


def _shared(group: Sequence[Known], listed: Mapping[str, list[str]], level: int) -> str | None:
    """Return the sentence for all kernels of a group, which share a fingerprint, or None.

    Kernels that behave exactly alike get the sentence of `wrong.py`, or None if it has several for
    them, or else that of the first mutant. A coarser fingerprint gives a sentence only if all its
    kernels share that sentence. listed: exact fingerprint -> sentences. level: the index of the
    fingerprint in `Known.prints`.
    """
    if level < EXACT:
        of_wrong = {one.sentence for one in group if one.listed and one.sentence}
        if of_wrong:
            return of_wrong.pop() if len(of_wrong) == 1 else None
        return group[0].sentence
    sentences = {one.sentence or listed.get(one.prints[0], [None])[0] for one in group}
    return sentences.pop() if len(sentences) == 1 else None


def _by_print(every: Sequence[Known], level: int) -> dict[str, list[Known]]:
    """Return a dict from fingerprint to the kernels that have it at this level.

    level: the index in the kernels' `prints`; a kernel with fewer fingerprints is left out.
    """
    groups = defaultdict(list)
    for one in every:
        if level < len(one.prints):
            groups[one.prints[level]].append(one)
    return groups


def _by_sentence(marks: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return a dict from each sentence to its fingerprints, sorted and separated by spaces.

    marks: the sentences of each fingerprint.
    """
    groups = defaultdict(list)
    for mark, sentences in sorted(marks.items()):
        for sentence in sentences:
            groups[sentence].append(mark)
    return {sentence: " ".join(groups[sentence]) for sentence in sorted(groups)}


# ------------------------------------------------------------------------------- what is run


def known_kernels(exercise: Exercise) -> Iterator[Known]:
    """Yield the wrong versions and mutants of an exercise that run and go wrong.

    A kernel goes wrong if its result is wrong or the virtual GPU finds a flaw. For an exercise
    about numbers, there are no mutants. An exercise that is neither about a kernel nor about
    numbers yields nothing.
    """
    if isinstance(exercise, NumbersExercise):
        yield from _formulas(exercise)
    if not isinstance(exercise, KernelExercise):
        return
    for one in wrong_versions(exercise):
        yield from known(exercise, one.what, one.text, one.says, listed=True)
    for one in mutants_of(exercise):
        yield from known(exercise, one.what, one.text, sentence_of(one, exercise), listed=False)


def mutants_of(exercise: KernelExercise, but: str = "") -> Iterator[Mutant]:
    """Yield all mutants of the solution and at most 8 of each version of `right.py`.

    but: the words on the version whose mutants are left out.
    """
    yield from sample(exercise.solution_text)
    for what, text in right_versions(exercise):
        if what != but:
            yield from sample(text, OF_A_RIGHT_ONE)


def known(
    exercise: KernelExercise, what: str, text: str, says: str, listed: bool
) -> Iterator[Known]:
    """Run the kernel in a text; yield one Known if it runs and goes wrong, else nothing.

    It goes wrong if its result is wrong or the virtual GPU finds a flaw. what: the mistake in
    words. text: the whole file. says: the sentence on the mistake. listed: True for a version of
    `wrong.py`.
    """
    try:
        kernel = function_in(exercise.name, text)
    except Exception:  # a mutant that cannot even be defined
        return
    if no_kernel(exercise, kernel):
        return
    runs, cause = run_shapes(exercise, kernel, PATIENCE)
    if cause is None or not runs or not goes_wrong(runs[-1]):  # no wrong result
        return
    named = listed and (fill(says, runs[-1]) or says) in cause
    yield Known(what, tuple(fingerprints(runs)), None if named else says, listed, runs[-1])


def _formulas(exercise: NumbersExercise) -> Iterator[Known]:
    """Yield the wrong versions of an exercise about numbers that give wrong answers."""
    for one in wrong_versions(exercise):
        function = function_in(exercise.name, one.text)
        mark = numbers.fingerprint(exercise, function, ALL_CASES)
        if mark:
            named = one.says in (numbers.wrong_answer(exercise, function, ALL_CASES) or "")
            yield Known(one.what, (mark,), None if named else one.says, listed=True)


def digest_of(exercise: Exercise) -> str:
    """Return 16 hexadecimal digits of a hash of all files that an exercise's table depends on.

    Imports, docstrings and lists of harmless slips are left out, because they change no table.
    """
    files = [ROOT / name for name in _SOURCES]
    own = ("exercise", "formula", "solution", "right", "wrong")
    files += [file for name in own if (file := exercise.folder / f"{name}.py").exists()]
    texts = "".join(_effective(file.read_text(encoding="utf-8")) for file in files)
    return hashlib.sha256(texts.encode()).hexdigest()[:16]


def _effective(text: str) -> str:
    """Return a file's text without the lines of imports, of docstrings and of HARMLESS."""
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_list = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HARMLESS"
        if is_docstring or is_list or isinstance(node, ast.Import | ast.ImportFrom):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "".join(lines)


# -------------------------------------------------------------------------------- the command


def write(name: str) -> list[str]:
    """Write the `mistakes.json` of an exercise; return a list of one line for the terminal.

    The line has the numbers of sentences in both parts of the table. name: the exercise's name.
    """
    warnings.simplefilter("ignore")
    exercise = EXERCISES[name]
    made = table(exercise)
    (exercise.folder / FILE).write_text(as_text(made), encoding="utf-8")
    return [f"{name}: {len(made['known'])} + {len(made['alike'])} sentences"]


def as_text(made: dict) -> str:
    """Return a table as the JSON text of its file, with one line per key."""
    parts = (f"{json.dumps(key)}: {json.dumps(made[key], ensure_ascii=False)}" for key in made)
    return "{\n" + ",\n".join(parts) + "\n}\n"


def conflicts(name: str) -> list[str]:
    """Return a line per group of wrong versions that behave alike but need different sentences.

    name: the exercise's name.
    """
    warnings.simplefilter("ignore")
    listed = [one for one in known_kernels(EXERCISES[name]) if one.listed]
    lines = []
    for group in _by_print(listed, 0).values():
        sentences = in_order({one.sentence for one in group if one.sentence})
        if _taken_for_another(group, sentences):
            listing = " | ".join(f"{one.what}: {one.sentence}" for one in group if one.sentence)
            lines.append(f"{name}: {listing}")
    return lines


def main() -> None:
    """Write the tables of mistakes and print a line per exercise.

    With --list, print the conflicts of sentences and write nothing. The arguments are names of
    exercises, by default all with a table.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.mistakes", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="EXERCISE", help="default: all with a table")
    parser.add_argument("--list", action="store_true", help="conflicts; nothing is written")
    options = parser.parse_args()
    kinds = (KernelExercise, NumbersExercise)
    names = options.names or [name for name, one in EXERCISES.items() if isinstance(one, kinds)]
    with ProcessPoolExecutor() as pool:
        work = conflicts if options.list else write
        for done in as_completed([pool.submit(work, name) for name in names]):
            print("\n".join(done.result()), flush=True)


if __name__ == "__main__":
    main()
