"""Find the sentences that a lesson can show: `python -m tools.lesson_sentences 00 es`.

The command prints the sentences of lesson 00 that have no Spanish translation yet, and their files.
A sentence can be shown if it is in a file of the lesson, in one of its exercises, or in a module
that these or the notebook use, directly or through other modules.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import nbformat

from tools import messages
from tools.ci.dependencies import of_the_repository
from utils.lessons.files import files_of, notebook_of
from utils.paths import ROOT

PACKAGES = ("labs/", "utils/", "virtual_gpu/")
# A package that gathers what others define would lead to all lessons and exercises. These two are
# replaced by the module behind the names that lessons take from them.
GATHERS = "__init__.py"
BEHIND = {
    "labs/__init__.py": "labs/by_name.py",
    "virtual_gpu/__init__.py": "virtual_gpu/launching/tracing.py",
}
EXERCISE = re.compile(r"\b(?:task|check)\(\"(\w+)\"")
IMPORT = re.compile(r"^from ([\w.]+) import ([\w, ]+)", re.MULTILINE)


def sentences_of(number: str) -> set[str]:
    """Return the English sentences that a lesson can show, apart from its Markdown.

    number: the number of the lesson, such as "00". Raises CourseError if there is no such lesson.
    """
    files = files_behind(number)
    return {
        one.id
        for one in messages.template()
        if one.id and any(name in files for name, _ in one.locations)
    }


def files_behind(number: str) -> set[str]:
    """Return the paths of the files with a lesson's sentences, relative to the repository's root.

    number: the number of the lesson, such as "00". Raises CourseError if there is no such lesson.
    """
    graph, found, waiting = of_the_repository(), set(), list(_own_files(number))
    while waiting:
        path = waiting.pop()
        path = BEHIND.get(path, path)
        if path in found or path.endswith(GATHERS) or not path.startswith(PACKAGES):
            continue
        found.add(path)
        # A module that reads all questions or tables names their files; those of others stay out.
        waiting += (name for name in graph.get(path, ()) if name.endswith(".py"))
    return found


def _own_files(number: str) -> Iterator[str]:
    """Yield the paths of a lesson's own files, of its exercises, and of what its cells import."""
    files = files_of(number)
    names = ("The folder that only it uses", "Modules that it shares with other lessons")
    yield from (path.relative_to(ROOT).as_posix() for name in names for path in files[name])
    cells = nbformat.read(notebook_of(number), as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    for exercise in EXERCISE.findall(code):
        folder = ROOT / "labs" / "exercises" / exercise
        yield from (path.relative_to(ROOT).as_posix() for path in folder.glob("*.*"))
    for module, imported in IMPORT.findall(code):
        base = module.replace(".", "/")
        for name in (base, *(f"{base}/{one.strip()}" for one in imported.split(","))):
            yield from (f"{name}{end}" for end in (".py", f"/{GATHERS}") if _exists(name + end))


def _exists(path: str) -> bool:
    """Return True if a path, relative to the repository's root, is a file."""
    return (ROOT / path).is_file()


def missing(number: str, language: str) -> dict[str, list[str]]:
    """Return a dict from each sentence of a lesson that has no translation to its files' paths.

    The sentences are English. A translation that is fuzzy or does not fit counts as missing.
    number: such as "00". language: one that has a catalogue, such as "es".
    """
    wanted = sentences_of(number)
    return {
        one.id: [name for name, _ in one.locations]
        for one in messages.read(messages.catalogue_of(language))
        if one.id in wanted and not messages.is_shown(one)
    }


def main(arguments: list[str] | None = None) -> int:
    """Print the missing sentences of a lesson; return 1 if there are any, else 0.

    arguments: the words of the command line, by default those of this process.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.lesson_sentences", description=__doc__)
    parser.add_argument("lesson", help='its number, such as "00"')
    parser.add_argument("language", help='of a catalogue in locale/, such as "es"')
    given = parser.parse_args(arguments)
    found = missing(given.lesson, given.language)
    for sentence, files in found.items():
        print(f"{', '.join(files)}\n    {sentence}")
    print(f"{len(found)} sentences of lesson {given.lesson} are missing in {given.language}.")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
