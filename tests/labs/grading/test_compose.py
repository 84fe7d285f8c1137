"""A lab that an instructor composed is listed, handed out and graded as the course's own are."""

import csv

import nbformat
import pytest

from labs.__main__ import main
from labs.grading import compose, labs
from labs.grading.grade import grade
from labs.grading.submissions import Submission

SECRET = "a secret of sixteen characters"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Composed labs are kept in a folder of this test."""
    for module in (compose, labs):
        monkeypatch.setattr(module, "COMPOSED", tmp_path / "composed")
    return tmp_path


def compose_week_3(*options: str) -> int:
    arguments = ["week_3", "scale", "order_saxpy", "--points", "70", "30"]
    return main(["compose", *arguments, *options])


def test_a_composed_lab_is_listed_with_minutes_from_the_labs_of_its_exercises(capsys):
    assert compose_week_3("--title", "Week 3, “ours”") == 0
    assert main(["list"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "week_3  " in line)
    assert line.split()[:6] == ["week_3", "45", "min", "100", "points", "00"]
    assert line.endswith("Week 3, “ours”")
    assert labs.find("week_3").parts[0].main == ("requests for 32 lanes",)


def test_a_composed_lab_is_handed_out_and_graded(folder):
    compose_week_3("--minutes", "40")
    assert main(["handout", "week_3", "--out", str(folder)]) == 0
    cells = nbformat.read(folder / "week_3.ipynb", as_version=4).cells
    assert "about 40 minutes" in cells[0].source
    assert sum("check(" in cell.source for cell in cells) == 2
    lab = labs.find("week_3")
    text = "\n\n".join(part.definition.solution_text for part in lab.parts)
    (folder / "in").mkdir()
    (folder / "in" / "ann.py").write_text(text, encoding="utf-8")
    (folder / "secret.txt").write_text(SECRET, encoding="utf-8")
    grading = ["grade", "week_3", str(folder / "in"), "--secret", str(folder / "secret.txt")]
    assert main([*grading, "--out", str(folder / "out"), "--workers", "1"]) == 0
    with (folder / "out" / "week_3.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == [
            {"student": "ann", "points": "100", "of": "100", "scale": "70", "order_saxpy": "30"}
        ]


def test_a_starter_of_a_composed_lab_loses_what_it_loses_elsewhere():
    compose_week_3()
    lab = labs.find("week_3")
    starter = "\n\n".join(part.definition.starter_text for part in lab.parts)
    mark = grade(lab, Submission("ann", (("ann.py", starter.encode()),)), SECRET)
    assert (mark.points, mark.of) == (0, 100)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["first_kernel", "scale", "--points", "5"], "has a lab first_kernel"),
        (["Week 3", "scale", "--points", "5"], "is no name for a lab"),
        (["week_3", "scal", "--points", "5"], "did you mean scale"),
        (["week_3", "scale", "--points", "5", "6"], "1 exercises and 2 numbers"),
        (["week_3", "scale", "scale", "--points", "5", "6"], "scale is given twice"),
        (["week_3", "scale", "--points", "0"], "needs at least 1 point"),
        (["week_3", "scale", "--points", "5", "--minutes", "0"], "--minutes is 0"),
    ],
)
def test_what_cannot_be_composed_is_told_and_writes_nothing(arguments, words, capsys, folder):
    assert main(["compose", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not (folder / "composed").exists()


@pytest.mark.parametrize("text", ["", "title = 3", "[points]\nscale = 1", "points = 5", "\x00"])
def test_a_damaged_file_is_named(text, folder, capsys, monkeypatch):
    monkeypatch.setattr(labs, "ROOT", folder)
    (folder / "composed").mkdir()
    (folder / "composed" / "week_3.toml").write_text(text, encoding="utf-8")
    assert main(["list"]) == 2
    assert "composed/week_3.toml is no lab" in capsys.readouterr().err
