"""Find every file that belongs to a lesson: `python -m utils.lessons where 08` prints them.

The files follow from the code: the notebook's cells, the lesson's folder, and all modules that
import from that folder.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from utils.errors import CourseError
from utils.lessons.folders import LESSONS_PACKAGE, lesson_folder
from utils.paths import DATA, ROOT, lessons, original, translations

ANSWERS = ROOT / "labs" / "guide" / "answers.md"
WITH_USERS = ("tests", "tools", "site", "labs")  # folders whose modules may import a lesson's


def page(number: str) -> str:
    """Return the files of a lesson as text: per purpose, a heading and one indented line per file.

    number: the number of the lesson, such as "08". A line has the path, and then the first line of
    a Python file's docstring, or the names of the lesson's files that mention a table. Purposes
    without files are left out. Raises CourseError if there is no such lesson.
    """
    blocks, named_in = [], _tables(number)
    for title, paths in files_of(number).items():
        lines = [f"    {_line(path, named_in.get(path, ()))}" for path in sorted(paths)]
        blocks += [title, *lines] if lines else []
    return "\n".join(blocks)


def _line(path: Path, named_in: Iterable[str]) -> str:
    """Return one line of text: a file's path from the repository's root, and a description.

    A Python file is described by the first line of its docstring. Another file is described by
    `named_in`, the names of the files that mention it. Without a description the line is the path
    alone.
    """
    name = path.relative_to(ROOT).as_posix() + "/" * path.is_dir()
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) if path.suffix == ".py" else None
    about = text.splitlines()[0] if text else ", ".join(sorted(named_in))
    return f"{name}  {about}" if about else name


def files_of(number: str) -> dict[str, set[Path]]:
    """Return the sets of files that belong to a lesson, by purpose.

    number: the number of the lesson, such as "08". A purpose is a heading such as "Its tests", and
    its set may be empty. Exercises are folders instead of files. Raises CourseError if there is no
    such lesson.
    """
    notebook = notebook_of(number)
    folder = lesson_folder(number)
    tests = ROOT / "tests" / folder.relative_to(ROOT)
    users = set(_users(folder))
    return {
        "The lesson and its translations": {notebook, *_translations(notebook)},
        "The folder that only it uses": _files(folder),
        "Its tests": _files(tests) | {file for file in users if file.name.startswith("test_")},
        "Its exercises": set(_exercises(number)),
        "Tables, and the files of the lesson that name them": set(_tables(number)),
        "Other modules that use its folder": {
            file for file in users if not file.name.startswith("test_")
        },
        "The instructor's answers": {ANSWERS} if _names(ANSWERS, notebook.name) else set(),
        "Modules that it shares with other lessons": set(_shared(notebook)) - _files(folder),
    }


def notebook_of(number: str) -> Path:
    """Return the path of a lesson's English notebook.

    number: the number of the lesson, such as "08". Raises CourseError if there is no such lesson.
    """
    english = lessons()
    if number not in english:
        raise CourseError(f"There is no lesson {number!r}: choose one of {', '.join(english)}.")
    return english[number]


def _translations(notebook: Path) -> Iterator[Path]:
    """Yield the paths of the translations of a lesson's English notebook."""
    return (file for file in translations() if original(file) == notebook)


def _files(folder: Path) -> set[Path]:
    """Return the paths of all files in a folder and its subfolders, except compiled Python."""
    return {file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"}


def _names(file: Path, text: str) -> bool:
    """Return True if the file exists and contains the text."""
    return file.exists() and text in file.read_text(encoding="utf-8")


def _users(folder: Path) -> Iterator[Path]:
    """Yield the Python files outside `utils` that name a lesson's folder, such as in an import."""
    for top in WITH_USERS:
        for file in (ROOT / top).rglob("*.py"):
            if _names(file, f"utils.lessons.{folder.name}"):
                yield file


def _exercises(number: str) -> Iterator[Path]:
    """Yield the folder of each exercise that declares to belong to this lesson."""
    for file in (ROOT / "labs" / "exercises").glob("*/exercise.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and ast.unparse(node) == f"lesson={number!r}":
                yield file.parent


def _tables(number: str) -> dict[Path, set[str]]:
    """Return the CSV files of `data/` that a lesson names, with the names of the files that do.

    The keys are paths of CSV files. A value is a set of names such as "lesson_08/test_claims.py".
    The notebook, the lesson's folder, its tests and its exercises are searched for strings with the
    name of the table.
    """
    folders = [lesson_folder(number), ROOT / "tests" / lesson_folder(number).relative_to(ROOT)]
    files = [file for folder in (*folders, *_exercises(number)) for file in folder.glob("*.py")]
    tables = list(DATA.rglob("*.csv"))
    found = {}
    for file in (notebook_of(number), *files):
        strings = _last_parts_of_strings(_tree(file))
        for table in tables:
            if {table.name, table.stem} & strings:
                found.setdefault(table, set()).add(f"{file.parent.name}/{file.name}")
    return found


def _last_parts_of_strings(tree: ast.Module) -> set[str]:
    """Return the part behind the last slash of every string in a syntax tree.

    A string without a slash is returned as a whole.
    """
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {node.value.split("/")[-1] for node in nodes if isinstance(node.value, str)}


def _shared(notebook: Path) -> Iterator[Path]:
    """Yield the files of the modules in utils that a notebook imports or uses as `course.…`.

    Only imports of the form `from … import …` count. A file is yielded once per use.
    """
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
    """Return public name of `course` -> dotted name of the module that defines it."""
    tree = ast.parse((LESSONS_PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _tree(file: Path) -> ast.Module:
    """Return the syntax tree of a Python file, or of all code cells of a notebook joined."""
    if file.suffix == ".py":
        return ast.parse(file.read_text("utf-8"))
    cells = nbformat.read(file, as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    return ast.parse("\n".join(map(TransformerManager().transform_cell, code)))
