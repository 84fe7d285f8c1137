"""What readers hand in: versions of a solution, or a text of their own; and what holds for them."""

import re
from collections.abc import Callable, Iterable, Mapping
from random import Random

from labs import EXERCISES, Verdict, check
from labs.checking import variants
from labs.checking.exercise import Exercise, KernelExercise
from labs.checking.run import run
from labs.grading.mutants import mutants

_PLACE = re.compile(r"\{[^{}]+\}")
_ENDLESS = re.compile(r"for ever|never ends|loop without")
PATIENCE = 60.0  # seconds, also on a machine that is busy
SHORT = 2.0  # seconds, for what is known never to end
FURTHER = 3  # shapes, besides those of the exercise


def changed(name: str, *changes: tuple[str, str]) -> Callable:
    """The solution of an exercise with pieces of its text replaced, each wherever it stands."""
    return from_text(name, variants.changed(EXERCISES[name], changes))


def written(name: str, body: str) -> Callable:
    """A kernel (a, b, c ...) of an exercise from the text of its body, four spaces deep."""
    parameters = ", ".join(EXERCISES[name].parameters)
    text = f"from numba import cuda, float32\n\n\n@cuda.jit\ndef {name}({parameters}):\n{body}"
    return from_text(name, text)


def from_text(name: str, text: str) -> Callable:
    """The function of this name in a text."""
    return variants.function_in(name, text)


def wrong(name: str, what: str) -> Callable:
    """A version of `wrong.py`, by what was done."""
    found = {one.what: one.text for one in variants.wrong_versions(EXERCISES[name])}
    return from_text(name, found[what])


def right(name: str, what: str) -> Callable:
    """A version of `right.py`, by what is different."""
    return from_text(name, dict(variants.right_versions(EXERCISES[name]))[what])


def judged(name: str, text: str, what: str = "") -> Verdict:
    """The verdict on a text. what: was done; those that never end are stopped soon."""
    patience = SHORT if _ENDLESS.search(what) else PATIENCE
    return check(name, from_text(name, text), patience)


def holds(verdict: Verdict, sentence: str) -> bool:
    """Whether a verdict says a sentence of `wrong.py`, whatever stands at its places."""
    told = "\n".join((*verdict.causes, str(verdict)))  # with backticks, and without
    pattern = ".+?".join(map(re.escape, _PLACE.split(sentence)))
    return re.search(pattern, told, re.DOTALL | re.IGNORECASE) is not None


def needs_the_compiler(verdict: Verdict) -> bool:
    """Whether a target is not known here, because the compiler of CUDA is missing."""
    return verdict.passed and any("Not known on this machine" in note for note in verdict.notes)


# ------------------------------------------------------------------------------- slips by rule


def passing_mutants(exercise: Exercise) -> list[tuple[str, Callable]]:
    """What is changed, and the function, for each mutant of the solution that `check` accepts."""
    name, found = exercise.name, []
    for what, text in mutants(exercise.solution_text):
        function = from_text(name, text)
        if check(name, function, patience=SHORT).passed:
            found.append((what, function))
    return found


def unexplained(passed: Iterable[str], harmless: Mapping[str, str]) -> list[str]:
    """The mutants that pass and begin with no entry of `HARMLESS`."""
    return [what for what in passed if not what.startswith(tuple(harmless))]


def stale(passed: Iterable[str], harmless: Mapping[str, str]) -> list[str]:
    """The entries of `HARMLESS` with which no mutant that passes begins."""
    passed = list(passed)
    return [entry for entry in harmless if not any(what.startswith(entry) for what in passed)]


def wrong_shapes(exercise: KernelExercise, kernel: Callable) -> list[tuple[int, ...]]:
    """Those of a few drawn shapes at which a kernel gives a wrong result."""
    random = Random(exercise.name)
    drawn = [exercise.vary(shape, random) for shape in exercise.shapes[1 : FURTHER + 1]]
    return [shape for shape in drawn if run(exercise, kernel, shape, PATIENCE).wrong.any()]
