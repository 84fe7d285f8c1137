"""Errors of `python -m labs grade` are one sentence each, and names are hidden if requested."""

import zipfile

import pytest

from labs.__main__ import main
from labs.grading.labs import LABS
from utils.paths import ROOT

SECRET = "a secret of sixteen characters"


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ann.py").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tilling", "{class}", "--out", "{out}"], "did you mean tiling?"),
        (["tiling", "{no}", "--out", "{out}"], "There is no"),
        (["tiling", "{out}", "--out", "{out}"], "There is no"),
        (["tiling", "{class}", "--out", str(ROOT / "marks")], "is in the folder of the course"),
        (["tiling", "{class}", "--out", "{out}", "--workers", "0"], "at least 1"),
        (["tiling", "{class}", "--out", "{out}", "--secret", "{no}"], "cannot be read"),
        (
            ["tiling", "{class}", "--out", "{out}", "--secret", str(ROOT / "x")],
            "is in the folder",
        ),
    ],
)
def test_a_wrong_call_is_one_sentence(work, capsys, arguments, sentence):
    places = {"class": work / "class", "out": work / "out", "no": work / "no"}
    assert main(["grade", *(word.format(**places) for word in arguments)]) == 2
    assert sentence in capsys.readouterr().err


def test_without_a_secret_nothing_is_graded(work, capsys, monkeypatch):
    monkeypatch.delenv("COURSE_SECRET")
    assert main(["grade", "tiling", str(work / "class"), "--out", str(work / "out")]) == 2
    assert "There is no secret" in capsys.readouterr().err


def test_with_hashed_names_no_file_of_a_student_is_named(work, capsys):
    folder, out = work / "class", work / "out"
    (folder / "bo.py").symlink_to("/etc/passwd")
    (folder / "cy.ipynb").write_text("{")
    (folder / "di.zip").write_text("no zip")
    with zipfile.ZipFile(folder / "ed.zip", "w") as archive:
        archive.writestr("ed/ed_own.py", b"\x81")
    (folder / "flo").mkdir()
    (folder / "flo" / "flo_own.py").write_text("")
    names = ("ann", "bo", "cy", "di", "ed", "flo")
    assert main(["grade", "tiling", str(folder), "--out", str(out), "--hash-names"]) == 0
    assert "6 submissions, 0 with all" in capsys.readouterr().out
    written = [file for file in out.rglob("*") if file.is_file()]
    assert len([file for file in written if file.name == "feedback.md"]) == len(names)
    for file in written:
        text = file.read_text()
        assert not [name for name in names if f"{name}." in text or f"{name}_own" in text], file
    pages = "".join(file.read_text() for file in written if file.name == "feedback.md")
    for why in (".py` is empty", ".py` is no plain", ".ipynb` is no notebook", ".py` is not UTF-8",
                ".zip` is no zip"):  # fmt: skip
        assert f"> `submission{why}" in pages
    assert main(["names", str(folder)]) == 0
    listed = dict(line.split("  ") for line in capsys.readouterr().out.splitlines())
    assert sorted(listed.values()) == sorted(names)
    assert set(listed) == {page.name for page in (out / "feedback").iterdir()}


def test_one_notebook_is_counted_as_one(work, capsys):
    assert main(["handout", "tiling", "--out", str(work / "out")]) == 0
    assert capsys.readouterr().out.startswith("1 notebook: ")


def test_names_of_what_is_not_there_are_one_sentence(work, capsys):
    assert main(["names", str(work / "no")]) == 2
    assert "There is no" in capsys.readouterr().err


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


def test_the_columns_of_the_list_begin_below_each_other(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for lab, line in zip(LABS.values(), lines, strict=True):
        assert line.startswith(f"{lab.name}  ")
        assert line.endswith(f"  {lab.title}")
    for words in (" min  ", " points  "):
        assert len({line.index(words) for line in lines}) == 1
    titles = {line.rindex(lab.title) for lab, line in zip(LABS.values(), lines, strict=True)}
    assert len(titles) == 1


def test_without_a_command_the_commands_are_listed(capsys):
    assert main([]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    for command in ("grade", "names", "handout", "list", "selftest", "assignment"):
        assert f"    {command}" in shown.out
