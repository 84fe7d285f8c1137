"""The first cell of a lesson finds the course from any folder, or fetches it."""

import subprocess
import sys

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from utils.lessons.first_cell import ADDRESS, LESSONS, first_cell
from utils.paths import ROOT

SYSTEM = """
import os, sys
sys.path = [at for at in sys.path if not os.path.isdir(os.path.join(at or ".", "gemm_kernels"))]

class Shell:
    def system(self, command):
        import shutil, pathlib
        print(command)
        pathlib.Path("course").symlink_to({root!r})
get_ipython = Shell
"""


def run_in(folder, cell):
    """What the cell prints as a program in that folder, and where it found the course.

    A command of the shell is printed, and makes a link to the course. The environment's own link to
    the course is taken away first.
    """
    code = SYSTEM.format(root=str(ROOT)) + TransformerManager().transform_cell(cell)
    ended = subprocess.run(
        [sys.executable, "-c", code + "\nprint(course.__file__)"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return ended.stdout


def test_it_has_at_most_eight_lines():
    assert len([line for line in first_cell("07").splitlines() if line.strip()]) <= 8


@pytest.mark.parametrize("folder", [ROOT, ROOT / "notebooks", ROOT / "tests" / "data"])
def test_it_finds_the_course_above(folder):
    assert str(ROOT / "utils") in run_in(folder, first_cell("00"))


def test_it_finds_a_clone_below(tmp_path):
    (tmp_path / "a clone").symlink_to(ROOT)
    assert "a clone" in run_in(tmp_path, first_cell("00"))


def test_it_fetches_the_course_where_there_is_none(tmp_path):
    printed = run_in(tmp_path, first_cell("00", "https://example.org/course"))
    assert "git clone --quiet --depth 1 https://example.org/course course" in printed
    assert str(tmp_path / "course") in printed


@pytest.mark.parametrize("file", sorted(LESSONS.glob("[0-9][0-9]_*.ipynb")), ids=lambda f: f.stem)
def test_every_lesson_on_the_engine_begins_with_it(file):
    lesson = nbformat.read(file, as_version=4)
    cells = [cell.source for cell in lesson.cells if cell.cell_type == "code"]
    if any("course." in cell for cell in cells):
        assert cells[0] == first_cell(file.name[:2])
        assert not any(ADDRESS in cell for cell in cells[1:])
