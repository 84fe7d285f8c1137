"""`python -m labs grade`: what it refuses, in one sentence each."""

import pytest

from labs.__main__ import main
from utils.paths import ROOT

SECRET = "a secret of sixteen characters"


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ann.py").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["tilling", "{class}", "--out", "{out}"], "did you mean tiling?"),
        (["tiling", "{no}", "--out", "{out}"], "There is no"),
        (["tiling", "{out}", "--out", "{out}"], "There is no"),
        (["tiling", "{class}", "--out", str(ROOT / "marks")], "lies in the folder of the course"),
        (["tiling", "{class}", "--out", "{out}", "--workers", "0"], "at least 1"),
        (["tiling", "{class}", "--out", "{out}", "--secret", "{no}"], "cannot be read"),
        (
            ["tiling", "{class}", "--out", "{out}", "--secret", str(ROOT / "x")],
            "lies in the folder",
        ),
    ],
)
def test_a_wrong_call_is_one_sentence(work, capsys, words, told):
    places = {"class": work / "class", "out": work / "out", "no": work / "no"}
    assert main(["grade", *(word.format(**places) for word in words)]) == 2
    assert told in capsys.readouterr().err


def test_without_a_secret_nothing_is_graded(work, capsys, monkeypatch):
    monkeypatch.delenv("COURSE_SECRET")
    assert main(["grade", "tiling", str(work / "class"), "--out", str(work / "out")]) == 2
    assert "There is no secret" in capsys.readouterr().err


@pytest.mark.slow
def test_a_folder_becomes_a_table_and_pages(work, capsys):
    out = work / "out"
    options = ["--out", str(out), "--workers", "1", "--hash-names"]
    assert main(["grade", "tiling", str(work / "class"), *options]) == 0
    (row,) = (out / "tiling.csv").read_text().splitlines()[1:]
    name = row.split(",")[0]
    assert "ann" not in row
    assert len(name) == 16
    assert "is empty" in (out / "feedback" / name / "feedback.md").read_text()
