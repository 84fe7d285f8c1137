"""The copy of the course for students says what the course says, and shows no solution."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from labs import EXERCISES
from labs.__main__ import main
from labs.checking.recognise import FILE
from labs.checking.variants import right_versions, wrong_versions
from labs.numbers.exercise import NumbersExercise
from labs.student_copy import files, lessons
from labs.student_copy.exercises import without_hints
from tests.labs.solution_texts import code_in, functions_in, normal, plain, right_functions
from utils.paths import ROOT

GUIDE = (ROOT / "labs" / "GUIDE.md").read_text(encoding="utf-8")
# Right functions that the course itself holds, by exercise; the guide names each file.
KNOWN = {
    "four_steps": {"gemm_kernels/ilp_alone.py"},
    "independent_sums": {"gemm_kernels/ilp_alone.py"},
    "loop_order": {"gemm_kernels/cpu/loop_reordered.py"},
    "tiling": {"labs/exercises/independent_sums/starter.py", "notebooks/11_ilp.ipynb"},
    "to_the_gpu_and_back": {
        "labs/exercises/without_copies/starter.py", "notebooks/04_transfers.ipynb",
    },
    "tree": {"reduce_kernels/remainder.py"},
    "turned_tile": {"labs/exercises/row_gap/starter.py", "notebooks/13_wide_loads.ipynb"},
    "without_remainder": {"reduce_kernels/remainder.py"},
}  # fmt: skip
_CHECK = """
import json, sys
from labs import check
from labs.checking.variants import function_in

for name, text in json.load(sys.stdin):
    verdict = check(name, function_in(name, text), 60)
    print(json.dumps([name, verdict.causes, verdict.facts, verdict.notes]))
"""
_CODE = re.compile(r"`([^`]*)`")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copies") / "with hints"
    assert main(["handout", "--course", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def without_any_hint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copies") / "no_hints"
    assert main(["handout", "--course", str(folder), "--no-hints"]) == 0
    return folder


def run_in(course: Path, *arguments: str, given: str = "") -> str:
    """Run Python in a copy of the course, which sees no other one, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COURSE")}
    environment = kept | {
        "PYTHONPATH": str(course), "PYTHONDONTWRITEBYTECODE": "1", "COURSE_LANGUAGE": "en",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, *arguments], cwd=course, env=environment, input=given,
        capture_output=True, text=True, encoding="utf-8", timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def submissions() -> list[tuple[str, str]]:
    """Return the starter, the solution, a right and three wrong versions of each exercise."""
    every = []
    for name, exercise in EXERCISES.items():
        wrong = [one.text for one in wrong_versions(exercise) if "never ends" not in one.says]
        right = [text for _, text in right_versions(exercise)]
        chosen = wrong[:: max(1, len(wrong) // 3)][:3]
        texts = [exercise.starter_text, exercise.solution_text, *right[-1:], *chosen]
        every += [(name, text) for text in texts]
    return every


@pytest.mark.slow
def test_check_says_in_the_copy_what_it_says_in_the_course(copy, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    given = json.dumps(submissions())
    here, there = (run_in(one, "-c", _CHECK, given=given).splitlines() for one in (ROOT, copy))
    assert len(here) == len(submissions()) >= 4 * len(EXERCISES)
    assert here == there


def test_no_file_of_the_copy_holds_a_right_function(copy):
    found = {name: set() for name in EXERCISES}
    paths = [path for path in sorted(copy.rglob("*")) if path.is_file()]
    trees = {
        path: {normal(one) for text in code_in(path) for one in functions_in(text)}
        for path in paths
    }
    plain_texts = {path: "".join(_text(path).split()) for path in paths}
    for name, functions in right_functions().items():
        assert functions, name
        shapes, texts = set(map(normal, functions)), set(map(plain, functions))
        for path in paths:
            if shapes & trees[path] or any(text in plain_texts[path] for text in texts):
                found[name].add(path.relative_to(copy).as_posix())
    assert {name: where for name, where in found.items() if where} == KNOWN


def _text(path: Path) -> str:
    text = path.read_bytes().decode("utf-8", "replace")
    return text.replace("\\n", "").replace('\\"', '"') if path.suffix != ".py" else text


def test_the_search_finds_a_solution_with_other_names_and_comments():
    text = EXERCISES["tree"].solution_text.replace("stride", "half").replace("tid", "me")
    (found,) = functions_in(text.replace("\n\n\n@", "\n\n\n# a comment\n@"))
    assert normal(found) in {normal(one) for one in right_functions()["tree"]}


def test_the_guide_names_every_file_that_holds_a_right_function():
    for file in {file for where in KNOWN.values() for file in where}:
        assert f"`{file}`" in GUIDE, file


def test_only_the_files_for_students_are_in_the_copy(copy):
    names = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    cases = {
        f"labs/exercises/{name}/cases.json"
        for name, exercise in EXERCISES.items()
        if isinstance(exercise, NumbersExercise)
    }
    assert names == set(files.copied_files()) | cases
    for word in ("solution.py", "right.py", "wrong.py", "answers.md", "GUIDE.md"):
        assert not [name for name in names if name.endswith(f"/{word}")], word
    parts = {part for name in names for part in name.split("/")}
    assert not parts & {"tests", "tools", "grading", "guide", ".git"}


def test_tables_of_mistakes_hold_no_more_code_than_an_expression():
    for exercise in EXERCISES.values():
        file = exercise.folder / FILE
        if not file.exists():
            continue
        table = json.loads(file.read_text(encoding="utf-8"))
        assert set(table) == {"made_from", "known", "alike"}
        for sentence, prints in (table["known"] | table["alike"]).items():
            assert "\n" not in sentence
            assert re.fullmatch(r"[0-9a-f]{10}( [0-9a-f]{10})*", prints)
            for code in _CODE.findall(sentence):
                assert len(code) <= 30, code
                assert not re.search(r"(?<![=!<>])=(?!=)", code), code


def test_formulas_are_data_in_the_copy(copy):
    for file in copy.glob("labs/exercises/*/formula.py"):
        text = file.read_text(encoding="utf-8")
        assert len(text.splitlines()) == 6
        assert "lambda" not in text
        assert "def " not in text
        assert file.with_name("cases.json").stat().st_size > 100


def test_lessons_have_no_answer_and_no_solution(copy):
    for file in copy.glob("notebooks/*.ipynb"):
        text = file.read_text(encoding="utf-8")
        nbformat.validate(nbformat.reads(text, as_version=4))
        for words in ("<summary>Answer", "<summary>Solution", "A solution stands in"):
            assert words not in text, file
        assert not re.search(r"import [^\"]*\bsolution\b|\.solution\b", text), file


def test_a_cell_of_a_solution_becomes_a_comment_and_keeps_its_other_imports():
    names = set()
    first = "import numpy as np\nfrom labs.exercises.dot import solution\n\nsolution.dot"
    assert lessons._without_solution(first, names) == f"import numpy as np\n{lessons.WITHOUT}"
    assert lessons._without_solution("x = solution", names) == lessons.WITHOUT
    assert lessons._without_solution('find("dot").solution', set()) == lessons.WITHOUT
    for other in ("x = 1", "!ls", "from labs.exercises import find", 'x = "solution"'):
        assert lessons._without_solution(other, set()) == other


def test_hints_can_be_left_out(copy, without_any_hint, tmp_path):
    for exercise in EXERCISES.values():
        path = Path("labs", "exercises", exercise.name, "exercise.py")
        text = (without_any_hint / path).read_text(encoding="utf-8")
        assert text == without_hints((copy / path).read_text(encoding="utf-8")), path
        assert "hints=()," in text
    catalogues = [*without_any_hint.glob("locale/**/*.po*")]
    assert catalogues
    for file in catalogues:
        assert "hints of" not in file.read_text(encoding="utf-8")
    ask = "from labs import task; print(len(task('scale').hints))"
    assert run_in(without_any_hint, "-c", ask).strip() == "0"
    assert run_in(copy, "-c", ask).strip() == "3"
    assert main(["handout", "first_kernel", "--out", str(tmp_path), "--no-hints"]) == 0
    assert "Hint" not in (tmp_path / "first_kernel.ipynb").read_text(encoding="utf-8")


def test_the_copys_command_says_what_is_missing(copy):
    for arguments in (["--help"], []):
        told = run_in(copy, "-m", "labs", *arguments)
        assert "copy of the course for students" in told
        assert "solutions" in told


@pytest.mark.slow
@pytest.mark.parametrize("lesson", ["00", "01", "03", "05", "14", "16", "17", "18", "21"])
def test_lessons_run_in_the_copy(copy, lesson, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (notebook,) = copy.glob(f"notebooks/{lesson}_*.ipynb")
    arguments = ["-m", "utils.lessons.run_notebooks", "--out", str(tmp_path), str(notebook)]
    assert "1 of 1 lessons ran" in run_in(copy, *arguments)


def test_a_copy_is_refused_within_the_course_and_in_a_full_folder(tmp_path, capsys):
    assert main(["handout", "--course", str(ROOT / "copy")]) == 2
    (tmp_path / "mine.txt").write_text("")
    assert main(["handout", "--course", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
    for arguments in ([], ["first_kernel"], ["--out", str(tmp_path)]):
        assert main(["handout", *arguments]) == 2


def test_an_installed_wheel_is_copied_by_its_list_of_files(tmp_path, monkeypatch):
    class Listed(type(Path("x"))):
        def locate(self):
            return tmp_path / self

    names = [
        "labs/by_name.py", "labs/exercises/dot/solution.py", "utils/paths.py", "utils/paths.pyc",
        "numba_gpu_kernels-0.1.0.dist-info/RECORD", "gone.py",
    ]  # fmt: skip
    for name in names[:-1]:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    monkeypatch.setattr(files, "ROOT", tmp_path)
    monkeypatch.setattr(files.metadata, "files", lambda _: [Listed(name) for name in names])
    assert files.copied_files() == ["labs/by_name.py", "utils/paths.py"]
    monkeypatch.setattr(files.metadata, "files", lambda _: None)
    with pytest.raises(files.CourseError, match="neither a clone nor an installed wheel"):
        files.course_files()
