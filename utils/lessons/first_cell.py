"""The first code cell of every lesson: it finds the course, or fetches it, and starts the lesson.

The cell is folded, and the sentence above it says what it does. If the course is on GitHub, a badge
beside the sentence opens the lesson in Colab. `python -m utils.lessons.first_cell` writes all three
into all notebooks; with `--repo` it writes data/repository.toml first.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat

from utils.errors import CourseError
from utils.paths import DATA, lessons, number_of, tag, translations

FILE = DATA / "repository.toml"

# Colab shows the title in place of the folded code.
_TITLE = "# @title Find the course and show what it runs on"
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

# How JupyterLab, Colab and the pages are told to fold the cell away.
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["remove-input"]}
# The sentence above the cell. A page leaves it out, because a page does not have the cell.
SENTENCE = "*The cell below finds the course and shows what it runs on. Shift+Enter runs a cell.*"

_BADGE_IMAGE = "https://colab.research.google.com/assets/colab-badge.svg"
# A line that `badge` wrote, or an earlier version of it.
_BADGE = re.compile(r"\n*^(?:\[!\[Open in Colab\]|\*Open in Colab: ).*$", re.MULTILINE)


@dataclass(frozen=True)
class Repository:
    """The repository from which notebooks fetch the course.

    address: a URL for git. ref: a branch or tag.
    """

    address: str
    ref: str

    @property
    def on_github(self) -> str | None:
        """The repository's "owner/name" on GitHub, without ".git"; None for another address."""
        match = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?", self.address)
        return match and match[1]


def repository() -> Repository:
    """Return the Repository that data/repository.toml names."""
    return Repository(**tomllib.loads(FILE.read_text(encoding="utf-8")))


def first_cell(lesson: str, at: Repository | None = None) -> str:
    """Return the Python code of the first cell of a lesson, which finds or fetches the course.

    lesson: its number, such as "07". at: the repository; by default that of data/repository.toml.
    """
    at = at or repository()
    return f"{_TITLE}\n{_CELL.format(lesson=lesson, address=at.address, ref=at.ref)}"


def is_folded(metadata: Mapping) -> bool:
    """Return True if a code cell with this metadata is folded in JupyterLab, Colab and pages."""
    return all(metadata.get(key) == value for key, value in FOLDED.items())


def badge(notebook: str, at: Repository | None = None) -> str:
    """Return a line of Markdown: a badge that links to a notebook in Colab.

    If the repository is not on GitHub, the result is "". notebook: its file name, such as
    "07_tiling.ipynb". at: the repository; by default that of data/repository.toml.
    """
    at = at or repository()
    if not at.on_github:
        return ""
    page = f"https://colab.research.google.com/github/{at.on_github}/blob/{at.ref}"
    return f"[![Open in Colab]({_BADGE_IMAGE})]({page}/notebooks/{notebook})"


def without_setup(opening: str) -> str:
    """Return the Markdown text of a notebook's opening cell without set-up sentence and badge.

    Only the English `SENTENCE` is removed: the sentence of a translated notebook stays.
    """
    return _BADGE.sub("", opening).replace(SENTENCE, "").strip()


def with_setup(opening: str, line: str, sentence: str = SENTENCE) -> str:
    """Return the Markdown text of a notebook's opening cell with a sentence and a badge at its end.

    A sentence and a badge that were added before are replaced. line: the result of `badge`. "" as
    `line` or `sentence` adds none.
    """
    return "\n\n".join(filter(None, (without_setup(opening), sentence, line)))


def parse(repo: str, ref: str) -> Repository:
    """Return the Repository that two options of the command line describe.

    repo: "owner/name" on GitHub, or a URL for git. ref: a branch or tag. Raises CourseError if
    either has another form.
    """
    address = f"https://github.com/{repo}" if re.fullmatch(r"[\w.-]+/[\w.-]+", repo) else repo
    if not (re.fullmatch(r"\w+://[^\s\"']+", address) and re.fullmatch(r"[\w./-]+", ref)):
        raise CourseError(
            f"{repo} at {ref} is no repository that a notebook can fetch: give REPO=owner/name, or "
            "an address such as REPO=https://example.org/course, and a branch or tag as REF."
        )
    return Repository(address, ref)


def write_repository(at: Repository) -> None:
    """Write the address and the ref of a repository to data/repository.toml.

    The comments of the old file are kept at its top.
    """
    text = FILE.read_text(encoding="utf-8")
    comment = "".join(line for line in text.splitlines(True) if line.startswith("#"))
    FILE.write_text(f'{comment}address = "{at.address}"\nref = "{at.ref}"\n', encoding="utf-8")


def write(file: Path, at: Repository | None = None) -> None:
    """Replace and fold a notebook's first code cell, and write the sentence and badge above it.

    In a translated notebook the sentence is the translator's and does not change. A notebook whose
    first code cell does not call `course.start` does not change at all. file: the path of a
    lesson's notebook, such as "notebooks/07_tiling.ipynb". at: the repository; by default that of
    data/repository.toml.
    """
    lesson = nbformat.read(file, as_version=4)
    code = next(cell for cell in lesson.cells if cell.cell_type == "code")
    if "course.start(" not in code.source:
        return
    code.source = first_cell(number_of(file.name), at)
    code.metadata.update(FOLDED)
    opening = lesson.cells[0]
    sentence = "" if tag(file) else SENTENCE
    opening.source = with_setup(opening.source, badge(file.name, at), sentence)
    nbformat.write(lesson, file)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Writes the first cell, its sentence and the badge into all notebooks, after data/repository.toml
    if `--repo` is given, and returns 0. For an invalid repository, prints the error to stderr and
    returns 2. arguments: the words of the command line, by default those of this process.
    """
    parser = argparse.ArgumentParser(prog="first_cell", description=__doc__.splitlines()[0])
    parser.add_argument("--repo", help="owner/name on GitHub, or an address that git takes")
    parser.add_argument("--ref", default="main", help="the branch or tag that notebooks fetch")
    options = parser.parse_args(arguments)
    try:
        if options.repo:
            write_repository(parse(options.repo, options.ref))
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    for file in (*lessons().values(), *translations()):
        write(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
