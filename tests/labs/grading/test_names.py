"""Names of files that are no UTF-8, too long or made to collide cost nobody's mark or page."""

import csv
import json
import os
import re
import unicodedata

import pytest

from labs.__main__ import main
from labs.grading import feedback
from labs.grading.batch import _key
from labs.grading.labs import find
from labs.grading.submissions import Submission, collect

SECRET = "a secret of sixteen characters"
LAB = find("estimates")
RIGHT = "\n".join(part.definition.solution_text for part in LAB.parts)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ann.py").write_text(RIGHT)
    return tmp_path / "class"


def put(folder, name: bytes, text: str = RIGHT) -> None:
    path = os.path.join(os.fsencode(folder), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


@pytest.mark.parametrize("options", [[], ["--hash-names"]])
def test_every_name_that_a_file_system_takes_is_graded(folder, tmp_path, options, capsys):
    put(folder, b"caf\xe9.py")
    put(folder, b"caf\\xe9.py")  # the same text when the name before is written
    put(folder, b"a " + b"b" * 249 + b".py")
    put(folder, b"c" * 252 + b".py")
    put(folder, b"\xe4\xb8\xad" * 84 + b".py")
    put(folder, b"deep/\xe9\xff/work.py")
    put(folder, b"of \xff/w\xf6rk.py")
    put(folder, b"...py")
    out = tmp_path / "out"
    arguments = ["grade", LAB.name, str(folder), "--out", str(out), "--workers", "1", *options]
    assert main(arguments) == 0
    with (out / f"{LAB.name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    students = sum(not name.startswith(b".") for name in os.listdir(os.fsencode(folder)))
    assert [row["points"] for row in rows] == ["100"] * students
    pages = list((out / "feedback").glob("*/results.json"))
    assert len(pages) == students
    assert all(json.loads(page.read_text())["score"] == 100 for page in pages)
    assert main(["names", str(folder)]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= students


def test_a_name_that_is_no_utf8_is_shown_with_its_bytes(folder):
    put(folder, b"caf\xe9.py")
    assert {one.student for one in collect([folder])} == {"ann", r"caf\xe9"}


def test_names_that_are_no_utf8_have_keys_of_their_own():
    named = [Submission("a", ((f"{name}.py", b"x"),)) for name in ("\udce9", "\udcea", "\ud800")]
    assert len({_key(LAB, one, SECRET) for one in named}) == 3


def colliding(name: str) -> list[str]:
    """Return names that try to get the folder of a student of this name, and what follows."""
    names = [name]
    for _ in range(3):
        names.append(feedback._folder_name(names[-1]))
    return names


@pytest.mark.parametrize("name", ["a b", "é/x", "x" * 300, ".", "..", "", "ann", "\udce9", "a\nb"])
def test_nobody_gets_the_folder_of_somebody_else(name):
    folders = {}
    for one in {*colliding(name), *map(str.upper, colliding(name))}:
        folder = feedback._folder_name(one)
        assert folders.setdefault(folder, one) == one
        assert re.fullmatch(r"[\w.@-]+", folder)
        assert folder not in (".", "..")
        assert len(folder.encode()) < 200


def test_an_own_page_is_not_overwritten_by_a_name_that_looks_like_its_folder(folder, tmp_path):
    put(folder, b"a b.py")
    put(folder, f"{feedback._folder_name('a b')}.py".encode(), "x = 1")
    out = tmp_path / "out"
    assert main(["grade", LAB.name, str(folder), "--out", str(out), "--workers", "1"]) == 0
    scores = [
        json.loads(page.read_text())["score"]
        for page in sorted((out / "feedback").glob("a_b*/results.json"))
    ]
    assert sorted(scores) == [0, 100]


@pytest.mark.parametrize("names", [("Ann", "ann", "ANN"), ("\u00e9", "e\u0301"), ("ss", "ß")])
def test_names_that_differ_only_in_case_or_accents_have_folders_of_their_own(tmp_path, names):
    """The file systems of macOS and Windows take these names for one folder."""
    for number, name in enumerate(names):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / f"{name}.py").write_text(RIGHT)
    submissions = collect([tmp_path / str(number) for number in range(len(names))])
    assert [one.name for one in submissions] == list(names)  # by these the roster finds them
    folders = [feedback._folder_name(one.student) for one in submissions]
    alike = {unicodedata.normalize("NFC", one).casefold() for one in folders}
    assert len(alike) == len(names)


def test_no_name_changes_what_a_terminal_shows(folder, tmp_path, capsys):
    put(folder, b"ann\x1b[2J\x1b[31mred.py")
    put(folder, b"bob\nzed,100,100.py")
    put(folder, "\u202eyp.cleo.py".encode())
    put(folder, "a\u200c\u00a0b\x9b.pdf".encode())
    (tmp_path / "roster.csv").write_text("student\nann\n")
    out = tmp_path / "out"
    words = ["grade", LAB.name, str(folder), "--out", str(out), "--workers", "1"]
    assert main(words) == main([*words, "--roster", str(tmp_path / "roster.csv")]) == 0
    assert main(["names", str(folder)]) == 0
    shown = capsys.readouterr()
    table = (out / f"{LAB.name}.csv").read_text()
    assert table.count("\n") == 5
    for text in (shown.err.replace("\r", ""), shown.out, table):
        assert "ann?[2J?[31mred" in text
        assert "bob?zed,100,100" in text
        assert "?yp.cleo" in text
        assert not {"\x1b", "\u202e", "\x9b"} & {*text}
    assert "a\u200c\u00a0b?" in (out / f"{LAB.name}_not_read.txt").read_text()


def test_a_message_that_there_is_no_work_shows_no_escape_codes(folder, tmp_path, capsys):
    (folder / "ann.py").rename(folder / "ann\x1b[2J.pdf")
    assert main(["grade", LAB.name, str(folder), "--out", str(tmp_path / "out")]) == 2
    assert "not read: ann?[2J.pdf" in capsys.readouterr().err
