"""Kept marks know their version; pages have a limit; no cell of the table is a formula."""

from pathlib import Path

import pytest

from labs.__main__ import main
from labs.grading import digest, feedback
from labs.grading.grade import MOST_SENTENCES, grade
from labs.grading.labs import find
from labs.grading.marks import LONGEST_TEXT
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


@pytest.mark.parametrize("text", ["\rx", "\nx", "\tx"])
def test_a_cell_that_begins_with_a_line_end_is_text(text):
    assert feedback.as_cell(text).startswith("'")


@pytest.mark.parametrize("text", ["ann", "a=b", "Ada Lovelace", "Ünal", "李", "", "3"])
def test_usual_names_are_unchanged(text):
    assert feedback.as_cell(text) == text
