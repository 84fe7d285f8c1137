"""Pages of feedback: their sentences, the location of a line, and the escaping of markup."""

import json
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from labs import EXERCISES
from labs.grading import feedback
from labs.grading.grade import Mark, grade
from labs.grading.labs import find
from labs.grading.marks import MarkRow
from labs.grading.submissions import Submission

SECRET = "a secret of sixteen characters"
MARKDOWN = MarkdownIt("commonmark").enable("table")  # lets HTML through, as a reader might


def test_feedback_holds_no_markup_of_a_student():
    lab = find("tiling")
    bad = "`<img src=x>` <img src=x> \\<img src=x> ``<img src=x>` | *bad*"
    mark = grade(lab, Submission("<script>", (), bad), SECRET)
    page = MARKDOWN.render(feedback.as_markdown(lab, mark))
    for page_text in (feedback.as_html(lab, mark), page):
        assert "<script>" not in page_text
        assert "<img" not in page_text
        assert "<em>" not in page_text
        assert page_text.count("<code>&lt;img src=x&gt;</code>") >= 1
    results = json.loads(feedback.as_gradescope(lab, mark))
    assert results["score"] == 0
    assert sum(test["max_score"] for test in results["tests"]) == pytest.approx(lab.points)


def a_mark(*rows: MarkRow, told=()) -> Mark:
    return Mark("ann", "tiling", rows, told)


def test_code_in_markdown_is_as_the_student_wrote_it():
    why = "Line 5, `tile_a[ty, tx] = a[i] | 1`: [x] is wrong."
    row = MarkRow("tiling", "right", 0, 500, why)
    page = feedback.as_markdown(find("tiling"), a_mark(row, told=(("tiling", f"{why} Yes."),)))
    assert r"> Line 5, `tile_a[ty, tx] = a[i] | 1`: \[x\] is wrong. Yes." in page
    assert MARKDOWN.render(page).count("<code>tile_a[ty, tx] = a[i] | 1</code>: [x] is wrong.") == 2


def test_what_refuses_a_whole_part_is_said_once_on_each_page():
    lab = find("occupancy")  # two parts: functions of numbers, and a kernel
    mark = grade(lab, Submission("ann", (("ann.py", b""),)), SECRET)
    sentence = "`ann.py` is empty."
    assert all(row.told for row in mark.rows)
    for page in (feedback.as_markdown(lab, mark), feedback.as_html(lab, mark).replace(
        "<code>ann.py</code>", "`ann.py`"
    )):  # fmt: skip
        assert page.count(sentence) == len(lab.parts)
    results = json.loads(feedback.as_gradescope(lab, mark))
    assert results["output"] == sentence
    assert not [test for test in results["tests"] if sentence in test["output"]]
    assert {test["status"] for test in results["tests"]} == {"failed"}


def test_a_syntax_error_is_said_once():
    lab = find("tiling")
    mark = grade(lab, Submission("ann", (("a.py", b"def tiling(a:\n    pass"),)), SECRET)
    page = feedback.as_markdown(lab, mark)
    assert page.count("Python cannot read this") == 1
    assert page.index("> Line 1: Python cannot read this") < page.index("| points |")


def test_a_reason_that_several_rows_share_is_said_in_the_first():
    rows = [MarkRow("tiling", f"row {n}", 0, 100, why) for n, why in enumerate(("A.", "B.", "B."))]
    passed = MarkRow("tiling", "row 3", 100, 100)
    mark = a_mark(*rows, passed, passed)
    page = feedback.as_markdown(find("tiling"), mark).splitlines()
    reasons = [line.split(" | ")[-1].removesuffix(" |") for line in page[-5:]]
    assert reasons == ["✗ A.", "✗ B.", "✗ as above", "✓", "✓"]
    tests = json.loads(feedback.as_gradescope(find("tiling"), mark))["tests"]
    assert [test["output"] for test in tests[:5]] == [feedback.LATER] * 3 + ["", ""]
    assert tests[5]["output"] == "row 0: A.\nrow 1: B.\nrow 2: as above"
    refused = replace(mark, refused=("tiling",))
    tests = json.loads(feedback.as_gradescope(find("tiling"), refused))["tests"]
    assert [test["output"] for test in tests] == ["A.", "B.", "as above", "", ""]


@pytest.mark.parametrize("name", ["first_kernel", "estimates"])
def test_gradescope_shows_nothing_of_the_secret_before_the_grades_are_published(name):
    """The same work with two secrets differs only in what is shown later."""
    lab = find(name)
    solution = "\n\n".join(part.definition.solution_text for part in lab.parts)
    text = solution.replace("i < out.size", "i < out.size - out.size % 2")
    text = text.replace("return ", "return 1+")
    at_once, later = [], []
    for secret in (SECRET, "another secret of more than sixteen characters"):
        mark = grade(lab, Submission("ann", (("a.py", text.encode()),)), secret)
        assert any(row.told for row in mark.rows)
        results = json.loads(feedback.as_gradescope(lab, mark))
        hidden = [one for one in results["tests"] if one["visibility"] == "after_published"]
        results["tests"] = [one for one in results["tests"] if one not in hidden]
        assert {one["visibility"] for one in results["tests"]} == {"visible"}
        assert not any("max_score" in one for one in hidden)
        at_once.append([(one["name"], one["output"]) for one in results["tests"]])
        assert results["output"] == ""
        later.append("\n".join(one["output"] for one in hidden))
        assert all(row.told in later[-1] for row in mark.rows if "Not right at" in row.told)
    assert at_once[0] == at_once[1]
    assert later[0] != later[1]


def test_a_refusal_is_shown_in_gradescope_at_once():
    lab = find("first_kernel")
    mark = grade(lab, Submission("ann", (("a.py", b"x = 1"),)), SECRET)
    results = json.loads(feedback.as_gradescope(lab, mark))
    assert "There is no function `scale`" in results["output"]
    assert {one["visibility"] for one in results["tests"]} == {"visible"}
    assert feedback.LATER not in {one["output"] for one in results["tests"]}


def a_notebook(*codes: str) -> bytes:
    cells = [{"cell_type": "code", "source": code} for code in codes]
    return json.dumps({"cells": cells}).encode()


REFUSED = "from numba import cuda\n\n@cuda.jit\ndef tiling(a, b, c):\n    import os\n"


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ([("a.ipynb", a_notebook("x = 1", "def f(): 1", REFUSED))], "code cell 3 of `a.ipynb`"),
        ([("a.py", b"def f(): 1"), ("b.py", REFUSED.encode())], "`b.py`"),
        ([("a.ipynb", a_notebook("def f(): 1", "def tiling(a:"))], "code cell 2 of `a.ipynb`"),
        (
            [("a.ipynb", a_notebook("x = 1", REFUSED, REFUSED.replace("import os", "pass")))],
            "code cell 2 of `a.ipynb` and code cell 3 of `a.ipynb`",
        ),
    ],
)
def test_a_line_has_its_cell_or_file_where_several_hold_functions(files, place):
    mark = grade(find("tiling"), Submission("ann", tuple(files)), SECRET)
    sentence = dict(mark.told)["tiling"]
    assert sentence.endswith(f" `tiling` is in {place}: its lines are counted there.")


def test_a_line_has_no_place_where_one_piece_alone_holds_functions():
    for name, raw in (("a.py", REFUSED.encode()), ("a.ipynb", a_notebook("x = 1", REFUSED))):
        mark = grade(find("tiling"), Submission("ann", ((name, raw),)), SECRET)
        sentence = dict(mark.told)["tiling"]
        assert sentence == "Line 5: an import within a function is not allowed in a submission."


def test_what_check_says_has_its_cell_too():
    code = a_notebook("def other(x):\n    return x", EXERCISES["scale"].starter_text)
    mark = grade(find("first_kernel"), Submission("ann", (("a.ipynb", code),)), SECRET)
    assert len(mark.told) > 1
    assert mark.told[-1][1].startswith("`scale` is in code cell 2 of `a.ipynb`")


def test_a_failed_row_is_told_from_a_passed_one_without_colours():
    passed, failed = MarkRow("tiling", "good", 5, 5), MarkRow("tiling", "bad", 0, 5, "Why.")
    page = feedback.as_html(find("tiling"), a_mark(passed, failed))
    assert '<span class="reached" role="img" aria-label="reached">✓</span> 5 of 5</td><td>good' in (
        page
    )
    assert '<span class="missed" role="img" aria-label="missed">✗</span> 0 of 5</td><td>bad' in page
    assert ": 5 of 10 points</h2>" in page
    lines = feedback.as_markdown(find("tiling"), a_mark(passed, failed)).splitlines()
    assert next(line for line in lines if line.startswith("## ")).endswith(": 5 of 10 points")
    assert lines[-2:] == ["| 5 | 5 | good | ✓ |", "| 0 | 5 | bad | ✗ Why. |"]
