"""Files as they come: what is a student's work is read, and all else is named in a report."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from labs import EXERCISES
from labs.__main__ import main
from labs.grading.attempt import functions_of_text
from labs.grading.decoding import decoded
from labs.grading.submissions import Submission, Unreadable, collect, gather, pieces_of

EXERCISE = EXERCISES["scale"]
SCALE = EXERCISE.solution_text
CELL = {"cell_type": "code", "source": SCALE}
NOTEBOOK = json.dumps({"cells": [CELL]})
OTHER = SCALE.replace("x[i]", "x[i] * 1")
BROKEN = "@cuda.jit\ndef scale(x, factor, out:\n"
# Files that stand beside the work, each with a word of the report, or None if it is read.
BESIDE = {
    ".ipynb_checkpoints/work-checkpoint.py": (OTHER, "tool"),
    ".git/hooks/x.py": (OTHER, "tool"),
    ".venv/lib/x.py": (OTHER, "tool"),
    "venv/lib/x.py": (OTHER, "tool"),
    "__pycache__/x.py": (OTHER, "tool"),
    "mine/lib/x.py": (OTHER, "tool"),  # a virtual environment of another name, see below
    "work-Copy1.py": (OTHER, "copy"),
    "work - Copy.py": (OTHER, "copy"),
    "work copy 2.py": (OTHER, "copy"),
    "work (copy).py": (OTHER, "copy"),
    "work (1).py": (OTHER, "second download"),
    "work(2).py": (OTHER, "second download"),
    "__init__.py": ("", "tool"),
    "test.py": ("", "empty"),
    "old.py": (BROKEN, None),
    "old.ipynb": ("{", None),
    "old.zip": ("no zip", "no zip"),
    "notes.txt": ("scale", "The grader reads"),
    "report.pdf": ("%PDF", "The grader reads"),
    "work.rar": ("Rar!", "The grader reads"),
    "work.7z": ("7z", "The grader reads"),
    "work.tar.gz": ("x", "The grader reads"),
}


def written(folder: Path, beside: str) -> Path:
    student = folder / "class" / "ann"
    (student / beside).parent.mkdir(parents=True, exist_ok=True)
    (student / beside).write_text(BESIDE[beside][0])
    if beside.startswith("mine"):
        (student / "mine" / "pyvenv.cfg").write_text("")
    (student / "work.py").write_text(SCALE)
    return folder / "class"


@pytest.mark.parametrize("as_zip", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("beside", BESIDE)
def test_a_file_beside_the_work_does_not_cost_it_and_is_named(tmp_path, beside, as_zip):
    folder = written(tmp_path, beside)
    if as_zip:
        shutil.make_archive(str(tmp_path / "zips" / "ann"), "zip", folder / "ann")
        folder = tmp_path / "zips"
    (submission,), left = gather([folder])
    function = functions_of_text(submission, [EXERCISE])["scale"]
    assert callable(function), str(function)
    word = BESIDE[beside][1]
    if as_zip and word == "no zip":
        word = "The grader reads"
    assert [(one.student, word in one.why) for one in left] == [("ann", True)] * bool(word)


@pytest.mark.parametrize("name", ["ann.PY", "ann.IPYNB", "ann.Zip"])
def test_endings_in_capital_letters_are_taken(tmp_path, name):
    file = tmp_path / name
    if name.endswith("Zip"):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("WORK.PY", SCALE)
    else:
        file.write_text(SCALE if name.endswith("PY") else NOTEBOOK)
    (submission,) = collect([tmp_path])
    assert submission.student == "ann"
    assert callable(functions_of_text(submission, [EXERCISE])["scale"])


@pytest.mark.parametrize("name", ["work-Copy1.py", "work (1).py", "work copy.py"])
def test_only_copies_are_work(tmp_path, name):
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / name).write_text(SCALE)
    (submission,) = collect([tmp_path])
    assert [name for name, _ in submission.files] == [name]


def test_a_folder_without_work_says_what_it_holds(tmp_path):
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "report.pdf").write_text("")
    (submission,) = collect([tmp_path])
    assert submission.problem.endswith("no `.zip`. It holds `report.pdf`.")


def test_what_is_wrong_with_other_files_is_told_if_the_function_is_missing():
    files = (("a.py", b"x = 1"), ("b.ipynb", b"{"))
    refused = functions_of_text(Submission("ann", files), [EXERCISE])["scale"]
    assert "There is no function `scale`" in str(refused)
    assert "`b.ipynb` is no notebook" in str(refused)


def test_a_function_in_a_cell_of_another_magic_is_told():
    notebook = {"cells": [{"cell_type": "code", "source": f"%%writefile a.py\n{SCALE}"}]}
    files = (("a.ipynb", json.dumps(notebook).encode()),)
    refused = functions_of_text(Submission("ann", files), [EXERCISE])["scale"]
    assert "A cell that begins with `%%writefile` holds it" in str(refused)


def test_the_command_names_what_was_not_read(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COURSE_SECRET", "a secret of sixteen characters")
    (tmp_path / "class").mkdir()
    for name in ("ann.py", "bob.pdf", "cleo.txt", ".DS_Store"):
        (tmp_path / "class" / name).write_text("")
    call = ["grade", "first_kernel", str(tmp_path / "class"), "--out", str(tmp_path / "out")]
    assert main(call) == 0
    assert "3 files not read" in capsys.readouterr().out
    report = (tmp_path / "out" / "first_kernel_not_read.txt").read_text().splitlines()
    assert [line.split(":")[0] for line in sorted(report)] == [".DS_Store", "bob", "cleo"]
    assert main([*call, "--hash-names"]) == 0
    hashed = (tmp_path / "out" / "first_kernel_not_read.txt").read_text()
    assert not any(name in hashed for name in ("ann", "bob", "cleo"))


@pytest.mark.parametrize(
    ("beside", "is_read"),
    [
        ("# my old try: def scale(x, factor, out):\nscale(x,, y)\n", True),
        ("my notes: I tried def scale(x, factor, out): first\n", True),
        (BROKEN, False),
        ("if True:\n    def scale (x,\n", False),
    ],
)
def test_a_cell_that_cannot_be_read_costs_the_cell_beside_only_if_it_defines_it(beside, is_read):
    cells = [{"cell_type": "code", "source": text} for text in (SCALE, beside)]
    files = (("a.ipynb", json.dumps({"cells": cells}).encode()),)
    function = functions_of_text(Submission("ann", files), [EXERCISE])["scale"]
    assert callable(function) == is_read
    alone = (("a.ipynb", json.dumps({"cells": cells[1:]}).encode()),)
    refused = functions_of_text(Submission("ann", alone), [EXERCISE])["scale"]
    assert "cannot read" in str(refused) or "There is no function" in str(refused)


@pytest.mark.parametrize("key", ["input", "source"])
def test_a_notebook_of_format_3_is_read(key):
    cells = [{"cell_type": "markdown", "source": "x"}, {"cell_type": "code", key: [SCALE]}]
    raw = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode()
    assert pieces_of("a.ipynb", raw) == (SCALE,)


@pytest.mark.parametrize(
    ("encoding", "before"),
    [
        ("latin-1", "# -*- coding: latin-1 -*-\n"),
        ("iso-8859-15", "#!/usr/bin/python\n# vim: set fileencoding=iso-8859-15 :\n"),
        ("cp1252", "# coding: cp1252\n"),
        ("gbk", "# coding=gbk\n"),
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", ""),
        ("utf-32", ""),
    ],
)
def test_a_file_is_decoded_by_its_mark_or_its_coding_line(encoding, before):
    text = f"{before}# {'größe' if encoding != 'gbk' else '大小'}\n{SCALE}"
    assert pieces_of("a.py", text.encode(encoding)) == (text,)


@pytest.mark.parametrize("encoding", ["rot13", "utf_7", "unicode_escape", "hex", "os", "zip"])
def test_a_coding_line_chooses_no_codec_of_another_kind(encoding):
    assert decoded(f"# coding: {encoding}\n# ".encode() + b"\xe9\n") is None


def test_a_file_without_a_coding_line_may_be_of_windows():
    text = f"# Größe, “Blöcke”\n{SCALE}"
    assert pieces_of("a.py", text.encode("cp1252")) == (text,)


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"\xff\xfe \x00", b"\xef\xbb\xbf\n"])
def test_a_file_of_a_mark_alone_is_empty(raw):
    with pytest.raises(Unreadable, match="is empty"):
        pieces_of("a.py", raw)
