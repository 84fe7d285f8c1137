"""Kept marks know their version; pages have a limit; no cell of the table is a formula."""

import csv
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from labs.__main__ import main
from labs.grading import batch, digest, feedback, tables
from labs.grading.grade import MOST_SENTENCES, Mark, grade
from labs.grading.labs import find
from labs.grading.marks import LONGEST_TEXT
from labs.grading.roster import Result
from labs.grading.submissions import Submission

SECRET = "a secret of sixteen characters"
LAB = find("estimates")
RIGHT = "\n".join(part.definition.solution_text for part in LAB.parts)
OLD = "came from another version of the exercises or of the grader"


def test_a_change_of_the_exercise_or_of_the_grader_gives_marks_anew(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    (tmp_path / "class").mkdir()
    for name in ("ann", "bob"):
        (tmp_path / "class" / f"{name}.py").write_text(f"{RIGHT}\n# {name}\n")
    out = str(tmp_path / "out")
    arguments = ["grade", LAB.name, str(tmp_path / "class"), "--out", out, "--workers", "1"]
    assert main(arguments) == 0
    assert main(arguments) == 0
    assert OLD not in capsys.readouterr().err
    changed, read = LAB.parts[0].definition.folder / "exercise.py", Path.read_bytes

    def changed_bytes(path):
        return read(path) + b"# changed" if path == changed else read(path)

    monkeypatch.setattr(Path, "read_bytes", changed_bytes)
    assert main(arguments) == 0
    assert f"2 marks here {OLD}" in capsys.readouterr().err
    assert len(list((tmp_path / "out" / "graded").glob("*.json"))) == 4
    assert main(arguments) == 0
    assert OLD not in capsys.readouterr().err


def test_the_digest_knows_the_exercise_the_checker_and_the_virtual_gpu():
    files = {str(file.relative_to(digest.ROOT)) for file in digest._files(find("tiling"))}
    assert {
        "labs/exercises/tiling/exercise.py", "labs/exercises/tiling/mistakes.json",
        "labs/grading/marks.py", "labs/grading/labs.py", "labs/checking/judge.py",
        "virtual_gpu/__init__.py", "gpu_xray/__init__.py",
    } <= files  # fmt: skip
    assert "labs/exercises/scale/exercise.py" not in files
    assert not any("/tests/" in file for file in files)


LONG = {
    "a long name": "def attainable(BM, BN, peak, bandwidth):\n    return " + "x" * 10**6 + "\n",
    "long texts": (
        "def attainable(BM, BN, peak, bandwidth):\n    return {"
        + ", ".join(f"{one}: '{'x' * 2_000}'" for one in range(1_000))
        + "}\n"
    ),
}


@pytest.mark.parametrize("what", LONG)
def test_a_page_has_a_limit_whatever_the_texts_in_it(tmp_path, what):
    mark = grade(LAB, Submission("ann", (("a.py", LONG[what].encode()),)), SECRET)
    assert mark.points == 0
    assert all(len(row.told) < LONGEST_TEXT + 100 for row in mark.rows)
    feedback.write(tmp_path, LAB, mark)
    for file in (tmp_path / "ann").iterdir():
        assert file.stat().st_size < 100_000
    assert len(mark.told) <= MOST_SENTENCES * len(LAB.parts)


def test_a_cut_text_says_so():
    mark = grade(LAB, Submission("ann", (), "`" + "x" * 10**6 + ".py` is empty."), SECRET)
    assert "(cut: the text has 1,000,015 characters)" in mark.rows[0].told
    assert all(len(cause) < LONGEST_TEXT + 100 for _, cause in mark.told)


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", "＋", "－", "＠", "﹢", "−"])
@pytest.mark.parametrize(
    "before", ["", " ", "\r", "\n", "\t", "\r\n ", "\u3000", "\xa0", "\u200b", "\ufeff", "\0"]
)
def test_no_cell_is_a_formula(before, sign):
    assert feedback.as_cell(f"{before}{sign}1+1").startswith("'")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", "\n", "\r\n"])
@pytest.mark.parametrize("before", ["", " ", '"', "\u200b"])
def test_no_part_of_a_cell_becomes_a_formula_where_the_separator_is_another(separator, before):
    """Excel splits at `;` in many countries, whatever the file was written with."""
    mark = Mark("ann", LAB.name, (), ())
    for student in (f"a{separator}{before}=1+1", f'"a"{separator}{before}@SUM(1)'):
        text = feedback.as_csv(LAB, [replace(mark, student=student)])
        for delimiter in (",", ";", "\t", "|"):
            cells = [
                cell
                for row in csv.reader(io.StringIO(text), delimiter=delimiter)
                for cell in [*row, *(cell for one in row for cell in one.split("\n"))]
            ]
            assert not any(one.lstrip('" \u200b').startswith(("=", "@")) for one in cells)


def test_a_row_that_cannot_be_made_says_why_and_costs_no_other(capsys):
    class Wrong(Mark):
        @property
        def points(self):
            raise OverflowError("too large")

    marks = [Wrong("mallory", LAB.name, (), ()), Mark("ann", LAB.name, (), ())]
    told = []
    rows = list(csv.reader(io.StringIO(feedback.as_csv(LAB, marks, told.append))))
    assert [row[:2] for row in rows[1:]] == [["ann", "0"], ["'mallory'", ""]]
    assert all(len(row) == len(rows[0]) for row in rows)
    assert len(told) == 1
    assert "mallory" in told[0]
    assert "OverflowError: too large" in told[0]
    listed = [Result(None, mark.student, mark, 0) for mark in marks]
    assert "ann,0," in tables.as_plain(LAB, listed)
    assert feedback.as_csv(LAB, marks) == feedback.as_csv(LAB, marks, told.append)
    assert "OverflowError: too large" in capsys.readouterr().err


def test_the_digest_and_each_key_are_computed_once(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    for name in ("ann", "bob", "cleo"):
        (tmp_path / f"{name}.py").write_text(f"{RIGHT}\n# {name}\n")
    counts = Counter()

    def counted(name):
        original = getattr(batch, name)

        def wrapped(*arguments):
            counts[name] += 1
            return original(*arguments)

        monkeypatch.setattr(batch, name, wrapped)

    counted("digest_of")
    counted("_key")
    files = [str(tmp_path / f"{name}.py") for name in ("ann", "bob", "cleo")]
    for number in (1, 2):
        assert main(["grade", LAB.name, *files, "--out", str(tmp_path / "out")]) == 0
        assert counts == {"digest_of": number, "_key": 3 * number}


@pytest.mark.parametrize("text", ["\rx", "\nx", "\tx"])
def test_a_cell_that_begins_with_a_line_end_is_text(text):
    assert feedback.as_cell(text).startswith("'")


@pytest.mark.parametrize("text", ["ann", "a=b", "Ada Lovelace", "Ünal", "李", "", "3"])
def test_usual_names_are_unchanged(text):
    assert feedback.as_cell(text) == text
