"""Marks: what a lab gives points for, and that they are the same on every machine."""

import ast
import json
import re
import zipfile
from fractions import Fraction
from random import Random

import nbformat
import pytest

from labs import EXERCISES
from labs.checking.exercise import KernelExercise
from labs.grading import attempt as in_the_child
from labs.grading import feedback
from labs.grading.batch import grade_class
from labs.grading.child import ChildLimits, in_child
from labs.grading.equivalents import equivalents
from labs.grading.functions_from_text import functions_of
from labs.grading.grade import grade
from labs.grading.handout import notebook
from labs.grading.hidden import draw_hidden
from labs.grading.labs import LABS, find
from labs.grading.marks import points_for, points_of_rows, split_points
from labs.grading.submissions import Submission, Unreadable, collect, neutral_name, pieces_of
from utils.errors import CourseError
from virtual_gpu.types import installed_code

SECRET = "a secret of sixteen characters"


def handed_in(lab, kind="solution") -> Submission:
    text = "\n\n".join(getattr(part.definition, f"{kind}_text") for part in lab.parts)
    return Submission(kind, (("work.py", text.encode()),))


@pytest.mark.slow
@pytest.mark.parametrize("name", LABS)
def test_the_solutions_of_a_lab_get_all_points(lab):
    mark = grade(lab, handed_in(lab), SECRET)
    assert [row.told for row in mark.rows if row.points < row.of] == []
    assert mark.points == mark.of == lab.points


@pytest.mark.slow
@pytest.mark.parametrize("name", LABS)
def test_the_starters_of_a_lab_get_at_most_a_third(lab):
    mark = grade(lab, handed_in(lab, "starter"), SECRET)
    assert mark.points <= mark.of / 3
    assert mark.told


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, e in EXERCISES.items() if isinstance(e, KernelExercise)])
def test_a_solution_is_right_at_the_shapes_of_any_secret(name):
    from labs.checking.judge import attempt, wrong_result

    exercise = EXERCISES[name]
    for number in range(4):
        hidden = draw_hidden(exercise, f"{SECRET} {number}")
        for shape in hidden.shapes:
            run = attempt(exercise, exercise.solution, shape, 60, hidden.seed)
            assert wrong_result(exercise, [run]) is None


def test_hidden_shapes_follow_from_the_secret_alone():
    exercise = EXERCISES["tiling"]
    assert draw_hidden(exercise, SECRET) == draw_hidden(exercise, SECRET)
    assert draw_hidden(exercise, SECRET) != draw_hidden(exercise, SECRET + "x")
    assert draw_hidden(exercise, SECRET).shapes[0] == exercise.shapes[0]


def test_a_short_secret_is_refused():
    with pytest.raises(CourseError, match="at least 16"):
        draw_hidden(EXERCISES["tiling"], "short")


@pytest.mark.parametrize("name", EXERCISES)
def test_every_solution_may_stand_in_a_submission(name):
    function = functions_of((EXERCISES[name].solution_text,), (name,))[name]
    assert callable(function), str(function)


def test_points_are_shared_out_whole_and_to_the_last_one():
    random = Random(1)
    for _ in range(200):
        weights = [random.randint(0, 20) for _ in range(9)] + [1]
        points = random.randint(1, 100)
        shares = split_points(points, weights)
        assert sum(shares) == points
        exact = [points * weight / sum(weights) for weight in weights]
        assert all(abs(own - share) < 1 for own, share in zip(exact, shares, strict=True))


def test_a_row_that_is_not_complete_loses_a_point_and_no_row_has_less_than_none():
    assert [points_for(Fraction(share, 24), 5) for share in (24, 23, 12, 1, 0)] == [5, 4, 3, 0, 0]
    assert points_for(Fraction(23, 24), 1) == 0


def test_every_kernel_has_an_idea_and_at_most_forty_percent_for_a_right_result():
    for part in (part for lab in LABS.values() for part in lab.parts):
        if isinstance(part.definition, KernelExercise):
            assert set(part.main) <= {one.what for one in part.definition.targets}
            assert part.main
            right, idea, _ = points_of_rows(part)
            if part.definition.kind == "repair":  # test_cheap.py tests that it must be a repair
                assert 0 < idea < right
            else:
                assert right <= 0.4 * part.points
                assert right < idea


def test_a_notebook_without_metadata_is_read_cell_by_cell():
    notebook = {"cells": [
        {"cell_type": "markdown", "source": "def tiling"},
        {"cell_type": "code", "source": ["%pip install numba\n", "from numba import cuda\n"]},
        {"cell_type": "code", "source": "%%bash\nls"},
        {"cell_type": "code", "source": "@cuda.jit\ndef tiling(a, b, c):\n    c[0, 0] = 1\n"},
    ]}  # fmt: skip
    pieces = pieces_of("work.ipynb", json.dumps(notebook).encode())
    assert pieces[0].splitlines() == ["pass", "from numba import cuda"]
    assert pieces[1] == ""
    assert callable(functions_of(pieces, ("tiling",))["tiling"])


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("a.py", b"  \n", "is empty"),
        ("a.py", b"\xff\x81", "not UTF-8"),
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
    (submission,) = collect([tmp_path])
    assert submission.problem == "`mine.py` cannot be opened: Permission denied."
    assert grade(find("tiling"), submission, SECRET).rows[0].told == submission.problem


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_is_damaged_anywhere_is_a_problem_and_no_error(tmp_path, method):
    file = tmp_path / "work.zip"
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("work.py", "x = 1\n" * 500)
    whole = file.read_bytes()
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        (submission,) = collect([tmp_path])
        assert submission.files or submission.problem
    file.write_bytes(whole[: len(whole) // 2])
    (submission,) = collect([tmp_path])
    assert "no zip that can be unpacked: File is not a zip file." in submission.problem


def test_an_encrypted_zip_says_so(tmp_path):
    file = tmp_path / "work.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("work.py", "x = 1\n")
    raw = bytearray(file.read_bytes())
    raw[6] |= 1  # the flag of the entry, here and in the directory
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(raw)
    (submission,) = collect([tmp_path])
    assert "File `work.py` is encrypted" in submission.problem
    (submission,) = collect([tmp_path], neutral_name)
    assert "File `submission.py` is encrypted" in submission.problem


def test_constants_and_device_functions_of_a_submission_are_known():
    text = (
        "import numba\nimport numpy as np\nfrom numba import cuda\n"
        "SIDE = 4 * 8\nHALF = SIDE // 2\nTYPE = np.float32\n\n"
        "@cuda.jit\ndef tiling(a, b, c):\n    c[0, 0] = half(a[0, 0]) + HALF + LATER\n\n"
        "@cuda.jit(device=True)\ndef half(x: float) -> float:\n    return x / numba.float32(2)\n\n"
        "LATER = 3\n"
    )
    function = functions_of((text,), ("tiling",))["tiling"]
    assert callable(function), str(function)
    assert function.py_func.__globals__["HALF"] == 16
    assert function.py_func.__globals__["LATER"] == 3


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
    assert "did not end in the time" in in_child(hangs, ChildLimits(seconds=0.2)).problem
    assert in_child(fails).problem == "ValueError: why"
    assert in_child(lambda: iter([{"part": 1}])).problem == ""


@pytest.mark.parametrize("may_write", [False, True])
def test_the_child_never_writes_the_cache_of_types(tmp_path, monkeypatch, may_write):
    exercise = EXERCISES["scale"]
    submission = Submission("student", (("work.py", exercise.solution_text.encode()),))
    hidden = {"scale": draw_hidden(exercise, SECRET)}
    monkeypatch.setenv("VIRTUAL_GPU_CACHE", str(tmp_path))
    # Once a test has taught Numba a type of its own, its process keeps nothing.
    monkeypatch.setattr(installed_code, "only_numba_types", lambda: True)
    if may_write:  # then the same work leaves entries
        monkeypatch.delitem(in_the_child.LIMITS, "VIRTUAL_GPU_CACHE_READ_ONLY")
    outcome = in_child(lambda: in_the_child.attempts(submission, [exercise], hidden))
    assert "out" in outcome.messages[0]
    assert any(tmp_path.iterdir()) == may_write


@pytest.mark.slow
def test_a_class_has_the_same_marks_in_another_order_and_goes_on_where_it_was_stopped(tmp_path):
    lab = find("unrolling")
    exercise = lab.parts[0].definition
    submissions = [
        Submission("right", (("a.py", exercise.solution_text.encode()),)),
        Submission("starter", (("a.py", exercise.starter_text.encode()),)),
        Submission("broken", (("a.py", b"def unroll("),)),
        Submission("empty", (), "The folder holds nothing."),
    ]
    first = list(grade_class(lab, submissions, SECRET, tmp_path / "one", workers=2))
    other = list(grade_class(lab, submissions[::-1], SECRET, tmp_path / "two", workers=1))
    assert feedback.as_csv(lab, first) == feedback.as_csv(lab, other)
    kept = sorted((tmp_path / "one" / "graded").glob("*.json"))
    kept[0].unlink()
    again = list(grade_class(lab, submissions, SECRET, tmp_path / "one", workers=1))
    assert feedback.as_csv(lab, first) == feedback.as_csv(lab, again)


def test_a_table_holds_no_formula():
    lab = find("tiling")
    mark = grade(lab, Submission("=1+1", (), "nothing"), SECRET)
    assert feedback.as_csv(lab, [mark]).splitlines()[1].startswith("'=1+1,0,100")


@pytest.mark.parametrize("name", LABS)
def test_parts_of_a_lab_agree_on_their_constants(name):
    """All parts are in one notebook, where the last value of a name applies to all of them."""
    values = {}
    for part in find(name).parts:
        for node in ast.parse(part.definition.solution_text).body:
            if isinstance(node, ast.Assign):
                target, value = ast.unparse(node.targets[0]), ast.unparse(node.value)
                assert values.setdefault(target, value) == value


def test_several_constants_of_one_line_are_known():
    text = (
        "from numba import cuda\nBM, BN = 32, 64\n\n"
        "@cuda.jit\ndef tiling(a, b, c):\n    c[0, 0] = BM + BN\n"
    )
    function = functions_of((text,), ("tiling",))["tiling"]
    assert (function.py_func.__globals__["BM"], function.py_func.__globals__["BN"]) == (32, 64)


@pytest.mark.parametrize("name", LABS)
def test_a_handout_is_a_notebook_that_promises_all_points(name):
    lab = find(name)
    made = notebook(lab)
    nbformat.validate(made)
    assert len({cell.id for cell in made.cells}) == len(made.cells)
    promised = [
        int(points)
        for cell in made.cells
        for points in re.findall(r"^\| (\d+) \|", cell.source, re.MULTILINE)
    ]
    assert sum(promised) == lab.points
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


def test_a_right_kernel_without_what_the_task_is_about_misses_its_points():
    text = EXERCISES["coalescing"].solution_text
    lab = find("tiling")
    for part in lab.parts:
        renamed = text.replace("def coalescing", f"def {part.exercise}")
        mark = grade(lab, Submission("x", (("a.py", renamed.encode()),)), SECRET)
        rows = [row for row in mark.rows if row.part == part.exercise]
        assert [row.points for row in rows[1:]] == [0, 0]
        assert rows[1].told.startswith("line ")
        assert rows[2].told
        assert sum(row.points for row in rows) <= 0.4 * part.points
