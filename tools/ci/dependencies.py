"""The files of the repository on which a file depends, by its imports and the names in its text.

A Python file depends on the modules that it imports, and on the data files whose names, or whose
folders' names, are one of its strings. The `__init__` of a package counts only where something is
imported from it: a package that does not import is noticed by every test. Files that nothing names
reach everything, except texts for readers.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache

from utils.paths import ROOT

# Names of `utils.paths`, and the folders that a file which uses them depends on.
FOLDERS = {"NOTEBOOKS": "notebooks", "MEASURED": "data/measured"}
# Its functions that list the folder of notebooks, as they are imported and as they are called.
LISTS = ("lessons", "translations")
CALLS = tuple(f"paths.{name}" for name in LISTS)
LESSON = re.compile(
    r"(?:notebooks/(?:extra_)?|utils/lessons/lesson_)"
    r"(\d\d(?=[_/])|(?<=extra_)\w+(?=\.)|(?<=lesson_)[a-z]\w*(?=/))"
)
EXERCISE = re.compile(r"labs/exercises/(\w+)/")
Graph = Mapping[str, frozenset[str]]


def tracked() -> tuple[str, ...]:
    """Return the paths of all files that git tracks or would track, relative to the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return tuple(name for name in listed.stdout.splitlines() if (ROOT / name).is_file())


@cache
def of_the_repository() -> Graph:
    """Return a dict from the path of each Python file to the paths of the files that it depends on.

    These are direct dependencies, as `graph` finds them. The result is cached.
    """
    names = tracked()
    texts = {name: (ROOT / name).read_text("utf-8") for name in names if name.endswith(".py")}
    return graph(texts, [name for name in names if not name.endswith(".py")])


def graph(texts: Mapping[str, str], others: Iterable[str]) -> Graph:
    """Return a dict from the path of each Python file to the paths that it directly depends on.

    They are the modules that it imports, the files that its strings name and, for the package of
    exercises, the files of all exercises. texts: the text of each Python file, by its path. others:
    the paths of all other files.
    """
    modules = {_dotted(path): path for path in texts}
    data = _Data(others)
    exercises = frozenset(path for path in (*texts, *others) if EXERCISE.match(path))
    found = {}
    for path, text in texts.items():
        nodes = list(ast.walk(ast.parse(text)))
        strings = {
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        found[path] = _imported(path, nodes, strings, modules) | data.named(path, nodes, strings)
    # The bank loads its folders by their names.
    if (bank := "labs/exercises/__init__.py") in found:
        found[bank] |= exercises
    return {path: frozenset(targets - {path}) for path, targets in found.items()}


def reached_by(changed: Iterable[str], dependencies: Graph) -> set[str]:
    """Return the paths of changed files and of all that depend on them, directly or through others.

    dependencies: path of a Python file -> paths of the files that it directly depends on.
    """
    users = defaultdict(set)
    for path, targets in dependencies.items():
        for target in targets:
            users[target].add(path)
    reached, waiting = set(), list(changed)
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += users[path]
    return reached


def _dotted(path: str) -> str:
    """Return the dotted name of the module in a file.

    path: such as "labs/grading/marks.py", which gives "labs.grading.marks".
    """
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imported(
    path: str, nodes: Iterable[ast.AST], strings: set[str], modules: Mapping[str, str]
) -> set[str]:
    """Return the paths of the modules that a file imports, or names as a whole string.

    path: of the file. nodes, strings: of its tree. modules: dotted name -> path.
    """
    package = path.removesuffix("/__init__.py").removesuffix(".py").split("/")
    if not path.endswith("/__init__.py"):
        package = package[:-1]
    found = set(strings)  # of import_module, or of `python -m`
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            inner = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else base for name in inner}
    return {modules[name] for name in found if name in modules}


def _lists_notebooks(node: ast.AST) -> bool:
    """Return True if a node imports, or names as an attribute, a function that lists notebooks."""
    if isinstance(node, ast.ImportFrom) and node.module == "utils.paths":
        return any(alias.name in LISTS for alias in node.names)
    # Only few attributes have one of the names, and to write a node as text takes long.
    return isinstance(node, ast.Attribute) and node.attr in LISTS and ast.unparse(node) in CALLS


class _Data:
    """The files that are not Python, by their names and by the folders that contain them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name, self._by_folder = defaultdict(set), defaultdict(set)
        for path in paths:
            folder, _, name = path.rpartition("/")
            self._by_name[name].add(path)
            while folder:
                self._by_folder[folder].add(path)
                folder = folder.rpartition("/")[0]
        # Last part of the name -> the folders below another one; those at the top are named too
        # often to mean their content.
        self._folders = defaultdict(list)
        for folder in self._by_folder:
            if "/" in folder:
                self._folders[folder.rpartition("/")[2]].append(folder)

    def named(self, module: str, nodes: Iterable[ast.AST], strings: set[str]) -> set[str]:
        """Return the paths of files that a module's strings name, by their own or a folder's name.

        Names of folders that `utils.paths` defines count as well. module: the module's path. nodes,
        strings: of its tree.
        """
        found = set()
        for node in nodes:
            if isinstance(node, ast.Name | ast.alias):
                name = node.id if isinstance(node, ast.Name) else node.name
                found |= self._by_folder.get(FOLDERS.get(name, ""), set())
            elif _lists_notebooks(node):
                found |= self._by_folder.get(FOLDERS["NOTEBOOKS"], set())
        return found.union(*(self._of_text(module, text) for text in strings))

    def _of_text(self, module: str, text: str) -> set[str]:
        """Return the paths of the files that a string in a module names.

        A string names a file by its name or the end of its path, or all files in a folder. The set
        is empty for a text with a space or a line break, which is a sentence, and for all texts of
        `utils/paths.py`. If several files have the name alone, those of the module's package and
        the one at the top are returned. module: the module's path.
        """
        if "\n" in text or " " in text or module == "utils/paths.py":  # a sentence
            return set()
        folder, _, name = text.rpartition("/")
        files = self._by_name.get(name, set())
        if len(files) > 1 and not folder:
            # A name that several files have: those of the same package, and the one at the top.
            package = module.partition("/")[0]
            files = {file for file in files if file.startswith(f"{package}/") or "/" not in file}
        found = {file for file in files if folder in file}
        for path in self._folders[name] if name else ():
            near = path.startswith(("data/", f"{module.partition('/')[0]}/"))
            if path == text or (near and name == text):
                found |= self._by_folder[path]
        return found
