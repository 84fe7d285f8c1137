"""A class in a real nbgrader: the commands of the guide, nbgrader's traps, and the marks."""

import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from pathlib import Path

import pytest
from nbformat.v4 import new_output

pytest.importorskip("nbgrader", reason="nbgrader is not installed here: make check-nbgrader")

from labs.grading.grade import grade
from labs.grading.labs import find
from labs.grading.submissions import submission_of
from labs.platforms.nbgrader.cells import points_cell
from tests.nbgrader import class_submissions
from utils.paths import ROOT

SECONDS = 600  # of one command
LAB = "first_kernel"
TIME = "2026-01-01 12:00:00.000000 UTC"
GUIDE = (ROOT / "labs" / "platforms" / "nbgrader" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- (instructor|student)[^>]*-->\n```sh\n(.+?)```", GUIDE, re.DOTALL)
STUDENT = re.search(r"```python\n(c = get_config.+?)```", GUIDE, re.DOTALL)[1]


@dataclass(frozen=True)
class Class:
    """The folders of a class, and the output of its commands.

    home: the instructor's. desk: a student's. output: what all commands printed.
    """

    home: Path
    desk: Path
    output: str

    @property
    def course(self) -> Path:
        return self.home / "gpu_course"

    @property
    def pwned(self) -> Path:
        return self.home / "pwned"

    @cached_property
    def marks(self) -> dict[str, dict[str, str]]:
        with (self.course / "marks.csv").open() as file:
            return {row["student_id"]: row for row in csv.DictReader(file)}

    def page(self, student: str) -> str:
        return (self.course / "feedback" / student / LAB / f"{LAB}.html").read_text()

    def handed_in(self, student: str) -> Path:
        return self.course / "submitted" / student / LAB / f"{LAB}.ipynb"

    def secret(self) -> str:
        return (self.course / "secret.txt").read_text().strip()


def run(commands: str, home: Path, folder: Path, code: int = 0) -> str:
    """Run commands in a shell with this home folder; return their output."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        ["bash", "-ec", commands], env=environment, cwd=folder, timeout=SECONDS, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert result.returncode == code, result.stdout
    return result.stdout


def submit(exchange: Path, student: str, raw: bytes) -> None:
    """Write what `nbgrader submit` leaves for the instructor, from a student of any name."""
    folder = exchange / "gpu_course" / "inbound" / f"{student}+{LAB}+{TIME}+x"
    folder.mkdir()
    (folder / f"{LAB}.ipynb").write_bytes(raw)
    (folder / "timestamp.txt").write_text(TIME)
    (folder / "submission_secret.txt").write_text(student)


@pytest.fixture(scope="module")
def the_class(tmp_path_factory) -> Class:
    """Run the commands of the guide in order; one student uses them, all others only hand in."""
    home = tmp_path_factory.mktemp("instructor")
    desk = tmp_path_factory.mktemp("student")
    configuration = STUDENT.replace("/home/instructor", str(home))
    (desk / "nbgrader_config.py").write_text(configuration)
    (make, release, work, collect, read) = [text for _, text in BLOCKS]
    assert [who for who, _ in BLOCKS] == ["instructor"] * 2 + ["student", "instructor", "student"]
    course = home / "gpu_course"
    output = run(make, home, ROOT) + run(release, home, course)
    fetch, hand_in = work.splitlines()
    output += run(fetch, desk, desk)
    notebook = desk / LAB / f"{LAB}.ipynb"
    released = json.loads(notebook.read_text())
    notebook.write_text(
        json.dumps(class_submissions.with_function(released, class_submissions.RIGHT))
    )
    output += run(hand_in, desk, desk)
    for student, raw in class_submissions.right(released):
        submit(home / "exchange", student, raw)
    for student, raw, _ in class_submissions.wrong(released, str(course), str(home / "pwned")):
        submit(home / "exchange", student, raw)
    output += run(collect, home, course) + run(read, desk, desk)
    return Class(home, desk, output)


RIGHT = [name for name, _ in class_submissions.right({"cells": []})]
WRONG = {name: words for name, _, words in class_submissions.wrong({"cells": []}, "", "")}


def test_a_right_notebook_that_was_fetched_and_submitted_gets_all_points(the_class):
    (own,) = set(the_class.marks) - set(RIGHT) - set(WRONG)
    assert float(the_class.marks[own]["score"]) == 100
    assert the_class.marks[own]["timestamp"]
    (page,) = (the_class.desk / LAB / "feedback").rglob("*.html")
    assert "40 of 40" in page.read_text()


@pytest.mark.parametrize("student", RIGHT)
def test_lost_metadata_doubled_cells_and_warnings_cost_nothing(the_class, student):
    assert float(the_class.marks[student]["score"]) == 100


@pytest.mark.parametrize(("student", "words"), WRONG.items())
def test_what_deserves_nothing_gets_nothing_and_the_reason(the_class, student, words):
    row = the_class.marks[student]
    assert (float(row["score"]), float(row["max_score"])) == (0, 100)
    assert words in unescape(the_class.page(student))


def test_every_submission_has_a_mark_and_none_is_an_error(the_class):
    assert set(RIGHT) | set(WRONG) < set(the_class.marks)
    assert "There was an error processing" not in the_class.output


def test_nothing_that_was_handed_in_is_run(the_class):
    assert not the_class.pwned.exists()


def test_a_page_runs_no_script_of_a_student_and_shows_the_code(the_class):
    assert "<script>steal" not in the_class.page("scripts")
    assert "steal" in the_class.page("scripts")


def test_marks_are_those_of_the_grader(the_class):
    for student in ("bare", "two_of_one_name", "loops_for_ever"):
        submission = submission_of(student, the_class.handed_in(student))
        mark = grade(find(LAB), submission, the_class.secret())
        assert float(the_class.marks[student]["score"]) == mark.points


def test_no_page_and_no_released_file_holds_the_secret_or_another_student(the_class):
    exchange = the_class.home / "exchange"
    for file in (*exchange.rglob("outbound/**/*.ipynb"), *the_class.course.rglob("*.html")):
        text = file.read_text()
        assert the_class.secret() not in text
        assert not [name for name in WRONG if "_" in name and name in text]


def test_a_second_run_gives_the_same_marks_and_grades_nothing_again(the_class):
    before = {file: file.stat().st_mtime_ns for file in (the_class.course / "graded").iterdir()}
    run(f"nbgrader autograde {LAB} --force && nbgrader export --to again.csv",
        the_class.home, the_class.course)  # fmt: skip
    first, again = (the_class.course / name for name in ("marks.csv", "again.csv"))
    assert again.read_text() == first.read_text()
    assert {file: file.stat().st_mtime_ns for file in before} == before


def test_without_a_secret_nothing_is_graded_and_one_sentence_says_so(the_class):
    secret = the_class.course / "secret.txt"
    secret.rename(secret.with_suffix(".away"))
    try:
        output = run(f"nbgrader autograde {LAB} --force", the_class.home, the_class.course, code=1)
    finally:
        secret.with_suffix(".away").rename(secret)
    assert "cannot be read: No such file" in output
    assert "Traceback" not in output
    assert the_class.page("bare")


def test_every_package_of_this_environment_is_pinned():
    own = ROOT / "labs" / "platforms" / "nbgrader" / "requirements.txt"
    files = (ROOT / "constraints.txt", own)
    pinned = {line.lower() for file in files for line in file.read_text().splitlines()}
    frozen = subprocess.run(
        [sys.executable, "-m", "pip", "freeze", "--exclude-editable"], capture_output=True,
        text=True, timeout=SECONDS, check=True,
    ).stdout.lower().replace("_", "-").split()  # fmt: skip
    assert sorted(set(frozen) - pinned) == []


def test_a_mark_that_the_instructor_changed_stays(the_class):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{the_class.course}/gradebook.db") as book:
        book.find_grade("scale-points", LAB, LAB, "no_json").manual_score = 40
        book.db.commit()
    again = f"nbgrader autograde {LAB} --student no_json --force"
    run(again, the_class.home, the_class.course)
    with Gradebook(f"sqlite:///{the_class.course}/gradebook.db") as book:
        assert book.find_submission(LAB, "no_json").score == 40


def test_without_the_configuration_of_the_course_a_cell_that_is_run_gives_no_points():
    from nbgrader.utils import determine_grade

    cell = points_cell(find(LAB).parts[0])
    assert determine_grade(cell) == (100, 100)  # what nbgrader makes of a cell that says nothing
    done = subprocess.run([sys.executable, "-c", cell.source], capture_output=True, text=True)
    cell.outputs = [new_output("stream", name="stderr", text=done.stderr)] if done.stderr else []
    assert determine_grade(cell) == (0, 100)
