"""Whatever a lesson calls with a step also takes the reader's own kernel.

The code of a lesson's notebook is executed, and each call of a function of the course that is given
a step or a trace is repeated with the kernel that `check` found right: it gives a result that can
be shown, or one sentence.
"""

import functools
import io
import linecache
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout

import nbformat
import pytest

from labs import EXERCISES
from utils import lessons as course
from utils.errors import CourseError
from utils.ladder import kept_functions
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.files import notebook_of
from utils.reader_folder import LEDGER
from virtual_gpu import Trace

LESSONS = sorted({exercise.lesson for exercise in EXERCISES.values()})
# Functions that a lesson gives a step without showing anything of it.
NOT_SHOWN = ("edited", "Edit", "predict", "reveal")


class Calls:
    """The module `course` as a notebook sees it; it keeps all calls with a step or a trace."""

    def __init__(self):
        self.kept = []

    def __getattr__(self, name):
        function = getattr(course, name)
        if not callable(function) or name in NOT_SHOWN:
            return function

        @functools.wraps(function)
        def called(*args, **named):
            if any(steps_in([args, named])):
                self.kept.append((name, args, named))
            return function(*args, **named)

        return called


def steps_in(value) -> Iterator[Step | Variant | Trace]:
    """Yield all steps and traces in nested lists, tuples and mappings, in order."""
    if isinstance(value, Step | Variant | Trace):
        yield value
    elif isinstance(value, Mapping):
        yield from steps_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from steps_in(one)


def replaced(value, new):
    """Return a copy of nested lists, tuples and mappings in which `new` is called on each step."""
    if isinstance(value, Step | Variant | Trace):
        return new(value)
    if isinstance(value, Mapping):
        return {name: replaced(one, new) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(replaced(one, new) for one in value)
    return value


def calls_of(lesson: str) -> list:
    """Execute the code of a lesson without its first cell and return its calls, each one once."""
    file = notebook_of(lesson)
    calls = Calls()
    names = {"course": calls, "__name__": "__main__"}
    for number, cell in enumerate(nbformat.read(file, as_version=4).cells):
        if cell.cell_type == "code" and "course.start(" not in cell.source:
            with redirect_stdout(io.StringIO()):
                code = "from utils import lessons as _\n" + cell.source
                source = f"<cell {number} of lesson {lesson}>"
                execute(code, source, names)
    return calls.kept


def execute(code: str, source: str, names: dict) -> None:
    """Execute a cell; kernels in it find their source lines."""
    linecache.cache[source] = (len(code), None, code.splitlines(True), source)
    exec(compile(code, source, "exec"), names)


def own_of(name: str):
    """Return the right kernel or function of an exercise, as the lesson hands it on."""
    exercise = EXERCISES[name]
    kept_functions.keep(name, exercise.solution)
    return course.mine(name)


def as_given(own, one):
    """Return the reader's kernel for a step of the lesson, and its trace for a trace."""
    if not isinstance(one, Trace):
        return own
    if not isinstance(own, Variant):
        return one
    return course.watch(own, ladder_of(own.step).small, record=0)


def shown(name: str, args, named) -> str:
    """Return what a call shows, or the sentence that it raises."""
    try:
        with redirect_stdout(io.StringIO()):
            result = getattr(course, name)(*args, **named)
            if hasattr(result, "_repr_html_"):
                result._repr_html_()
            return str(result)
    except CourseError as error:
        return str(error)


def failures(call, own) -> Iterator[str]:
    """Yield the unexpected exceptions of a call with `own` for all its steps, and for the last."""
    name, args, named = call
    last = list(steps_in([args, named]))[-1]
    for only in (None, last):

        def new(one, only=only):
            return as_given(own, one) if only in (None, one) else one

        try:
            assert shown(name, replaced(args, new), replaced(named, new))
        except Exception as error:
            yield f"{name} with {own}: {error!r}"[:400]


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_function_of_a_lesson_takes_the_readers_kernel(lesson, tmp_path, monkeypatch):
    monkeypatch.setenv(LEDGER, str(tmp_path / "predictions.json"))
    calls, failed = calls_of(lesson), []
    for exercise in (one for one in EXERCISES.values() if one.lesson == lesson):
        for own in (own_of(exercise.name), exercise.solution):
            failed += [sentence for call in calls for sentence in failures(call, own)]
    assert calls
    assert not failed, "\n".join(dict.fromkeys(failed))
