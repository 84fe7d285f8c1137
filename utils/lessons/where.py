"""Find every file that belongs to a lesson: `python -m utils.lessons where 08` prints them.

They are found in the code: the notebook's cells, its room, and whatever imports the room.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from utils.errors import CourseError
from utils.lessons.rooms import ROOMS, room
from utils.paths import DATA, NOTEBOOKS, ROOT

ANSWERS = ROOT / "labs" / "guide" / "answers.md"
WITH_USERS = ("tests", "tools", "site", "labs")  # folders in which something may import a room


def page(number: str) -> str:
    """The files of a lesson as lines of text, sorted by what they are for."""
    blocks = []
    for title, paths in files_of(number).items():
        names = [path.relative_to(ROOT).as_posix() + "/" * path.is_dir() for path in paths]
        blocks += [title, *(f"    {name}" for name in sorted(names))] if names else []
    return "\n".join(blocks)


def files_of(number: str) -> dict[str, set[Path]]:
    """The files of a lesson by what they are for. CourseError for a lesson that does not exist."""
    notebook = notebook_of(number)
    home = room(number)
    tests = ROOT / "tests" / home.relative_to(ROOT)
    users = set(_users(home))
    return {
        "The lesson and its translations": set(NOTEBOOKS.glob(f"{number}_*.ipynb")),
        "What serves it alone": _files(home),
        "Its tests": _files(tests) | {file for file in users if file.name.startswith("test_")},
        "Its exercises": set(_exercises(number)),
        "Tables that its cells, its room and its tests name": set(_tables(number)),
        "What else uses its room": {file for file in users if not file.name.startswith("test_")},
        "The instructor's answers": {ANSWERS} if _names(ANSWERS, notebook.name) else set(),
        "What it shares with other lessons": set(_shared(notebook)) - _files(home),
    }


def notebook_of(number: str) -> Path:
    """The lesson's notebook in English; CourseError for a lesson that does not exist."""
    notebooks = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    english = {file.name[:2]: file for file in notebooks if "." not in file.stem}
    if number not in english:
        raise CourseError(f"There is no lesson {number!r}: choose one of {', '.join(english)}.")
    return english[number]


def _files(folder: Path) -> set[Path]:
    return {file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"}


def _names(file: Path, text: str) -> bool:
    return file.exists() and text in file.read_text(encoding="utf-8")


def _users(home: Path) -> Iterator[Path]:
    """The modules outside of the room that import something from it."""
    for folder in WITH_USERS:
        for file in (ROOT / folder).rglob("*.py"):
            if _names(file, f"utils.lessons.{home.name}"):
                yield file


def _exercises(number: str) -> Iterator[Path]:
    """The folders of the exercises that name this lesson as theirs."""
    for file in (ROOT / "labs" / "exercises").glob("*/exercise.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and ast.unparse(node) == f"lesson={number!r}":
                yield file.parent


def _tables(number: str) -> Iterator[Path]:
    """The tables of data/ whose name is a string in code of the lesson."""
    modules = [room(number), ROOT / "tests" / room(number).relative_to(ROOT)]
    trees = [_tree(notebook_of(number))]
    trees += [ast.parse(file.read_text("utf-8")) for home in modules for file in home.glob("*.py")]
    strings = {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    for file in DATA.rglob("*.csv"):
        if {file.name, file.stem} & {string.split("/")[-1] for string in strings}:
            yield file


def _shared(notebook: Path) -> Iterator[Path]:
    """The modules of utils that the notebook imports, or calls by the name `course`."""
    homes = _homes_of_course()
    for node in ast.walk(_tree(notebook)):
        if isinstance(node, ast.ImportFrom):
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "course":
            modules = [homes[node.attr]]
        else:
            continue
        for module in modules:
            file = ROOT / (module.replace(".", "/") + ".py")
            if module.startswith("utils.") and file.exists():
                yield file


def _homes_of_course() -> dict[str, str]:
    """The module in which each public name of `course` is defined."""
    tree = ast.parse((ROOMS / "__init__.py").read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _tree(notebook: Path) -> ast.Module:
    cells = nbformat.read(notebook, as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    return ast.parse("\n".join(map(TransformerManager().transform_cell, code)))
