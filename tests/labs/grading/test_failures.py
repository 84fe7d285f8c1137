"""An error of the grader costs one submission, by name, and never the table of the class."""

import functools
import json
import os
import shutil
import subprocess
import threading
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import pytest

from labs.__main__ import main
from labs.grading import (
    allow_list,
    attempt,
    batch,
    child,
    constants,
    decoding,
    digest,
    equivalents,
    feedback,
    functions_from_text,
    grade,
    hidden,
    labs,
    lines,
    magic_lines,
    marks,
    messages,
    names,
    submissions,
    which_files,
    worker,
)
from labs.grading.labs import find
from labs.grading.submissions import Submission
from labs.numbers import evaluator
from labs.numbers import exercise as numbers
from utils.errors import CourseError
from utils.paths import ROOT

SECRET = "a secret of sixteen characters"
LAB = find("estimates")
RIGHT = "\n".join(part.definition.solution_text for part in LAB.parts)
ERRORS = (
    MemoryError(), OverflowError("int too large"), RecursionError("too deep"),
    UnicodeEncodeError("utf-8", "\udce9", 0, 1, "surrogates"), ZeroDivisionError(), KeyError("x"),
)  # fmt: skip
# Functions by module: those that grade, those around them, and those that write pages.
FAILING = {
    grade: ("grade", "draw_hidden", "_outcomes", "rows_of", "in_child", "_about", "_sentences"),
    marks: ("graded_cases", "_number_rows", "_wrong_answer", "split_points", "same"),
    batch: ("_key", "_read", "_write", "as_bytes"),
    worker: ("grade",),
    feedback: (
        "as_markdown", "as_html", "as_gradescope", "_row", "_reasons", "_line", "as_cell",
        "in_code",
    ),
    submissions: ("_read_file", "_read_bytes", "_unzip"),
}  # fmt: skip
CASES = [(module, name) for module, names in FAILING.items() for name in names]


class InThisProcess:
    """A worker without a process of its own, so that a test can make its functions fail."""

    now = threading.local()  # pages are written in another thread meanwhile

    def grade(self, lab, submission, secret):
        self.now.student = submission.student
        try:
            mark = worker.answer(lab, submission, secret)
        finally:
            self.now.student = ""
        if isinstance(mark, CourseError):
            raise mark
        return mark

    def end(self):
        pass


def _about_mallory(arguments) -> bool:
    return getattr(InThisProcess.now, "student", "") == "mallory" or any(
        "mallory" in str(one) for one in arguments
    )


def fails(monkeypatch, module, name, error):
    """Let a function raise where it works on the submission of the student `mallory`."""
    original = getattr(module, name)

    @functools.wraps(original)
    def failing(*arguments, **options):
        if _about_mallory(arguments):
            raise error
        return original(*arguments, **options)

    monkeypatch.setattr(module, name, failing)


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Return a folder in which `mallory` hands in a zip, and two others what is right."""
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    monkeypatch.setattr(batch, "Worker", InThisProcess)
    (tmp_path / "class").mkdir()
    for name in ("ann", "cleo"):
        (tmp_path / "class" / f"{name}.py").write_text(f"{RIGHT}\n# {name}\n")
    shutil.make_archive(str(tmp_path / "class" / "mallory"), "zip", _folder_of(tmp_path, RIGHT))
    return tmp_path


def _folder_of(folder: Path, text: str) -> Path:
    (folder / "of_mallory").mkdir()
    (folder / "of_mallory" / "mallory.py").write_text(text.replace("return ", "return 1 + "))
    return folder / "of_mallory"


# Every function of these modules, but those that do a whole class's work.
OF_A_CLASS = {
    "grade_class", "collect", "gather", "_entries", "main", "as_csv", "write", "plan", "graded",
    "csv_of", "digest_of", "_here", "_first_tries", "_make", "unjudged", "failure", "without_texts",
    "_tried", "_stored", "readable", "unchanged_name", "_unused", "_is_work", "answer", "serve",
    "find",
}  # fmt: skip
EVERY = [
    (module, name)
    for module in (
        allow_list, attempt, batch, child, constants, decoding, digest, equivalents, evaluator,
        feedback, functions_from_text, grade, hidden, labs, lines, magic_lines, marks, messages,
        names, numbers, submissions, which_files,
    )
    for name, value in vars(module).items()
    if isinstance(value, FunctionType) and value.__module__ == module.__name__
    and name not in OF_A_CLASS and (module, name) not in CASES
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "name"), [*CASES, *(pytest.param(*one, marks=pytest.mark.slow) for one in EVERY)]
)
def test_an_error_anywhere_costs_one_submission_alone(work, monkeypatch, capsys, module, name):
    error = ERRORS[[*CASES, *EVERY].index((module, name)) % len(ERRORS)]
    fails(monkeypatch, module, name, error)
    out = work / "out"
    arguments = ["grade", LAB.name, str(work / "class"), "--out", str(out), "--workers", "1"]
    assert main(arguments) == 0
    rows = (out / f"{LAB.name}.csv").read_text().splitlines()[1:]
    assert [row.split(",")[0].strip("'") for row in rows] == ["ann", "cleo", "mallory"]
    assert [rows[0].split(",")[1], rows[1].split(",")[1]] == ["100", "100"]
    for student in ("ann", "cleo"):
        results = json.loads((out / "feedback" / student / "results.json").read_text())
        assert results["score"] == 100
    seen = capsys.readouterr().err + "".join(
        file.read_text() for file in out.rglob("*mallory*/*") if file.is_file()
    )
    words = ("mallory: ", "This was not judged", "cannot be read", "cannot be shown", "'mallory'")
    assert any(word in seen + "\n".join(rows) for word in words)


def test_a_failed_mark_is_not_kept_and_the_next_run_gives_it(work, monkeypatch, capsys):
    out = work / "out"
    arguments = ["grade", LAB.name, str(work / "class"), "--out", str(out), "--workers", "1"]
    with monkeypatch.context() as patch:
        fails(patch, worker, "grade", OverflowError("int too large"))
        assert main(arguments) == 0
    assert (
        "mallory: This was not judged, because the grader failed (OverflowError: int too large)."
        in (capsys.readouterr().err)
    )
    assert len(list((out / "graded").glob("*.json"))) == 2
    assert main(arguments) == 0
    assert "mallory: " not in capsys.readouterr().err
    assert len(list((out / "graded").glob("*.json"))) == 3


def test_an_error_of_the_whole_class_is_still_one_sentence(work, capsys, monkeypatch):
    monkeypatch.setenv("COURSE_SECRET", "short")
    arguments = ["grade", LAB.name, str(work / "class"), "--out", str(work / "out")]
    assert main([*arguments, "--workers", "1"]) == 2
    assert "at least 16 are needed" in capsys.readouterr().err


HUGE = """
def {name}({given}):
    x = 2
    for i in range({turns}):
        x = x * x
    return {sign}x
"""


@pytest.mark.parametrize("turns", [10, 11])
@pytest.mark.parametrize("sign", ["", "-", "1.5 * ", "0 if False else "])
@pytest.mark.parametrize("name", ["occupancy", "estimates"])
def test_a_number_that_no_float_holds_is_a_wrong_answer(name, turns, sign):
    lab = find(name)
    text = "\n".join(
        HUGE.format(
            name=part.exercise, given=", ".join(part.definition.parameters), turns=turns, sign=sign
        )
        for part in lab.parts
    )
    mark = worker.answer(lab, Submission("student", (("a.py", text.encode()),)), SECRET)
    assert (mark.points, mark.failed) == (0, "")
    assert all(row.told for row in mark.rows)


def test_numbers_of_any_size_are_compared_and_shown():
    for value in (2**1023, 2**1024, -(2**4000), 10**5000):
        assert numbers.same(value, value)
        assert not numbers.same(value, 1.5)
        assert not numbers.same(float("inf"), value)
        assert len(numbers.shown(value)) < 400


@pytest.mark.parametrize("name", ["send", "recv"])
def test_after_an_error_of_a_pipe_the_next_student_gets_no_mark_of_another(monkeypatch, name):
    from multiprocessing.connection import Connection

    own, original = worker.Worker(), getattr(Connection, name)
    works = [Submission(one, ((f"{one}.py", RIGHT.encode()),)) for one in ("mallory", "ann")]

    def fails_behind_it(*arguments):
        original(*arguments)
        raise MemoryError

    try:
        with monkeypatch.context() as patch:
            patch.setattr(Connection, name, fails_behind_it)
            with pytest.raises(MemoryError):
                own.grade(LAB, works[0], SECRET)
        mark = own.grade(LAB, works[1], SECRET)
    finally:
        own.end()
    assert (mark.student, mark.points) == ("ann", 100)


def test_a_worker_says_what_failed_even_if_the_text_of_the_error_cannot_be_made():
    class Silent(Exception):
        def __str__(self):
            raise RecursionError

    assert "(Silent)" in grade.failure(Silent())
    told = grade.failure(UnicodeError("\udce9" * 10_000))
    assert len(told.encode()) < 500


@pytest.mark.skipif(not find_spec("nbgrader"), reason="nbgrader is not installed")
@pytest.mark.parametrize(
    ("module", "name"),
    [("by_text", "graded_notebook"), ("by_text", "_pieces"), ("cells", "_defines")],
)
def test_in_nbgrader_an_error_costs_one_submission_alone(tmp_path, monkeypatch, module, name):
    import logging
    from importlib import import_module

    by_text = import_module("labs.platforms.nbgrader.by_text")
    monkeypatch.setattr(batch, "Worker", InThisProcess)
    files = []
    for student in ("ann", "mallory"):
        files.append(tmp_path / student / f"{LAB.name}.ipynb")
        files[-1].parent.mkdir()
        cell = {"cell_type": "code", "source": f"{RIGHT}\n# {student}"}
        files[-1].write_text(json.dumps({"cells": [cell]}))
    raised = []
    original = getattr(import_module(f"labs.platforms.nbgrader.{module}"), name)

    def once(*arguments):
        if "mallory" in str(arguments) and not raised:
            raised.append(1)
            raise MemoryError
        return original(*arguments)

    monkeypatch.setattr(f"labs.platforms.nbgrader.{module}.{name}", once)
    graded = dict(by_text._graded(files, SECRET, tmp_path, logging.getLogger("test")))
    assert set(graded) == set(files)
    assert raised
    for notebook in graded.values():
        outputs = [
            one.outputs[0].data["text/plain"] for one in notebook.cells if one.get("outputs")
        ]
        assert sum(map(float, outputs)) == 100


@pytest.mark.skipif(not shutil.which("timeout"), reason="Gradescope has Linux")
@pytest.mark.parametrize(("code", "left"), [(137, True), (1, True), (2, False)])
def test_in_gradescope_a_grader_that_ends_leaves_a_reason(tmp_path, code, left):
    for folder in ("source/course", "submission", "venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "source" / "lab.txt").write_text("estimates\n")
    python = tmp_path / "venv" / "bin" / "python"
    python.write_text(f"#!/bin/sh\nexit {code}\n")
    python.chmod(0o755)
    script = ROOT / "labs" / "platforms" / "gradescope" / "run_autograder"
    environment = {**os.environ, "AUTOGRADER_ROOT": str(tmp_path)}
    ended = subprocess.run([script], env=environment, timeout=60, check=False).returncode
    results = tmp_path / "results" / "results.json"
    assert (ended, results.exists()) == (0 if left else 2, left)
    if left:
        assert f"ended with code {code}" in json.loads(results.read_text())["output"]
