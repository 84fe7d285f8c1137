"""A roster gives everybody a row, in the columns of Canvas, Moodle or one's own, and days late."""

import csv
import zipfile

import pytest

from labs import EXERCISES
from labs.__main__ import main
from labs.grading import roster, tables
from labs.grading.grade import Mark
from labs.grading.labs import find
from labs.grading.marks import MarkRow
from labs.grading.roster import LateRule, Listed, date_of, days_late, owner, read_roster
from labs.grading.submissions import Submission, collect
from utils.errors import CourseError

LAB = find("first_kernel")
SECRET = "a secret of sixteen characters"
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (4711)\n"
    "    Points Possible,,,,,100\n"
    '"Hopper, Grace",12346,u17,gh1,A,\n"Lovelace, Ada",12347,u18,al2,A,\n'
)
MOODLE = (
    "\ufeffFirst name,Last name,ID number,Email address\n"
    "Ada,Lovelace,18,ada@example.org\nGrace,Hopper,17,grace@example.org\n"
)
WORKSHEET = "Identifier,Full name,Email address\nParticipant 1234567,Ada Lovelace,ada@example.org\n"
TWO_OF_MOODLE = (
    "Identifier,Full name\nParticipant 1001,Ada Lovelace\nParticipant 1002,Grace Hopper\n"
)


def rows_of(tmp_path, text: str) -> tuple[Listed, ...]:
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
    return read_roster(tmp_path / "roster.csv")


def submitted(name: str, folder: str = "", student: str = "") -> Submission:
    return Submission(student or name, (), name=name, folder=folder)


def mark(student: str, points: int) -> Mark:
    return Mark(student, LAB.name, (MarkRow("scale", "x", points, 100, "Why."),), ())


@pytest.mark.parametrize(
    ("text", "file", "name"),
    [
        (CANVAS, "hoppergrace_LATE_12346_678902_first_kernel-1", "Hopper, Grace"),
        (CANVAS, "lovelaceada_12347_678903_first_kernel", "Lovelace, Ada"),
        (CANVAS, "al2", "Lovelace, Ada"),
        (CANVAS, "al2 (1)", "Lovelace, Ada"),
        (MOODLE, "Ada Lovelace_1234567_assignsubmission_file_", "Ada Lovelace"),
        (MOODLE, "grace@example.org", "Grace Hopper"),
        (WORKSHEET, "A. L._1234567_assignsubmission_file_", "Ada Lovelace"),
        ("student;group\nann;3\n", "ann", "ann"),
        # The student chose what follows the second number, or `file_`.
        (CANVAS, "lovelaceada_12347_5002_x_12346_assignsubmission_y", "Lovelace, Ada"),
        (CANVAS, "lovelaceada_12347_5002_x_12346_5001_y", "Lovelace, Ada"),
        (CANVAS, "lovelaceada_12347_5002_\n_12346_onlinetext (1)", "Lovelace, Ada"),
        (CANVAS, "lovelaceada_99_5002_hoppergrace_12346_5001_y", "Lovelace, Ada"),
        (TWO_OF_MOODLE, "A. L._1001_assignsubmission_file_x_1002_onlinetext", "Ada Lovelace"),
        (TWO_OF_MOODLE, "A. L._1001_assignsubmission_file_x_1002_5_y", "Ada Lovelace"),
        # Moodle's number is that of the work and no ID number.
        (MOODLE, "Ada Lovelace_17_assignsubmission_file_", "Ada Lovelace"),
    ],
)
def test_a_file_finds_the_row_of_its_student(tmp_path, text, file, name):
    assert owner(submitted(file), rows_of(tmp_path, text)).name == name


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (CANVAS, "lovelaceada_12346_678903_lab"),
        (TWO_OF_MOODLE, "Ada Lovelace_1002_assignsubmission_file_"),
    ],
)
def test_a_name_and_a_number_of_two_rows_are_both_found(tmp_path, text, file):
    rows = rows_of(tmp_path, text)
    assert {*roster.rows_of(submitted(file), rows)} == {*rows}
    assert "Grace" in owner(submitted(file), rows).name


def test_a_name_of_two_students_or_of_none_has_no_row(tmp_path):
    two = rows_of(tmp_path, "Full name,Email address\nAnn Lee,a@x.org\nAnn Lee,b@x.org\n")
    assert owner(submitted("Ann Lee_12_assignsubmission_file_"), two) is None
    assert owner(submitted("b@x.org"), two) == two[1]
    assert owner(submitted("bob"), two) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has none of the columns"),
        ("names\nann\n", "has none of the columns"),
        ("student\n", "has no student"),
        ("student\nann\nann\n", "has a row twice"),
    ],
)
def test_a_roster_that_is_none_is_refused_in_a_sentence(tmp_path, text, words):
    with pytest.raises(CourseError, match=words):
        rows_of(tmp_path, text)


def test_a_day_counts_when_it_has_begun():
    due = date_of("2026-11-20", "--due")
    for text, days in (
        ("2026-11-20", 0), ("2026-11-20T23:59", 0), ("2026-11-21T00:30", 1), ("2026-11-21", 1),
        ("2026-11-22T08:00", 2),
    ):  # fmt: skip
        assert days_late(date_of(text, "here"), due) == days
    assert days_late(None, due) == days_late(due, None) == 0
    with pytest.raises(CourseError, match="'tomorrow' in here is no date"):
        date_of("tomorrow", "here")


@pytest.mark.parametrize(("tries", "points", "days"), [("last", 60, 2), ("best", 70, 0)])
def test_of_several_tries_the_last_or_the_best_counts_after_its_days(tmp_path, tries, points, days):
    listed = rows_of(tmp_path, "student\nann\nbob\n")
    works = [
        submitted("ann", "2026-11-22T08:00 third", "ann-3"), submitted("ann", "2026-11-19", "ann"),
        submitted("eve", "2026-11-19"),
    ]  # fmt: skip
    marks = {"ann": mark("ann", 70), "ann-3": mark("ann-3", 80), "eve": mark("eve", 5)}
    rule = LateRule(date_of("2026-11-20", "--due"), 10, tries)
    ann, bob, eve = roster.results(listed, works, marks, rule)
    assert (ann.points, ann.days_late, ann.tries) == (points, days, 2)
    assert (bob.mark, bob.points, bob.tries) == (None, 0, 0)
    assert (eve.listed, eve.student) == (None, "eve")
    table = tables.as_plain(LAB, [ann, bob, eve]).splitlines()
    assert table[0] == "student,points,of,scale,days_late,tries"
    assert table[2:] == ["bob,0,100,0,0,0", "eve,5,100,5,0,1"]


@pytest.mark.parametrize("tries", roster.TRIES)
def test_a_try_with_nothing_to_read_replaces_no_other(tmp_path, tries):
    download = tmp_path / "class"
    for name, file in (
        ("Ada Lovelace_1001_assignsubmission_file_", "work.py"),
        ("Ada Lovelace_1001_assignsubmission_onlinetext_", "onlinetext.html"),
        ("Grace Hopper_1002_assignsubmission_onlinetext_", "onlinetext.html"),
    ):
        (download / name).mkdir(parents=True)
        (download / name / file).write_text("x = 1")
    works = collect([download])
    marks = {one.student: mark(one.student, 0 if one.problem else 70) for one in works}
    rule = LateRule(tries=tries)
    ada, grace = roster.results(rows_of(tmp_path, TWO_OF_MOODLE), works, marks, rule)
    assert (ada.points, ada.tries) == (70, 1)
    assert (grace.points, grace.tries) == (0, 1)
    assert grace.mark is not None


def test_canvas_and_moodle_get_the_columns_that_they_import(tmp_path):
    for text, made, lines in (
        (CANVAS, tables.as_canvas, [
            "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (4711)",
            "    Points Possible,,,,,100", '"Hopper, Grace",12346,u17,gh1,A,40',
            '"Lovelace, Ada",12347,u18,al2,A,0',
        ]),
        (MOODLE, tables.as_moodle, [
            "Email address,ID number,Lab 1 (4711)", "ada@example.org,18,0",
            "grace@example.org,17,40",
        ]),
    ):  # fmt: skip
        listed, work = rows_of(tmp_path, text), submitted("grace@example.org")
        work = submitted("gh1") if text is CANVAS else work
        results = roster.results(listed, [work], {work.student: mark("", 40)}, LateRule())
        assert made(LAB, results, "Lab 1 (4711)").splitlines() == lines


def test_a_roster_without_their_columns_is_refused(tmp_path):
    results = roster.results(rows_of(tmp_path, "student\nann\n"), [], {}, LateRule())
    for made, words in ((tables.as_canvas, "Canvas finds"), (tables.as_moodle, "Moodle finds")):
        with pytest.raises(CourseError, match=words):
            made(LAB, results, "Lab 1")


def test_the_command_grades_a_class_with_its_roster(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    for folder, text in (("2026-11-19", ""), ("2026-11-21", EXERCISES["scale"].solution_text)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ada@example.org.py").write_text(text)
    (tmp_path / "2026-11-21" / "bob.py").write_text("")
    (tmp_path / "roster.csv").write_text(MOODLE, encoding="utf-8")
    words = [
        "grade", LAB.name, str(tmp_path / "2026-11-19"), str(tmp_path / "2026-11-21"),
        "--roster", str(tmp_path / "roster.csv"), "--columns", "moodle", "--item", "Lab 1",
        "--due", "2026-11-20", "--late", "10", "--out", str(tmp_path / "out"), "--workers", "1",
    ]  # fmt: skip
    assert main(words) == 0
    shown = capsys.readouterr()
    assert "1 of 2 students handed in nothing." in shown.out
    pages = tmp_path / "out" / "feedback" / "ada@example.org-2"
    assert "Ada Lovelace: 100 of 100." in (pages / "feedback.md").read_text()
    assert "<p>Ada Lovelace: <strong>" in (pages / "feedback.html").read_text()
    assert "bob is in no row of the roster" in shown.err
    with (tmp_path / "out" / "first_kernel_moodle.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["Email address", "ID number", "Lab 1"], ["ada@example.org", "18", "90"],
        ["grace@example.org", "17", "0"],
    ]  # fmt: skip


def test_moodle_gets_a_zip_of_the_pages_that_count_named_as_it_named_the_work(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    right = EXERCISES["scale"].solution_text
    work = ("18_assignsubmission_file_", right), ("18_assignsubmission_onlinetext", "")
    for name, text in work:
        (tmp_path / "class" / f"Ada Lovelace_{name}").mkdir(parents=True)
        (tmp_path / "class" / f"Ada Lovelace_{name}" / "work.py").write_text(text)
    (tmp_path / "class" / "stranger_99_assignsubmission_file_work.py").write_text(right)
    (tmp_path / "roster.csv").write_text(MOODLE, encoding="utf-8")
    words = ["--roster", str(tmp_path / "roster.csv"), "--columns", "moodle"]
    words += ["--out", str(tmp_path / "out"), "--workers", "1"]
    assert main(["grade", LAB.name, str(tmp_path / "class"), *words]) == 0
    with zipfile.ZipFile(tmp_path / "out" / "first_kernel_moodle_pages.zip") as archive:
        (name,) = archive.namelist()
        page = archive.read(name).decode()
    assert name == "Ada Lovelace_18_assignsubmission_file_feedback.html"
    # What Moodle's importer reads: a name, a number, two words that name the plugin, and the file.
    assert name.split("_", 4)[1:4] == ["18", "assignsubmission", "file"]
    assert "<p>Ada Lovelace: <strong>100 of 100" in page


def test_the_command_names_work_whose_name_and_number_belong_to_two_rows(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "lovelaceada_12346_678903_lab.py").write_text("")
    (tmp_path / "roster.csv").write_text(CANVAS, encoding="utf-8")
    words = ["--roster", str(tmp_path / "roster.csv"), "--out", str(tmp_path / "out")]
    assert main(["grade", LAB.name, str(tmp_path / "class"), *words, "--workers", "1"]) == 0
    shown = capsys.readouterr().err
    assert "the number is that of Hopper, Grace, who gets the mark, and the name is that" in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--columns", "canvas"], "--columns canvas needs --roster"),
        (["--due", "2026-11-20"], "Give --due and --late together"),
        (["--due", "soon", "--late", "10"], "'soon' in --due is no date"),
        (["--due", "2026-11-20", "--late", "101"], "a percentage from 0 to 100"),
        (["--tries", "best", "--hash-names"], "leave out --hash-names"),
        (["--roster", "no_such_file"], "cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    (tmp_path / "ann.py").write_text("")
    assert main(["grade", LAB.name, str(tmp_path), "--out", str(tmp_path / "out"), *words]) == 2
    assert sentence in capsys.readouterr().err


def test_the_name_and_the_folder_of_a_file_are_kept(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ann.py").write_text("x = 1")
    works = collect([tmp_path / "one", tmp_path / "two"])
    assert [(one.student, one.name, one.folder) for one in works] == [
        ("ann", "ann", "one"), ("ann-2", "ann", "two"),
    ]  # fmt: skip
