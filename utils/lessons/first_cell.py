"""The first cell of every lesson: it finds the course, or fetches it, and starts the lesson.

And the badge above it, which opens the lesson in Colab. `python -m utils.lessons.first_cell` writes
both into the notebooks; with an address it writes data/repository.toml first.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import nbformat

from utils.errors import CourseError
from utils.paths import DATA, NOTEBOOKS

FILE = DATA / "repository.toml"
LESSONS = NOTEBOOKS

_CELL = """import pathlib, runpy, sys

here = pathlib.Path.cwd()  # the course is above or below this notebook, installed, or fetched
places = [here, *here.parents, *here.glob("*/"), *map(pathlib.Path, sys.path)]
homes = [p for p in places if (p / "utils/machine/prepare.py").exists()] or [here / "course"]
if not homes[0].exists():
    !git clone -q --depth 1 -b {ref} {address} course
assert (homes[0] / "utils/machine").exists(), "No course: check the network, delete ./course"
runpy.run_path(f"{{homes[0]}}/utils/machine/prepare.py", run_name="__main__")
from utils import lessons as course
course.start("{lesson}")"""

_BADGE_IMAGE = "https://colab.research.google.com/assets/colab-badge.svg"
_NO_BADGE = (
    "*Open in Colab: not yet. The course has no public address; `make colab REPO=owner/name` "
    "writes that of your copy here.*"
)
_BADGE = re.compile(r"^(?:\[!\[Open in Colab\]|\*Open in Colab: ).*\n\n?", re.MULTILINE)


@dataclass(frozen=True)
class Repository:
    """Where the course is fetched from: an address that git takes, and a branch or tag."""

    address: str
    ref: str

    @property
    def on_github(self) -> str | None:
        """owner/name, which is what Colab opens; None for an address elsewhere."""
        found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?", self.address)
        return found and found[1]


def repository() -> Repository:
    """What data/repository.toml says."""
    return Repository(**tomllib.loads(FILE.read_text(encoding="utf-8")))


def first_cell(lesson: str, at: Repository | None = None) -> str:
    """The code of the first cell of a lesson, such as "07". at: default: the course's own."""
    at = at or repository()
    return _CELL.format(lesson=lesson, address=at.address, ref=at.ref)


def badge(notebook: str, at: Repository | None = None) -> str:
    """The line that opens a notebook, such as "07_tiling.ipynb", in Colab, or says why not yet."""
    at = at or repository()
    if not at.on_github:
        return _NO_BADGE
    page = f"https://colab.research.google.com/github/{at.on_github}/blob/{at.ref}"
    return f"[![Open in Colab]({_BADGE_IMAGE})]({page}/notebooks/{notebook})"


def without_badge(opening: str) -> str:
    """The opening cell's text without the badge's line."""
    return _BADGE.sub("", opening)


def with_badge(opening: str, line: str) -> str:
    """The opening cell's text with that line below its title, in place of the one it had."""
    title, _, rest = without_badge(opening).partition("\n\n")
    return f"{title}\n\n{line}\n\n{rest}"


def parsed(repo: str, ref: str) -> Repository:
    """From owner/name of GitHub or any address that git takes; CourseError for what is neither."""
    address = f"https://github.com/{repo}" if re.fullmatch(r"[\w.-]+/[\w.-]+", repo) else repo
    if not (re.fullmatch(r"\w+://[^\s\"']+", address) and re.fullmatch(r"[\w./-]+", ref)):
        raise CourseError(
            f"{repo} at {ref} is no repository that a notebook can fetch: give REPO=owner/name, or "
            "an address such as REPO=https://example.org/course, and a branch or tag as REF."
        )
    return Repository(address, ref)


def write_repository(at: Repository) -> None:
    """Write data/repository.toml, below the comment that it begins with."""
    text = FILE.read_text(encoding="utf-8")
    comment = "".join(line for line in text.splitlines(True) if line.startswith("#"))
    FILE.write_text(f'{comment}address = "{at.address}"\nref = "{at.ref}"\n', encoding="utf-8")


def write(file: Path) -> None:
    """Write the badge and the first cell of a notebook that is a lesson on the engine."""
    lesson = nbformat.read(file, as_version=4)
    code = next(cell for cell in lesson.cells if cell.cell_type == "code")
    if "course.start(" not in code.source:
        return
    code.source = first_cell(file.name[:2])
    opening = lesson.cells[0]
    opening.source = with_badge(opening.source, badge(file.name))
    nbformat.write(lesson, file)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="first_cell", description=__doc__.splitlines()[0])
    parser.add_argument("--repo", help="owner/name on GitHub, or an address that git takes")
    parser.add_argument("--ref", default="main", help="the branch or tag that notebooks fetch")
    asked = parser.parse_args(arguments)
    try:
        if asked.repo:
            write_repository(parsed(asked.repo, asked.ref))
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    for file in sorted(LESSONS.glob("[0-9][0-9]_*.ipynb")):
        write(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
