"""Pages of notebooks on the site, which show how to run a notebook instead of its set-up cell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from utils.lessons.first_cell import Repository, without_setup
from utils.paths import NOTEBOOKS, lessons, tag, translations
from utils.translation import ENGLISH, in_language, translate

DOWNLOADS = "downloads"  # folder of the notebooks as they are handed out, without outputs
SET_UP = "course.start("  # in the cell that finds the course
_COLAB = "https://colab.research.google.com/github/{on_github}/blob/{ref}/notebooks/{name}"
_ROW = re.compile(
    r"^\| \[(?P<title>[^]]+)\]\((?P<file>[^)]+)\) \| [^|]+ \| (?P<about>[^|]+) \| ", re.MULTILINE
)


_ENTRY = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)


def _rows() -> list[re.Match]:
    """Return a match per lesson in the syllabus's tables, with the groups title, file and about."""
    return list(_ROW.finditer((NOTEBOOKS / "README.md").read_text(encoding="utf-8")))


def titles() -> dict[str, str]:
    """Return file name -> title of each lesson, such as "07 · Tiling", as the syllabus has them.

    The title of a translated lesson is the one of its notebook, up to a colon.
    """
    own = {file.name: _heading(file).partition(":")[0] for file in translations()}
    return {row["file"]: row["title"] for row in _rows()} | own


def _heading(file: Path) -> str:
    """Return the heading of a notebook, without its mark."""
    opening = nbformat.read(file, as_version=4).cells[0].source
    return opening.partition("\n")[0].removeprefix("# ")


def descriptions() -> dict[str, str]:
    """Return file name -> a sentence on each English lesson, with its title, from the syllabus.

    It has the syllabus's words as they are in Markdown, with backticks around code.
    """
    return {row["file"]: f"Lesson {row['title']}: {row['about']}." for row in _rows()}


def terms(name: str) -> list[str]:
    """Return the terms whose entries in the glossary link to a lesson, in the glossary's order.

    name: the lesson's file name, such as "07_tiling.ipynb".
    """
    glossary = (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8")
    return [entry[1] for entry in _ENTRY.finditer(glossary) if f"]({name})" in entry[2]]


def search_scorer(script: str) -> str:
    """Return a JavaScript of the site's search, preceded by the definition of its constant TERMS.

    TERMS maps each term of the glossary, in lower case, to a list of the pages of the lessons that
    explain it, such as "notebooks/07_tiling", and the title of a lesson to its page. script: the
    code that uses TERMS.
    """
    pages = {title.lower(): [f"notebooks/{name.removesuffix('.ipynb')}"]
             for name, title in titles().items()}  # fmt: skip
    pages |= {term.lower(): [] for name in titles() for term in terms(name)}
    for name in titles():
        for term in terms(name):
            pages[term.lower()].append(f"notebooks/{name.removesuffix('.ipynb')}")
    return f"const TERMS = {json.dumps(pages)};\n{script}"


def download(name: str) -> str:
    """Return the path of a notebook's download, such as "/downloads/07_tiling.ipynb".

    The path begins at the folder of the site's sources. name: the file's name without the suffix.
    """
    return f"/{DOWNLOADS}/{name}.ipynb"


def is_public(at: Repository) -> bool:
    """Return False for a repository whose address is a placeholder with a host in ".invalid"."""
    return re.match(r"\w+://[^/]+\.invalid(/|$)", at.address) is None


def for_page(notebook: NotebookNode, name: str, at: Repository) -> NotebookNode:
    """Change an executed lesson or a lab's handout into what its page shows, and return it.

    The code of the set-up cell is hidden; its output stays if the cell was executed. The opening
    cell says how to run the notebook. name: the file name. at: the repository of the course.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code" and SET_UP in cell.source:
            cell.metadata["tags"] = ["remove-input" if cell.outputs else "remove-cell"]
    opening = notebook.cells[0]
    title, _, rest = without_setup(opening.source).partition("\n\n")
    title = f"# {titles().get(name, title.removeprefix('# '))}"
    opening.source = f"{title}\n\n{how_to_run(name, at)}\n\n{rest}"
    return notebook


def how_to_run(name: str, at: Repository) -> str:
    """Return Markdown: a line with the ways to run a notebook.

    The line is in the language of the notebook. It has a link to the set-up, a download, and a link
    to Colab only for a lesson, not for a lab, if the repository is on GitHub. name: the notebook's
    file name. at: the repository.
    """
    stem = name.removesuffix(".ipynb")
    with in_language(tag(Path(name)) or ENGLISH):
        run = translate("**Run this notebook**: [get the course]({course}), then `make lab`",
                        course="/index.md#get-the-course")  # fmt: skip
        words, in_colab = translate("download it"), translate("open it in Colab")
        ways = [run, f"{{download}}`{words} <{download(stem)}>`"]
        if at.on_github and name in {file.name for file in (*lessons().values(), *translations())}:
            address = _COLAB.format(on_github=at.on_github, ref=at.ref, name=name)
            ways.append(f"[{in_colab}]({address})")
    return f":::{{container}} how-to-run\n{' · '.join(ways)}\n:::"


def get_the_course(at: Repository) -> str:
    """Return Markdown: the commands that fetch the course and open its first lesson.

    at: the repository. The command `git clone` is left out if it has no public address.
    """
    lines = [f"git clone {at.address} gpu-course", "cd gpu-course"] if is_public(at) else []
    where = "" if lines else "In your clone of the course:\n\n"
    commands = "\n".join([*lines, "make lab"])
    link = f" The course is at [{at.on_github}]({at.address})." if at.on_github else ""
    return (
        f"{where}```sh\n{commands}\n```\n\n"
        "The first time, `make lab` installs 1.4 GB into the folder `.venv`, in 1 to 10 minutes. "
        "Then it opens lesson 00 in JupyterLab. You need git, make, and Python 3.11, 3.12 or 3.13, "
        f"but no GPU.{link}\n"
    )
