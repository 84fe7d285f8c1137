"""The first cell of every lesson: it finds the course, or fetches it, and starts the lesson.

`python -m utils.lessons.first_cell` writes it into the notebooks, as after a change of ADDRESS.
"""

from __future__ import annotations

import sys

import nbformat

from utils.paths import ROOT

# Where a lesson that stands alone, as in Colab, fetches the course. A placeholder: the course has
# no public address yet.
ADDRESS = "https://github.com/ADDRESS-IS-NOT-SET/numba-gpu-kernels"
LESSONS = ROOT / "notebooks"

_CELL = """import importlib.util, pathlib, sys

here = pathlib.Path.cwd()  # the course lies above this notebook or below it, or it is fetched
homes = [p for p in (here, *here.parents, *here.glob("*/")) if (p / "gemm_kernels").is_dir()]
if not (homes or importlib.util.find_spec("gemm_kernels")):
    !git clone --quiet --depth 1 {address} course
sys.path[:0] = map(str, homes or [here / "course"])
from utils import lessons as course
course.start("{lesson}")"""


def first_cell(lesson: str, address: str = ADDRESS) -> str:
    """The code of the first cell of a lesson, such as "07"."""
    return _CELL.format(lesson=lesson, address=address)


def main() -> int:
    for file in sorted(LESSONS.glob("[0-9][0-9]_*.ipynb")):
        lesson = nbformat.read(file, as_version=4)
        cell = next(cell for cell in lesson.cells if cell.cell_type == "code")
        if "course.start(" in cell.source:
            cell.source = first_cell(file.name[:2])
            nbformat.write(lesson, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
