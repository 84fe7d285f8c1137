"""What readers hand in: the solution with small changes, or a text of their own."""

from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType

from labs import EXERCISES
from labs.grading.mutants import mutants
from utils.lessons.edits import Edit, edited


def changed(name: str, *changes: tuple[str, str]) -> Callable:
    """The solution of an exercise with pieces of its text replaced, each wherever it stands."""
    module = import_module(f"labs.{name}.solution")
    return getattr(edited(module, *(Edit(old, new) for old, new in changes)), name)


def written(name: str, body: str) -> Callable:
    """A kernel (a, b, c ...) of an exercise from the text of its body, four spaces deep."""
    parameters = ", ".join(EXERCISES[name].parameters)
    text = f"from numba import cuda, float32\n\n\n@cuda.jit\ndef {name}({parameters}):\n{body}"
    return from_text(name, text)


def from_text(name: str, text: str) -> Callable:
    """The kernel of this name in a text."""
    module = import_module(f"labs.{name}.solution")
    return getattr(_replaced(module, text), name)


def _replaced(module: ModuleType, text: str) -> ModuleType:
    whole = EXERCISES[module.__name__.split(".")[1]].solution_text
    return edited(module, Edit(whole, text))


def mutants_of(name: str) -> Iterator[tuple[str, Callable]]:
    """What was changed in the solution, and the kernel, one for each place and rule."""
    for what, text in mutants(EXERCISES[name].solution_text):
        yield what, from_text(name, text)
