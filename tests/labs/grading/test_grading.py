"""Marks: what a lab gives points for, and that they are the same wherever they are given."""

import ast
import json
import re
import zipfile
from random import Random

import nbformat
import pytest

from labs import EXERCISES
from labs.checking.exercise import KernelExercise
from labs.grading import attempt as in_the_child
from labs.grading import feedback
from labs.grading.batch import graded
from labs.grading.by_text import functions_of
from labs.grading.child import Limits, in_child
from labs.grading.equivalents import equivalents
from labs.grading.grade import grade
from labs.grading.handout import notebook
from labs.grading.hidden import drawn
from labs.grading.labs import LABS, find
from labs.grading.marks import shared_out
from labs.grading.reading import Submission, Unreadable, collected, neutral, pieces_of
from utils.errors import CourseError
from virtual_gpu.types import installed_code

SECRET = "a secret of sixteen characters"


def handed_in(lab, kind="solution") -> Submission:
    text = "\n\n".join(getattr(part.asked, f"{kind}_text") for part in lab.parts)
    return Submission(kind, (("work.py", text.encode()),))


@pytest.mark.slow
@pytest.mark.parametrize("name", LABS)
def test_the_solutions_of_a_lab_get_all_points(lab):
    found = grade(lab, handed_in(lab), SECRET)
    assert [row.told for row in found.rows if row.points < row.of] == []
    assert found.points == found.of == 100 * lab.points


@pytest.mark.slow
@pytest.mark.parametrize("name", LABS)
def test_the_starters_of_a_lab_get_at_most_a_third(lab):
    found = grade(lab, handed_in(lab, "starter"), SECRET)
    assert found.points <= found.of / 3
    assert found.told


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, e in EXERCISES.items() if isinstance(e, KernelExercise)])
def test_a_solution_is_right_at_the_shapes_of_any_secret(name):
    from labs.checking.judge import attempt, wrong_result

    asked = EXERCISES[name]
    for number in range(4):
        hidden = drawn(asked, f"{SECRET} {number}")
        for shape in hidden.shapes:
            seen = attempt(asked, asked.solution, shape, 60, hidden.seed)
            assert wrong_result(asked, [seen]) is None


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
    assert "File `work.py` is encrypted" in found.problem
    (found,) = collected([tmp_path], neutral)
    assert "File `submission.py` is encrypted" in found.problem


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


@pytest.mark.parametrize("may_write", [False, True])
def test_the_child_never_writes_the_cache_of_types(tmp_path, monkeypatch, may_write):
    asked = EXERCISES["scale"]
    submission = Submission("student", (("work.py", asked.solution_text.encode()),))
    hidden = {"scale": drawn(asked, SECRET)}
    monkeypatch.setenv("VIRTUAL_GPU_CACHE", str(tmp_path))
    # Once a test has taught Numba a type of its own, its process keeps nothing.
    monkeypatch.setattr(installed_code, "only_numba_types", lambda: True)
    if may_write:  # then the same work leaves entries
        monkeypatch.delitem(in_the_child.LIMITS, "VIRTUAL_GPU_CACHE_READ_ONLY")
    seen = in_child(lambda: in_the_child.attempts(submission, [asked], hidden))
    assert "out" in seen.messages[0]
    assert any(tmp_path.iterdir()) == may_write


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


def test_a_right_kernel_without_what_the_task_is_about_misses_its_points():
    text = EXERCISES["coalescing"].solution_text
    lab = find("tiling")
    for part in lab.parts:
        renamed = text.replace("def coalescing", f"def {part.exercise}")
        found = grade(lab, Submission("x", (("a.py", renamed.encode()),)), SECRET)
        own = [row for row in found.rows if row.part == part.exercise]
        about = [row for row in own if row.of == max(row.of for row in own)]
        assert [row.points for row in about] == [0]
        assert about[0].told
        assert sum(row.points for row in own) <= 60 * part.points
