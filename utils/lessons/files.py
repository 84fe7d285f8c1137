"""Find every file that belongs to a lesson: `python -m utils.lessons where 08` prints them.

The files follow from the code: the notebook's cells, the lesson's folder, and all modules that
import from that folder.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from utils.errors import CourseError
from utils.lessons.folders import LESSONS_PACKAGE, lesson_folder
from utils.paths import DATA, ROOT, lessons, original, translations

ANSWERS = ROOT / "labs" / "guide" / "answers.md"
WITH_USERS = ("tests", "tools", "site", "labs")  # folders whose modules may import a lesson's


def page(number: str) -> str:
    """Return the files of a lesson as text, grouped by purpose."""
    blocks = []
    for title, paths in files_of(number).items():
        lines = [f"    {_line(path)}" for path in sorted(paths)]
        blocks += [title, *lines] if lines else []
    return "\n".join(blocks)


def _line(path: Path) -> str:
    """Return a file's path from the root and, for Python, the first line of its docstring."""
    name = path.relative_to(ROOT).as_posix() + "/" * path.is_dir()
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) if path.suffix == ".py" else None
    return f"{name}  {text.splitlines()[0]}" if text else name


def files_of(number: str) -> dict[str, set[Path]]:
    """Return purpose -> files of a lesson; CourseError if there is no such lesson."""
    notebook = notebook_of(number)
    folder = lesson_folder(number)
    tests = ROOT / "tests" / folder.relative_to(ROOT)
    users = set(_users(folder))
    return {
        "The lesson and its translations": {notebook, *_translations(notebook)},
        "The folder that only it uses": _files(folder),
        "Its tests": _files(tests) | {file for file in users if file.name.startswith("test_")},
        "Its exercises": set(_exercises(number)),
        "Tables named in its cells, its folder and its tests": set(_tables(number)),
        "Other modules that use its folder": {
            file for file in users if not file.name.startswith("test_")
        },
        "The instructor's answers": {ANSWERS} if _names(ANSWERS, notebook.name) else set(),
        "Modules that it shares with other lessons": set(_shared(notebook)) - _files(folder),
    }


def notebook_of(number: str) -> Path:
    """Return the lesson's English notebook; CourseError if there is no such lesson."""
    english = lessons()
    if number not in english:
        raise CourseError(f"There is no lesson {number!r}: choose one of {', '.join(english)}.")
    return english[number]


def _translations(notebook: Path) -> Iterator[Path]:
    return (file for file in translations() if original(file) == notebook)


def _files(folder: Path) -> set[Path]:
    return {file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"}


def _names(file: Path, text: str) -> bool:
    return file.exists() and text in file.read_text(encoding="utf-8")


def _users(folder: Path) -> Iterator[Path]:
    """Yield the modules that import something from a lesson's folder."""
    for top in WITH_USERS:
        for file in (ROOT / top).rglob("*.py"):
            if _names(file, f"utils.lessons.{folder.name}"):
                yield file


def _exercises(number: str) -> Iterator[Path]:
    """Yield the folders of the exercises whose `lesson` is this one."""
    for file in (ROOT / "labs" / "exercises").glob("*/exercise.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and ast.unparse(node) == f"lesson={number!r}":
                yield file.parent


def _tables(number: str) -> Iterator[Path]:
    """Yield the tables of data/ whose name is a string in the lesson's code or tests."""
    folders = [lesson_folder(number), ROOT / "tests" / lesson_folder(number).relative_to(ROOT)]
    files = [file for folder in folders for file in folder.glob("*.py")]
    trees = [_tree(notebook_of(number)), *(ast.parse(file.read_text("utf-8")) for file in files)]
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
    """Yield the modules of utils that the notebook imports or uses as `course.…`."""
    modules_of_course = _modules_of_course()
    for node in ast.walk(_tree(notebook)):
        if isinstance(node, ast.ImportFrom):
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "course":
            modules = [modules_of_course[node.attr]]
        else:
            continue
        for module in modules:
            file = ROOT / (module.replace(".", "/") + ".py")
            if module.startswith("utils.") and file.exists():
                yield file


def _modules_of_course() -> dict[str, str]:
    """Return public name of `course` -> the module that defines it."""
    tree = ast.parse((LESSONS_PACKAGE / "__init__.py").read_text(encoding="utf-8"))
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
