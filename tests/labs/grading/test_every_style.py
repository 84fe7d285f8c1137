"""Every right file, in every style, as a file and as a notebook: `check` and the grader agree.

The fast tests grade one style and one form of each exercise, read the solutions of some exercises
in each style, and read each right version as it is. The slow ones read every right version in every
style, the forms in turn, and compare the verdicts on each solution in each style.
"""

import ast
import json
import re
from dataclasses import replace
from functools import partial

import pytest
from numba import cuda, float32

from labs import EXERCISES, check
from labs.by_name import JUDGES
from labs.checking.untyped_names import untyped_name
from labs.checking.variants import function_in, right_versions
from labs.checking.verdict import Verdict
from labs.grading.attempt import PATIENCE, functions_of_text
from labs.grading.grade import grade
from labs.grading.labs import LABS
from labs.grading.submissions import Submission
from labs.host.exercise import HostExercise
from tests.labs.grading.as_python_runs import object_of_file, object_of_notebook
from tests.labs.grading.styles import ENCODINGS, STYLES, cells_of
from virtual_gpu.common.errors import Unsupported
from virtual_gpu.common.source import read_source
from virtual_gpu.types.function_key import text_of

SECRET = "a secret of sixteen characters"
FORMS = (*ENCODINGS, "notebook", "notebook with debris")
NAMES = list(EXERCISES)
# Cells of a student's notebook besides those of the task.
ABOVE = (
    "# Lab 1\n!pip install -q numba\n%matplotlib inline",
    "import numpy as np\n\n%load_ext autoreload\n%autoreload 2\nfiles = !ls\nnp.arange?",
    "",
    "%%writefile notes.py\ndef {name}(x):\n    return x",
    "%%bash\necho 'def {name}(x):'",
)
BELOW = (
    "check('{name}', {name})",
    "%timeit -n 1 sum(range(9))\n%time x = 5\nprint(f'{{x = }}', x\n      % 3)",
    "import matplotlib.pyplot as plt\nfig, axes = plt.subplots()\naxes.plot([1, 2])\nplt.show()",
    "# another try, which does not work yet\ndef other(x:\n    return x",
    "x = not_defined_yet",
    "for size in (1, 2, 3):\n    print(size, size ** 2, sep='\\t')",
    "{name}?",
)
MAGIC = ("%%time\n", "%%capture out\n", "", "# my answer\n")


def cells_with_debris(text: str, name: str) -> list[str]:
    """Return the cells of a notebook as a student leaves it, with `text` in the middle."""
    own = [f"{MAGIC[number % 4]}{cell}" for number, cell in enumerate(cells_of(text))]
    shell = [cell.format(name=name) for cell in ABOVE], [cell.format(name=name) for cell in BELOW]
    return [*shell[0], *own, *shell[1]]


def cells_in(form: str, text: str, name: str) -> list[str]:
    return cells_with_debris(text, name) if "debris" in form else list(cells_of(text))


def handed_in(form: str, text: str, name: str) -> Submission:
    """Return a text as a submission in a form, as it comes from a student."""
    if form in ENCODINGS:
        return Submission("ann", ((f"{name}.py", ENCODINGS[form](text)),))
    cells = [
        {"cell_type": "code", "source": cell.splitlines(keepends=True) if number % 2 else cell}
        for number, cell in enumerate(cells_in(form, text, name))
    ]
    cells.insert(1, {"cell_type": "markdown", "source": f"def {name}(x): no code"})
    notebook = {"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    return Submission("ann", ((f"{name}.ipynb", json.dumps(notebook).encode()),))


def object_of(form: str, text: str, name: str, folder) -> object:
    """Return what Python gets from the same submission."""
    if form in ENCODINGS:
        file = folder / f"{name}.py"
        file.write_bytes(ENCODINGS[form](text))
        return object_of_file(file, name)
    return object_of_notebook(cells_in(form, text, name), name)


def texts_of(name: str) -> list[str]:
    """Return the solution of an exercise and its other right versions."""
    exercise = EXERCISES[name]
    return [exercise.solution_text, *(text for _, text in right_versions(exercise))]


def read_by_grader(name: str, work: Submission) -> object:
    return functions_of_text(work, [EXERCISES[name]])[name]


def key(submission) -> object:
    """Return a key that is equal for submissions that no judge can tell apart; None if unknown.

    That of a function is made of its syntax tree and of all values that it reads from outside.
    """
    if not callable(submission):
        return repr(submission)
    try:
        text = text_of(read_source(getattr(submission, "py_func", submission)))
    except Unsupported:
        return None
    names = sorted({name for name, *_ in text.reads} & set(text.source.names))
    values = [text.source.names[name] for name in names]
    return text.digest, *(
        key(value) if hasattr(value, "py_func") and value is not submission else repr(value)
        for value in values
    )


def judged_once(judge, submission, known: dict) -> Verdict:
    """Return the verdict on a submission; `known` holds those that were judged, by their key."""
    own = key(submission)
    if own is None:
        return judge(submission)
    if own not in known:
        known[own] = judge(submission)
    return known[own]


def difference(name: str, text: str, form: str, folder, known: dict) -> str:
    """Return in what `check` and the grader differ about a form of a text, or "".

    They differ if the grader refuses the text, or reads another function than the one that Python
    runs, or if the text is not right for both of them. known: see `judged_once`.
    """
    said = judged_once(partial(check, name), object_of(form, text, name, folder), known)
    read = read_by_grader(name, handed_in(form, text, name))
    if isinstance(read, Exception):
        return f"refused: {read}; check says {said.causes or 'right'}"
    exercise = EXERCISES[name]
    judge = partial(JUDGES[type(exercise)], exercise, patience=PATIENCE)
    judged = judged_once(judge, read, known)
    if (judged.passed, judged.causes, judged.counts) != (said.passed, said.causes, said.counts):
        return f"the grader says {judged.causes or 'right'}; check says {said.causes or 'right'}"
    return "" if said.passed else f"both say {said.causes}"


def test_there_are_thirty_styles_and_each_changes_some_exercise():
    assert len(STYLES) >= 30
    for style, change in STYLES.items():
        texts = [EXERCISES[name].solution_text for name in NAMES]
        assert style == "as it is" or any(change(text) != text for text in texts), style
        assert all(isinstance(ast.parse(change(text)), ast.Module) for text in texts), style


# The slow tests read the solutions of all exercises so.
@pytest.mark.parametrize("name", ["scale", "order_tree", "resident_blocks"])
def test_the_grader_reads_a_solution_in_every_style(name):
    for number, (style, change) in enumerate(STYLES.items(), start=NAMES.index(name)):
        form, text = FORMS[number % len(FORMS)], change(EXERCISES[name].solution_text)
        read = read_by_grader(name, handed_in(form, text, name))
        assert not isinstance(read, Exception), f"{style}, {form}: {read}\n{text}"


@pytest.mark.parametrize("name", NAMES)
def test_check_and_the_grader_agree_about_one_style_of_each_exercise(name, tmp_path, request):
    """The grader is the whole one, with hidden shapes and points."""
    number = NAMES.index(name)
    style, form = [*STYLES][number % len(STYLES)], FORMS[number % len(FORMS)]
    texts = texts_of(name)
    text = STYLES[style](texts[number % len(texts)])
    if isinstance(EXERCISES[name], HostExercise):
        request.getfixturevalue("sandbox")
    said = check(name, object_of(form, text, name, tmp_path))
    part = next(part for lab in LABS.values() for part in lab.parts if part.exercise == name)
    lab = next(lab for lab in LABS.values() if part in lab.parts)
    mark = grade(replace(lab, parts=(part,)), handed_in(form, text, name), SECRET)
    assert said.passed, said.causes
    assert mark.points == mark.of, (style, form, mark)


@pytest.mark.parametrize("name", NAMES)
def test_the_grader_reads_every_right_version(name):
    for number, text in enumerate(texts_of(name)):
        read = read_by_grader(name, handed_in(FORMS[number % len(FORMS)], text, name))
        assert not isinstance(read, Exception), f"{read}\n{text}"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_check_and_the_grader_agree_about_every_style(name, tmp_path):
    different, known = {}, {}
    for number, (style, change) in enumerate(STYLES.items(), start=NAMES.index(name)):
        form = FORMS[number % len(FORMS)]
        text = change(EXERCISES[name].solution_text)
        different[style, form] = difference(name, text, form, tmp_path, known)
    assert not {where: what for where, what in different.items() if what}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_right_version_is_read_in_every_style(name):
    """The solution is left out, because the test above reads it in every style."""
    for first, text in enumerate(texts_of(name)[1:], start=NAMES.index(name) + 1):
        for number, (style, change) in enumerate(STYLES.items(), start=first):
            form = FORMS[number % len(FORMS)]
            read = read_by_grader(name, handed_in(form, change(text), name))
            assert not isinstance(read, Exception), f"{style}, {form}: {read}\n{text}"


def test_functions_that_differ_in_text_or_in_what_they_read_are_judged_apart():
    text = "SIZE = {}\n\n\ndef double(x):\n    return {} * SIZE\n"
    own = [function_in("double", text.format(*how)) for how in ((4, "x"), (4, "x + x"), (8, "x"))]
    assert len({key(function) for function in own} - {None}) == len(own)
    again = function_in("double", f"# as above\n{text.format(4, 'x')}")
    assert key(again) == key(own[0])


UNTYPED = """
from numba import cuda
from numba.cuda import blockDim, blockIdx, threadIdx

{helper}
@cuda.jit
def scale(x, factor, out):
    i = {index}
    if i < out.size:
        out[i] = x[i] * factor
"""
INDEX = "blockIdx.x * blockDim.x + threadIdx.x"
IN_A_HELPER = f"@cuda.jit(device=True)\ndef index():\n    return {INDEX}\n\n"


@pytest.mark.parametrize(("helper", "index"), [("", INDEX), (IN_A_HELPER, "index()")])
def test_a_name_that_numba_cannot_type_is_refused_by_both_with_its_cure(helper, index, tmp_path):
    text = UNTYPED.format(helper=helper, index=index)
    said = check("scale", object_of("UTF-8", text, "scale", tmp_path))
    (cause,) = said.causes
    assert f"{INDEX}`: Numba cannot compile `threadIdx` that is imported" in cause
    assert "Write `cuda.threadIdx`, with `from numba import cuda` above." in cause
    read = read_by_grader("scale", handed_in("UTF-8", text, "scale"))
    judged = JUDGES[type(EXERCISES["scale"])](EXERCISES["scale"], read, PATIENCE)
    assert judged.causes == said.causes
    cured = "\n".join(
        line if "import" in line else re.sub(r"\b(block|thread)(Idx|Dim)\b", r"cuda.\1\2", line)
        for line in text.splitlines()
    )
    assert check("scale", object_of("UTF-8", cured, "scale", tmp_path)).passed


@pytest.mark.parametrize("name", ["threadIdx", "shared", "atomic", "syncwarp", "grid", "gridsize"])
def test_a_name_is_refused_if_numba_itself_cannot_compile_it(name):
    bodies = {
        "threadIdx": "x[0] = threadIdx.x", "shared": "x[0] = shared.array(1, float32)[0]",
        "atomic": "atomic.add(x, 0, 1)", "syncwarp": "syncwarp()", "grid": "x[0] = grid(1)",
        "gridsize": "x[0] = gridsize(1)",
    }  # fmt: skip
    text = (
        f"from numba import cuda, float32\nfrom numba.cuda import {name}\n\n@cuda.jit\n"
        f"def kernel(x):\n    {bodies[name]}\n"
    )
    kernel = function_in("kernel", text)
    if untyped_name(kernel):
        with pytest.raises(Exception, match=f"Untyped global name '{name}'"):
            cuda.compile_ptx(kernel.py_func, (float32[::1],), cc=(8, 0))
    else:
        cuda.compile_ptx(kernel.py_func, (float32[::1],), cc=(8, 0))
