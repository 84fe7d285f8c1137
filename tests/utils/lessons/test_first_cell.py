"""Tests that a lesson's first cell finds or fetches the course, and that the badge opens Colab."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from utils import paths
from utils.errors import CourseError
from utils.lessons import first_cell as module
from utils.lessons.first_cell import (
    SENTENCE,
    Repository,
    badge,
    first_cell,
    is_folded,
    parse,
    with_setup,
    without_setup,
)
from utils.paths import ROOT, lessons, number_of, translations

REFUSES = Repository("http://127.0.0.1:9/course", "main")  # nothing listens there
FORK = Repository("https://github.com/somebody/course", "v2.0")
FILES = [*lessons().values(), *translations()]
STANDARD_LIBRARY_ALONE = (
    *("gpu_xray/errors.py", "utils/machine/prepare.py", "utils/machine/setup_environment.py"),
    *("gpu_xray/cuda_programs.py", "pyproject.toml", "constraints.txt"),
)
SHELL = """
import os, subprocess, sys
sys.path = [at for at in sys.path if not os.path.isdir(os.path.join(at or ".", "gemm_kernels"))]

class Shell:
    def system(self, command):
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
        print(command, done.stderr)
get_ipython = Shell
"""


def execute(folder, cell, then=""):
    """Run the cell, then `then`, as a program in a folder, and return the finished process.

    The environment's own course is taken off `sys.path`.
    """
    code = SHELL + TransformerManager().transform_cell(cell) + f"\nprint(course.__file__)\n{then}"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120
    )


def run_in(folder, cell, then=""):
    """Run the cell as `execute` does, and return its output, which names the course's folder."""
    process = execute(folder, cell, then)
    assert process.returncode == 0, process.stderr
    return process.stdout


def small_course(home):
    """Write a course of only the files that the cell runs; its `start` prints the lesson."""
    for name in STANDARD_LIBRARY_ALONE:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, home / name)
    (home / "kernels_anywhere.py").touch()
    (home / "utils" / "lessons.py").write_text("def start(lesson): print('starts', lesson)")
    return home


def whole_course_of_windows(home):
    """Write a copy of the course with Windows line endings in all its texts."""
    packages = ("utils", "virtual_gpu", "gpu_xray", "gemm_kernels", "labs")
    for name in (*packages, "data", "notebooks"):
        shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("kernels_anywhere.py", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, home / name)
    for file in filter(Path.is_file, home.rglob("*")):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    return home


def test_it_has_a_title_and_at_most_ten_short_lines():
    title, *lines = [line for line in first_cell("07").splitlines() if line.strip()]
    assert title.startswith("# @title ")  # Colab shows it in place of the code
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("folder", [".", "notebooks", "tests/data"])
def test_it_finds_the_course_above(tmp_path, folder):
    home = small_course(tmp_path)
    # The folders of tests have the same names as the packages that they test.
    for inner in ("notebooks", "tests/data", "tests/gemm_kernels", "tests/utils/machine"):
        (home / inner).mkdir(parents=True)
    assert str(home / "utils") in run_in(home / folder, first_cell("00"))


def test_it_finds_a_clone_below(tmp_path):
    home = small_course(tmp_path / "a clone")
    assert str(home / "utils") in run_in(tmp_path, first_cell("00"))


def test_it_finds_an_installed_course(tmp_path):
    installed, alone = small_course(tmp_path / "site"), tmp_path / "alone"
    alone.mkdir()
    there = f"import sys; sys.path.append({str(installed)!r})\n"
    assert str(installed / "utils") in run_in(alone, there + first_cell("00"))


def test_it_fetches_the_course_where_there_is_none(tmp_path):
    origin, alone = small_course(tmp_path / "origin"), tmp_path / "alone"
    alone.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q", "-b", "v2"], ["add", "-A"], ["commit", "-q", "-m", "a"]):
        subprocess.run([*git, *command], cwd=origin, check=True, timeout=60)
    printed = run_in(alone, first_cell("00", Repository(origin.as_uri(), "v2")))
    assert str(alone / "course" / "utils") in printed


def test_without_a_network_it_says_what_to_do(tmp_path):
    process = execute(tmp_path, first_cell("00", REFUSES))
    assert "AssertionError: No course: check the network" in process.stderr
    assert "unable to access" in process.stdout


def test_half_a_clone_is_named(tmp_path):
    (tmp_path / "course" / "gemm_kernels").mkdir(parents=True)
    process = execute(tmp_path, first_cell("00", REFUSES))
    assert "AssertionError: No course: check the network, delete ./course" in process.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder that nobody can write to")
def test_where_nothing_can_be_written_it_says_so():
    process = execute("/proc/sys", first_cell("00", Repository(ROOT.as_uri(), "main")))
    assert "AssertionError: No course" in process.stderr
    assert "could not create" in process.stdout


USE = """
from labs import check
from labs.exercises import find
from gemm_kernels import LADDER
verdict = check("tiling", find("tiling").solution)
assert verdict.passed, verdict
print(len(course.show_change(LADDER.step("naive"), LADDER.step("tiled")).data))
"""


@pytest.mark.slow
def test_it_runs_from_windows_files_in_a_folder_with_spaces_and_other_letters(tmp_path):
    home = whole_course_of_windows(tmp_path / "möbius strip" / "日本")
    printed = run_in(home / "notebooks", first_cell("07"), USE)
    assert str(home / "utils") in printed


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_every_lesson_has_the_folded_cell_and_says_above_it_what_it_does(file):
    lesson = nbformat.read(file, as_version=4)
    code = [cell for cell in lesson.cells if cell.cell_type == "code"]
    assert code[0].source == first_cell(number_of(file.name))
    assert is_folded(code[0].metadata)
    address = module.repository().address
    assert not any(address in cell.source for cell in code[1:])
    opening = lesson.cells[0].source
    assert opening == with_setup(opening, badge(file.name), "" if paths.tag(file) else SENTENCE)


@pytest.mark.parametrize("key", ["cellView", "jupyter", "tags"])
def test_a_cell_is_folded_in_jupyterlab_in_colab_and_on_pages_or_not_at_all(key):
    assert is_folded({**module.FOLDED, "id": "1"})
    assert not is_folded({other: value for other, value in module.FOLDED.items() if other != key})


def test_the_badge_opens_the_lesson_of_a_fork():
    page = "https://colab.research.google.com/github/somebody/course/blob/v2.0/notebooks/07_a.ipynb"
    assert badge("07_a.ipynb", FORK).endswith(f"({page})")


@pytest.mark.parametrize("address", ["https://no-address-yet.invalid/course", "https://example.org/a/b"])
def test_without_an_address_on_github_nothing_is_said_of_colab(address):
    nowhere = Repository(address, "main")
    assert badge("07_a.ipynb", nowhere) == ""
    assert "Colab" not in with_setup("# Title", badge("07_a.ipynb", nowhere))


def test_a_badge_and_a_sentence_replace_those_before():
    first = with_setup("# Title\n\n**After**\n", badge("a.ipynb", FORK))
    assert first == f"# Title\n\n**After**\n\n{SENTENCE}\n\n{badge('a.ipynb', FORK)}"
    assert with_setup(first, badge("a.ipynb", FORK)) == first
    assert with_setup(first, "") == f"# Title\n\n**After**\n\n{SENTENCE}"
    assert without_setup(first) == "# Title\n\n**After**"


@pytest.mark.parametrize("line", ["*Open in Colab: not yet. Later.*", "[![Open in Colab](a)](b)"])
def test_a_badge_below_the_title_goes_away(line):
    assert without_setup(f"# Title\n\n{line}\n\n**After**") == "# Title\n\n**After**"


def test_a_fork_is_stamped_into_the_one_place_and_every_lesson(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FILE", tmp_path / "repository.toml")
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    shutil.copy(ROOT / "data" / "repository.toml", tmp_path)
    shutil.copy(FILES[0], tmp_path)
    assert module.main(["--repo", "somebody/course", "--ref", "v2.0"]) == 0
    assert module.repository() == FORK
    assert module.FILE.read_text(encoding="utf-8").startswith("# Where a notebook")
    lesson = nbformat.read(tmp_path / FILES[0].name, as_version=4)
    text = "".join(cell.source for cell in lesson.cells)
    assert "git clone -q --depth 1 -b v2.0 https://github.com/somebody/course course" in text
    assert badge(FILES[0].name, FORK) in text
    before = (tmp_path / FILES[0].name).read_bytes()
    assert module.main([]) == 0
    assert (tmp_path / FILES[0].name).read_bytes() == before
    assert module.main(["--repo", "https://example.org/course"]) == 0
    assert b"Open in Colab" not in (tmp_path / FILES[0].name).read_bytes()


@pytest.mark.parametrize("repo", ["course", "https://a b/c", 'file:///a"; rm -r /', "a/b/c"])
def test_what_is_no_repository_is_refused(repo):
    with pytest.raises(CourseError, match="REPO=owner/name"):
        parse(repo, "main")
