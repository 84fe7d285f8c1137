"""Helpers for tests of submissions: versions of a solution and other texts, and their verdicts."""

import ast
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from random import Random

from labs import EXERCISES, Verdict, check
from labs.checking import variants
from labs.checking.exercise import Exercise, KernelExercise
from labs.checking.run import run_kernel
from labs.grading.mutants import mutants

_PLACEHOLDER = re.compile(r"\{[^{}]+\}")
ENDLESS = re.compile(r"for ever|never ends|loop without")
PATIENCE = 60.0  # seconds, enough even on a busy machine
SHORT = 2.0  # seconds, for kernels that are known never to end
FURTHER = 3  # the number of drawn shapes, in addition to those of the exercise


def changed(name: str, *changes: tuple[str, str]) -> Callable:
    """Return the solution of an exercise with pieces of its text replaced everywhere."""
    return from_text(name, variants.changed(EXERCISES[name], changes))


def written(name: str, body: str) -> Callable:
    """Return a kernel with an exercise's parameters and this body, which is indented already."""
    parameters = ", ".join(EXERCISES[name].parameters)
    text = f"from numba import cuda, float32\n\n\n@cuda.jit\ndef {name}({parameters}):\n{body}"
    return from_text(name, text)


def from_text(name: str, text: str) -> Callable:
    """Execute a text and return its function of this name."""
    return variants.function_in(name, text)


def wrong(name: str, what: str) -> Callable:
    """Return a version of `wrong.py` by its label."""
    versions = {one.what: one.text for one in variants.wrong_versions(EXERCISES[name])}
    return from_text(name, versions[what])


def right(name: str, what: str) -> Callable:
    """Return a version of `right.py` by its label."""
    return from_text(name, dict(variants.right_versions(EXERCISES[name]))[what])


def judged(name: str, text: str, what: str = "") -> Verdict:
    """Return the verdict on a text. what: its label; a version that never ends is stopped soon."""
    return _judged(name, text, SHORT if ENDLESS.search(what) else PATIENCE)


# Several tests are about the same text; pytest runs those of one exercise in one process.
@functools.cache
def _judged(name: str, text: str, patience: float) -> Verdict:
    verdict = check(name, from_text(name, text), patience)
    _PASSED[_key(name, text)] = verdict.passed
    return verdict


# Exercise and syntax tree of a text -> whether `check` accepts it.
_PASSED: dict[tuple[str, str], bool] = {}


def _key(name: str, text: str) -> tuple[str, str]:
    return name, ast.dump(ast.parse(text))


def passes(name: str, text: str) -> bool:
    """Return True if `check` accepts a text. Of texts with one syntax tree, one is judged."""
    key = _key(name, text)
    if key not in _PASSED:
        _PASSED[key] = check(name, from_text(name, text), SHORT).passed
    return _PASSED[key]


def holds(verdict: Verdict, sentence: str) -> bool:
    """Return True if a verdict says a sentence of `wrong.py`, with any text for placeholders."""
    text = "\n".join((*verdict.causes, str(verdict)))  # with backticks, and without
    pattern = ".+?".join(map(re.escape, _PLACEHOLDER.split(sentence)))
    return re.search(pattern, text, re.DOTALL | re.IGNORECASE) is not None


def says_twice(verdict: Verdict, sentence: str) -> bool:
    """Return True if the causes hold a sentence of five words or more twice, without backticks.

    Such a sentence of `wrong.py` repeats what the checker says by itself.
    """
    text, said = (one.replace("`", "") for one in ("\n".join(verdict.causes), sentence))
    return len(said.split()) >= 5 and text.count(said) > 1


def needs_the_compiler(verdict: Verdict) -> bool:
    """Return True if a target is unknown here because the CUDA compiler is missing."""
    return verdict.passed and any("Not known on this machine" in note for note in verdict.notes)


# ------------------------------------------------------------------------------------- mutants


def passing_mutants(exercise: Exercise) -> list[tuple[str, Callable]]:
    """Return the label and the function of each mutant of the solution that `check` accepts."""
    name = exercise.name
    return [
        (what, from_text(name, text))
        for what, text in mutants(exercise.solution_text)
        if passes(name, text)
    ]


def unexplained(passed: Iterable[str], harmless: Mapping[str, str]) -> list[str]:
    """Return the passing mutants whose labels begin with no entry of `HARMLESS`."""
    return [what for what in passed if not what.startswith(tuple(harmless))]


def stale(passed: Iterable[str], harmless: Mapping[str, str]) -> list[str]:
    """Return the entries of `HARMLESS` with which no passing mutant's label begins."""
    passed = list(passed)
    return [entry for entry in harmless if not any(what.startswith(entry) for what in passed)]


def wrong_shapes(exercise: KernelExercise, kernel: Callable) -> list[tuple[int, ...]]:
    """Draw a few shapes and return those at which a kernel gives a wrong result."""
    random = Random(exercise.name)
    drawn = [exercise.vary(shape, random) for shape in exercise.shapes[1 : FURTHER + 1]]
    return [shape for shape in drawn if run_kernel(exercise, kernel, shape, PATIENCE).wrong.any()]
