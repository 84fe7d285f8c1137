"""Make a lesson's notebook in another language, or let it follow the English one.

`python -m tools.translated_notebook 00 es` writes `notebooks/00_start_here.es.ipynb`. It has the
English notebook's cells in their order: code as it is, Markdown in Spanish as far as it is there.
The command prints the Markdown cells that are still English or whose English text has changed since
they were translated. Once they are translated, the option `--translated` says so.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from utils.lessons.files import notebook_of
from utils.lessons.first_cell import without_setup

OF = "translation_of"  # in the metadata of a cell: a digest of the English text it translates


def digest(english: NotebookNode) -> str:
    """Return eight hexadecimal digits that change with the text of an English Markdown cell.

    The sentence about the first cell and the badge do not count.
    """
    return hashlib.sha256(without_setup(english.source).encode()).hexdigest()[:8]


def following(english: NotebookNode, translated: NotebookNode | None) -> NotebookNode:
    """Return a copy of an English notebook with the Markdown of its translation, cell by cell.

    A Markdown cell without a translation is in English. translated: None if there is none yet.
    """
    known = {cell.id: cell for cell in (translated.cells if translated else ())}
    made = nbformat.from_dict(english)
    made.cells = [
        known[cell.id] if cell.cell_type == "markdown" and cell.id in known else cell
        for cell in made.cells
    ]
    return made


def outdated(english: NotebookNode, translated: NotebookNode) -> list[str]:
    """Return the ids of the Markdown cells that do not translate the English text of today.

    They are in the order of the cells. Both notebooks must have the same number of cells; if not,
    ValueError is raised.
    """
    return [
        cell.id
        for original, cell in zip(english.cells, translated.cells, strict=True)
        if cell.cell_type == "markdown" and cell.metadata.get(OF) != digest(original)
    ]


def note_translated(english: NotebookNode, translated: NotebookNode) -> None:
    """Note in each Markdown cell of a translation that it translates the English text of today."""
    for original, cell in zip(english.cells, translated.cells, strict=True):
        if cell.cell_type == "markdown":
            cell.metadata[OF] = digest(original)


def translation_of(notebook: Path, language: str) -> Path:
    """Return the path of the translation of an English notebook. language: such as "es"."""
    return notebook.with_name(f"{notebook.stem}.{language}{notebook.suffix}")


def main(arguments: list[str] | None = None) -> int:
    """Write the translated notebook, print its outdated cells, and return 1 if there are any.

    arguments: the words of the command line, by default those of this process.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.translated_notebook")
    parser.add_argument("lesson", help='its number, such as "00"')
    parser.add_argument("language", help='its tag, such as "es" or "pt-BR"')
    parser.add_argument(
        "--translated", action="store_true", help="all Markdown translates the English of today"
    )
    given = parser.parse_args(arguments)
    file = translation_of(notebook_of(given.lesson), given.language)
    english = nbformat.read(notebook_of(given.lesson), as_version=4)
    translated = following(english, nbformat.read(file, as_version=4) if file.exists() else None)
    if given.translated:
        note_translated(english, translated)
    nbformat.write(translated, file)
    cells = outdated(english, translated)
    for original in english.cells:
        if original.id in cells:
            print(f"--- {original.id}\n{original.source}\n")
    print(f"{file.name}: {len(cells)} Markdown cells are to be translated.")
    return int(bool(cells))


if __name__ == "__main__":
    raise SystemExit(main())
