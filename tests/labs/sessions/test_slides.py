"""Slides of a session: the question, the demonstration with its picture, and the votes."""

import pytest

from labs.__main__ import main
from labs.sessions import plan, slides


def test_a_plan_without_a_part_is_refused_with_the_part(tmp_path):
    text = plan.plan_files()["18"].read_text(encoding="utf-8")
    for part, words in {
        "## Before": "has no Before",
        "**D is right.** The branch": "says which is right",
        "- B: two warps": "a reason for each wrong answer",
        "Ask: ": "a line that begins with .Ask",
        "Take home: ": "a line that begins with .Take home",
        "- **D** 8": "needs the answers A to D",
    }.items():
        assert part in text
        (tmp_path / "18.md").write_text(text.replace(part, "x", 1), encoding="utf-8")
        with pytest.raises(plan.CourseError, match=words):
            plan.read(tmp_path / "18.md")


def test_an_answer_stands_below_its_question_and_not_on_it():
    cells = slides.notebook(plan.find("18")).cells
    kinds = [cell.metadata["slideshow"]["slide_type"] for cell in cells]
    votes = ["slide", "subslide", "slide", "subslide"]
    assert kinds == ["slide", "slide", "slide", *votes, "slide"]
    assert "what do the 12 of 16 threads cost" in cells[0].source
    assert "Which banks" in cells[1].source
    assert "- **A** about 5.3 ms" in cells[3].source
    assert "follows the instructions" not in cells[3].source
    assert "follows the instructions" in cells[4].source
    assert "How long does the new kernel take?" in cells[4].source
    assert "- **C** This gives half" in cells[4].source
    assert "To take home" in cells[-1].source


def test_slides_follow_the_minutes_so_that_a_picture_does_not_tell_the_answer():
    assert plan.find("18").order == [0, 1, 2]
    assert plan.find("16").order == [2, 0, 1]
    kinds = [cell.cell_type for cell in slides.notebook(plan.find("16")).cells]
    assert kinds == ["markdown"] * 3 + ["code"] + ["markdown"] * 4


def test_the_first_slide_says_which_sitting_it_is():
    first, second = (slides.notebook(plan.find(name)).cells[0] for name in ("05", "05_second"))
    assert first.source.startswith("# Which lane reads which word\n")
    assert second.source.startswith("# Which lane reads which word, second sitting\n")


def test_a_sitting_with_a_question_of_its_own_begins_with_it():
    cell = slides.notebook(plan.find("05_second")).cells[0]
    assert cell.source.endswith("which columns should a thread have, and how many?**")


def test_a_demonstration_that_tests_a_vote_comes_before_the_answer():
    cells = slides.notebook(plan.find("11")).cells
    assert "How many words of shared memory" in cells[1].source
    assert "and what is their sum?" in cells[2].source
    assert cells[3].cell_type == "code"
    assert "These are 5 words for 4 multiply-adds" in cells[4].source


def test_the_slides_show_what_the_demonstration_shows(tmp_path, capsys):
    assert main(["slides", "18", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "session_18.html").read_text(encoding="utf-8")
    assert "8 wavefronts" in page
    assert "import LADDER" not in page
    assert str(tmp_path) in capsys.readouterr().out


def test_a_lesson_without_a_plan_is_told(tmp_path, capsys):
    assert main(["slides", "99", "--out", str(tmp_path)]) == 2
    assert "There is no plan for 99" in capsys.readouterr().err
