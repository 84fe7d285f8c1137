"""Marks: what a lab gives points for, and that they are the same wherever they are given."""

import ast
import json
import re
import zipfile
from dataclasses import replace
from random import Random

import nbformat
import pytest

from labs import EXERCISES
from labs.evaluator import evaluated
from labs.exercise import Exercise
from labs.grading import feedback
from labs.grading.batch import graded
from labs.grading.by_text import functions_of
from labs.grading.child import Limits, in_child
from labs.grading.equivalents import equivalents
from labs.grading.grade import grade
from labs.grading.handout import notebook
from labs.grading.hidden import drawn, graded_cases
from labs.grading.labs import LABS, find
from labs.grading.marks import rows_of, shared_out
from labs.grading.mutants import sample
from labs.grading.reading import Submission, Unreadable, collected, pieces_of
from labs.grading.selftest import Summary, Tried
from labs.numbers import NumbersExercise, same
from utils.errors import CourseError

SECRET = "a secret of sixteen characters"
NUMBERS = [name for name, one in EXERCISES.items() if isinstance(one, NumbersExercise)]


def handed_in(lab, kind="solution") -> Submission:
    text = "\n\n".join(getattr(part.asked, f"{kind}_text") for part in lab.parts)
    return Submission(kind, (("work.py", text.encode()),))


@pytest.mark.slow
@pytest.mark.parametrize("name", LABS)
def test_the_solutions_of_a_lab_get_all_points(name):
    found = grade(find(name), handed_in(find(name)), SECRET)
    assert [row.told for row in found.rows if row.points < row.of] == []
    assert found.points == found.of == 100 * find(name).points


@pytest.mark.slow
@pytest.mark.parametrize("name", LABS)
def test_the_starters_of_a_lab_get_at_most_a_third(name):
    found = grade(find(name), handed_in(find(name), "starter"), SECRET)
    assert found.points <= found.of / 3
    assert found.told


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, e in EXERCISES.items() if isinstance(e, Exercise)])
def test_a_solution_is_right_at_the_shapes_of_any_secret(name):
    from labs.checker import attempt, wrong_result

    asked = EXERCISES[name]
    for number in range(4):
        hidden = drawn(asked, f"{SECRET} {number}")
        for shape in hidden.shapes:
            seen = attempt(asked, asked.solution, shape, 60, hidden.seed)
            assert wrong_result(seen) is None


def test_hidden_shapes_follow_from_the_secret_alone():
    asked = EXERCISES["tiling"]
    assert drawn(asked, SECRET) == drawn(asked, SECRET)
    assert drawn(asked, SECRET) != drawn(asked, SECRET + "x")
    assert drawn(asked, SECRET).shapes[0] == asked.shapes[0]


def test_a_short_secret_is_refused():
    with pytest.raises(CourseError, match="at least 16"):
        drawn(EXERCISES["tiling"], "short")


@pytest.mark.parametrize("name", EXERCISES)
def test_every_solution_may_stand_in_a_submission(name):
    found = functions_of((EXERCISES[name].solution_text,), (name,))[name]
    assert callable(found), str(found)


def test_points_are_shared_out_to_the_last_hundredth():
    random = Random(1)
    for _ in range(200):
        weights = [random.randint(0, 20) for _ in range(9)] + [1]
        points = random.randint(1, 100)
        assert sum(shared_out(points, weights)) == 100 * points


def test_a_notebook_without_metadata_is_read_cell_by_cell():
    notebook = {"cells": [
        {"cell_type": "markdown", "source": "def tiling"},
        {"cell_type": "code", "source": ["%pip install numba\n", "from numba import cuda\n"]},
        {"cell_type": "code", "source": "%%bash\nls"},
        {"cell_type": "code", "source": "@cuda.jit\ndef tiling(a, b, c):\n    c[0, 0] = 1\n"},
    ]}  # fmt: skip
    pieces = pieces_of("work.ipynb", json.dumps(notebook).encode())
    assert pieces[0].splitlines() == ["", "from numba import cuda"]
    assert pieces[1] == ""
    assert callable(functions_of(pieces, ("tiling",))["tiling"])


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("a.py", b"  \n", "is empty"),
        ("a.py", b"\xff\xfe", "not UTF-8"),
        ("a.ipynb", b"{", "no notebook"),
        ("a.ipynb", b"[1, 2]", "no notebook"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": 5}]}', "no notebook"),
    ],
)
def test_what_is_no_text_says_so(name, raw, words):
    with pytest.raises(Unreadable, match=words):
        pieces_of(name, raw)


def test_a_file_that_may_not_be_read_is_a_graded_row(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("x = 1")

    def refused(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refused)
    (found,) = collected([tmp_path])
    assert found.problem == "`mine.py` cannot be opened: Permission denied."
    assert grade(find("tiling"), found, SECRET).rows[0].told == found.problem


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_is_damaged_anywhere_is_a_problem_and_no_error(tmp_path, method):
    file = tmp_path / "work.zip"
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("work.py", "x = 1\n" * 500)
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        (found,) = collected([tmp_path])
        assert found.files or found.problem
    file.write_bytes(whole[: len(whole) // 2])
    (found,) = collected([tmp_path])
    assert "no zip that can be unpacked: File is not a zip file." in found.problem


def test_an_encrypted_zip_says_so(tmp_path):
    file = tmp_path / "work.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("work.py", "x = 1\n")
    raw = bytearray(file.read_bytes())
    raw[6] |= 1  # the flag of the entry, here and in the directory
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(raw)
    (found,) = collected([tmp_path])
    assert "encrypted" in found.problem


def test_constants_and_device_functions_of_a_submission_are_known():
    text = (
        "import numba\nimport numpy as np\nfrom numba import cuda\n"
        "SIDE = 4 * 8\nHALF = SIDE // 2\nTYPE = np.float32\n\n"
        "@cuda.jit\ndef tiling(a, b, c):\n    c[0, 0] = half(a[0, 0]) + HALF + LATER\n\n"
        "@cuda.jit(device=True)\ndef half(x: float) -> float:\n    return x / numba.float32(2)\n\n"
        "LATER = 3\n"
    )
    found = functions_of((text,), ("tiling",))["tiling"]
    assert callable(found), str(found)
    assert found.py_func.__globals__["HALF"] == 16
    assert found.py_func.__globals__["LATER"] == 3


def test_a_name_without_a_constant_says_where_it_was_lost():
    text = "from numba import cuda\nN = len([1])\n\n@cuda.jit\ndef tiling(a, b, c):\n    c[0] = N\n"
    refused = functions_of((text,), ("tiling",))["tiling"]
    assert "the name `N` is not defined" in str(refused)
    assert "Line 2 gives it no constant" in str(refused)


def test_a_child_that_crashes_hangs_or_writes_too_much_is_told():
    import os
    import time

    def crashes():
        yield {"part": 1}
        os.kill(os.getpid(), 9)

    def hangs():
        yield {"part": 1}
        time.sleep(60)

    def fails():
        raise ValueError("why")
        yield {}

    assert in_child(crashes).messages == ({"part": 1},)
    assert "SIGKILL" in in_child(crashes).problem
    assert "did not end in the time" in in_child(hangs, Limits(seconds=0.2)).problem
    assert in_child(fails).problem == "ValueError: why"
    assert in_child(lambda: iter([{"part": 1}])).problem == ""


@pytest.mark.slow
def test_a_class_has_the_same_marks_in_another_order_and_goes_on_where_it_was_stopped(tmp_path):
    lab = find("unrolling")
    asked = lab.parts[0].asked
    submissions = [
        Submission("right", (("a.py", asked.solution_text.encode()),)),
        Submission("starter", (("a.py", asked.starter_text.encode()),)),
        Submission("broken", (("a.py", b"def unroll("),)),
        Submission("empty", (), "The folder holds nothing."),
    ]
    first = list(graded(lab, submissions, SECRET, tmp_path / "one", workers=2))
    other = list(graded(lab, submissions[::-1], SECRET, tmp_path / "two", workers=1))
    assert feedback.as_csv(lab, first) == feedback.as_csv(lab, other)
    kept = sorted((tmp_path / "one" / "graded").glob("*.json"))
    kept[0].unlink()
    again = list(graded(lab, submissions, SECRET, tmp_path / "one", workers=1))
    assert feedback.as_csv(lab, first) == feedback.as_csv(lab, again)


def test_feedback_holds_no_markup_of_a_student():
    lab = find("tiling")
    found = grade(lab, Submission("<script>", (), "`<img src=x>` | *bad*"), SECRET)
    assert "<script>" not in feedback.as_html(lab, found)
    assert "<img" not in feedback.as_html(lab, found)
    assert r"\<img" in feedback.as_markdown(lab, found)
    results = json.loads(feedback.as_gradescope(lab, found))
    assert results["score"] == 0
    assert sum(test["max_score"] for test in results["tests"]) == pytest.approx(lab.points)


def test_a_table_holds_no_formula():
    lab = find("tiling")
    found = grade(lab, Submission("=1+1", (), "nothing"), SECRET)
    assert feedback.as_csv(lab, [found]).splitlines()[1].startswith("'=1+1,0,100")


@pytest.mark.parametrize("name", LABS)
def test_parts_of_a_lab_agree_on_their_constants(name):
    """They stand in one notebook, where the last value of a name counts for all."""
    values = {}
    for part in find(name).parts:
        for node in ast.parse(part.asked.solution_text).body:
            if isinstance(node, ast.Assign):
                target, value = ast.unparse(node.targets[0]), ast.unparse(node.value)
                assert values.setdefault(target, value) == value


def test_several_constants_of_one_line_are_known():
    text = (
        "from numba import cuda\nBM, BN = 32, 64\n\n"
        "@cuda.jit\ndef tiling(a, b, c):\n    c[0, 0] = BM + BN\n"
    )
    found = functions_of((text,), ("tiling",))["tiling"]
    assert (found.py_func.__globals__["BM"], found.py_func.__globals__["BN"]) == (32, 64)


@pytest.mark.parametrize("name", LABS)
def test_a_handout_is_a_notebook_that_promises_all_points(name):
    lab = find(name)
    made = notebook(lab)
    nbformat.validate(made)
    assert len({cell.id for cell in made.cells}) == len(made.cells)
    promised = [
        float(points)
        for cell in made.cells
        for points in re.findall(r"^\| ([\d.]+) \|", cell.source, re.MULTILINE)
    ]
    assert sum(promised) == pytest.approx(lab.points)
    starters = [cell.source for cell in made.cells if "your-turn" in cell.metadata.get("tags", [])]
    assert len(starters) == len(lab.parts)


def test_every_exercise_is_in_a_lab():
    assert {part.exercise for lab in LABS.values() for part in lab.parts} == set(EXERCISES)


def test_right_functions_by_rule_differ_and_may_stand_in_a_submission():
    for name in ("tiling", "resident_blocks"):
        changed = list(equivalents(EXERCISES[name].solution_text))
        assert len(changed) >= 4
        for what, text in changed:
            assert text != EXERCISES[name].solution_text, what
            assert callable(functions_of((text,), (name,))[name]), what


@pytest.mark.parametrize("name", NUMBERS)
def test_the_formula_of_a_function_of_numbers_gives_what_its_cases_say(name):
    asked = EXERCISES[name]
    wrong = [one for one in asked.all_cases if not same(asked.right(*one.given), one.right)]
    assert wrong == []


@pytest.mark.parametrize("name", NUMBERS)
def test_the_solution_is_right_in_cases_of_any_secret(name):
    asked = EXERCISES[name]
    evaluate = evaluated(asked.solution)
    for number in range(3):
        given = drawn(asked, f"{SECRET} {number}").given
        assert [one for one in given if not same(evaluate(one), asked.right(*one))] == []


def test_hidden_cases_are_new_and_follow_from_the_secret():
    for name in NUMBERS:
        asked = EXERCISES[name]
        hidden = drawn(asked, SECRET)
        assert hidden == drawn(asked, SECRET)
        assert hidden != drawn(asked, SECRET + "x")
        assert not set(hidden.given) & {case.given for case in asked.all_cases}
        assert len(set(hidden.given)) == len(hidden.given) == 24


@pytest.mark.parametrize("name", NUMBERS)
def test_a_table_of_the_cases_that_everyone_can_read_loses_most_points(name):
    part = next(part for lab in LABS.values() for part in lab.parts if part.exercise == name)
    table = {case.given: case.right for case in part.asked.all_cases}
    seen = [{"answers": [table.get(one, 1) for one in _graded_numbers(part.asked)]}]
    rows = rows_of(part, seen, drawn(part.asked, SECRET), "")
    assert [row.points for row in rows] == [20 * part.points, 10 * part.points, 0]
    assert "cases are wrong. For `" in rows[-1].told


def _graded_numbers(asked):
    return [*(case.given for case in graded_cases(asked)), *drawn(asked, SECRET).given]


def test_a_function_that_looks_answers_up_is_marked_by_its_text():
    lab = replace(find("occupancy"), parts=find("occupancy").parts[:1])
    (part,) = lab.parts
    branches = "".join(
        f"    if side == {case.given[0]}:\n        return {case.right}\n"
        for case in part.asked.all_cases
    )
    text = f"def required_shared(side):\n{branches}    return 0\n"
    found = grade(lab, Submission("student", (("work.py", text.encode()),)), SECRET)
    assert (found.points, found.of) == (450, 1500)
    assert "it returns 0." in found.rows[-1].told


def test_mutants_of_a_self_test_are_the_same_ones_each_time_and_of_every_rule():
    text = EXERCISES["tiling"].solution_text
    some = sample(text, 24)
    assert some == sample(text)[:24]
    assert len({changed for _, changed in some}) == 24
    assert len({what.split(" in `")[0] for what, _ in some[:12]}) == 12


def tried(kind, points, told="", what=""):
    return Tried("x", kind, what, points, 100, told, 0.0)


GOOD = (
    tried("solution", 100), tried("starter", 10, "no"),
    *(tried("right", 100) for _ in range(4)), *(tried("mutant", 0, "Line 1.") for _ in range(12)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ((), None),
        ((tried("mutant", 100),), None),
        ((tried("solution", 99, "why"),), "The solution loses points: why"),
        ((tried("starter", 34),), "more than a third"),
        ((tried("right", 50, "why", "turned"),), r"\(turned\): why"),
        ((tried("mutant", 0),), "nothing is told"),
    ],
)
def test_a_self_test_says_what_does_not_hold(added, words):
    told = " ".join(Summary("x", GOOD + added).wrong)
    assert re.search(words, told) if words else told == ""


@pytest.mark.parametrize(
    "told", ["", "3 of 8 elements are wrong.", "1 of 9 cases are wrong. For `n = 3` it returns 4."]
)
def test_a_count_names_no_cause(told):
    named = [tried("mutant", 0, told) if one.kind == "mutant" else one for one in GOOD]
    assert "0 mutants are told the cause, and 12 are needed." in list(Summary("x", named).wrong)


def test_too_few_right_functions_are_told():
    few = [one for one in GOOD if one.kind != "right"]
    assert list(Summary("x", few).wrong) == ["There are 0 right functions, and 4 are needed."]
