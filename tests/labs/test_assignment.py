"""Tests of the course for nbgrader that do not need nbgrader itself."""

import json
import re
from html import unescape

import nbformat
import pytest

from labs.__main__ import main
from labs.grading.grade import Mark
from labs.grading.labs import LABS, find
from labs.grading.marks import MarkRow
from labs.platforms.nbgrader.cells import graded_notebook, points_cell, source
from utils.paths import ROOT

LAB = find("occupancy")


@pytest.fixture
def course(tmp_path):
    return tmp_path / "gpu_course"


def assign(course, *words):
    return main(["assignment", *(words or ["first_kernel"]), "--out", str(course)])


def own(cell):
    return cell.metadata.get("nbgrader", {})


def graded_part(part, points, message):
    return Mark("ann", LAB.name, (MarkRow(part, "right", points, points, message),), ())


@pytest.mark.parametrize("name", LABS)
def test_a_master_has_a_starter_and_the_points_of_each_part_and_no_solution(name):
    lab = find(name)
    made = source(lab)
    nbformat.validate(made)
    starters = [cell for cell in made.cells if own(cell).get("solution")]
    points = [cell for cell in made.cells if own(cell).get("grade")]
    assert [own(cell)["grade_id"] for cell in starters] == [one.exercise for one in lab.parts]
    assert [own(cell)["points"] for cell in points] == [one.points for one in lab.parts]
    assert all(own(cell)["locked"] for cell in points)
    text = nbformat.writes(made)
    for cell, part in zip(starters, lab.parts, strict=True):
        assert cell.source in part.definition.starter_text
        solution = part.definition.solution_text.split("def ")[-1].strip()
        assert json.dumps(solution)[1:-1] not in text


def test_a_cell_of_points_gives_none_where_it_is_run(capsys):
    """nbgrader gives full points to a cell that returns no number and writes no standard error."""
    exec(points_cell(LAB.parts[0]).source, {})
    written = capsys.readouterr()
    assert "15 points" in written.err
    assert not written.out


def test_a_graded_notebook_holds_the_code_and_below_each_function_its_points():
    first, second = LAB.parts[0].exercise, LAB.parts[1].exercise
    pieces = ["", "x = 1", f"def {second}(n):\n    return n", points_cell(LAB.parts[0]).source]
    made = graded_notebook(LAB, pieces, graded_part(first, 15, "Line 1: <b>why</b>."))
    nbformat.validate(made)
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    kinds = [own(cell).get("grade_id", cell.source) for cell in code]
    assert kinds[:3] == ["x = 1", second, f"{second}-points"]
    assert kinds[3:] == [f"{one.exercise}-points" for one in LAB.parts if one.exercise != second]
    points = next(cell for cell in code if own(cell).get("grade_id") == f"{first}-points")
    (output,) = points.outputs
    assert float(output.data["text/plain"]) == 15.0
    assert "<b>" not in output.data["text/html"]
    assert "Line 1: <b>why</b>." in unescape(output.data["text/html"])


def test_names_in_metadata_are_those_that_nbgrader_allows():
    for lab in LABS.values():
        names = [own(cell)["grade_id"] for cell in source(lab).cells if own(cell)]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[\w-]{1,64}", name, re.ASCII) for name in names)


def test_a_course_has_its_own_secret_that_only_the_instructor_reads(course, capsys):
    assert assign(course) == 0
    assert (course / "secret.txt").stat().st_mode & 0o077 == 0
    assert course.stat().st_mode & 0o077 == 0
    secret = (course / "secret.txt").read_text()
    assert assign(course.parent / "another") == 0
    assert (course.parent / "another" / "secret.txt").read_text() != secret
    for file in course.rglob("*"):
        if file.is_file() and file.name != "secret.txt":
            assert secret.strip() not in file.read_text()


def test_a_second_call_adds_labs_and_keeps_what_is_there(course, capsys):
    assign(course)
    for file in ("secret.txt", "nbgrader_config.py", "source/first_kernel/first_kernel.ipynb"):
        with (course / file).open("a") as more:
            more.write(" ")
    before = {file: file.read_text() for file in course.rglob("*") if file.is_file()}
    assert assign(course, "first_kernel", "latency") == 0
    assert (course / "source" / "latency" / "latency.ipynb").exists()
    assert {file: file.read_text() for file in before} == before
    assert "exists and is not changed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["first_kernl", "--out", "{course}"], "did you mean first_kernel?"),
        (["all", "--out", str(ROOT / "course")], "is in the folder of the course"),
        (["all", "--out", "{course}", "--course", "a/b"], "The course is called 'a/b'"),
        (["all", "--out", "{course}", "--secret", "{course}/none"], "cannot be read"),
        (["all", "--out", "{file}/course"], "cannot be written"),
    ],
)
def test_a_wrong_call_is_one_sentence(course, tmp_path, capsys, words, message):
    (tmp_path / "file").write_text("")
    places = {"course": course, "file": tmp_path / "file"}
    assert main(["assignment", *(word.format(**places) for word in words)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert message in lines[-1]
    assert len([line for line in lines if "exists and is not changed" not in line]) == 1
