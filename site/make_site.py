"""Make the site, `build/site`, from the executed lessons: `python site/make_site.py`.

The sources are in many folders of the course. They are gathered in `build/site-source`, in the same
folders, so that links between them hold. Sphinx makes pages of them and treats warnings as errors.
Lessons that changed since they were executed are executed first.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import environment
import exercise_page
import nbformat
import notebook_pages
import pandas as pd

from labs.__main__ import main as labs_command
from labs.grading.labs import LABS
from utils import paths
from utils.lessons import run_notebooks
from utils.lessons.first_cell import repository
from utils.paths import ROOT

HERE = ROOT / "site"
BUILD = ROOT / "build"
EXECUTED = BUILD / run_notebooks.EXECUTED
SOURCE = BUILD / "site-source"
SITE = BUILD / "site"
HANDOUTS = "labs/handouts"
# Pages of the course. Instructors' pages are added except for answers.
TEXTS = (
    "notebooks/README.md",
    "notebooks/glossary.md",
    "notebooks/three_machines.md",
    "notebooks/sources.md",
    "virtual_gpu/README.md",
    "virtual_gpu/WALKTHROUGH.md",
    "virtual_gpu/MOVING.md",
    "virtual_gpu/SIMULATED_TESTS.md",
    "gpu_xray/README.md",
    "gpu_xray/COMPILERS.md",
    "gemm_kernels/tuning/TUNING.md",
    "gemm_kernels/cpu/tuning/TUNING.md",
    "PLATFORMS.md",
    "CHANGELOG.md",
)
GUIDES = "labs/**/*.md"
ANSWERS = re.compile(r"answer|solution", re.IGNORECASE)
TERMS = ROOT / "data" / "terms.csv"
LANGUAGES = ("Spanish", "Chinese")
FIGURES = ("gemm_staircase_*", "traced_kernel_*", "three_machines")
LINK = re.compile(r"(?<!!)\[([^][]+)\]\(([^():#\s]+)(#[^()\s]*)?\)")
TIMEOUT = 600  # seconds for Sphinx
Row = tuple[object, ...]


def main() -> int:
    """Make the site; return 0, or the exit code of the step that failed."""
    return executed() or gathered() or rendered()


def executed() -> int:
    """Execute the lessons that are newer than their executed copies, or have none.

    Returns 0 if there is no such lesson, else the exit code of `run_notebooks.main`.
    """
    stale = [lesson for lesson in lessons() if _is_stale(lesson)]
    return run_notebooks.main([*map(str, stale), "--out", str(BUILD)]) if stale else 0


def lessons() -> list[Path]:
    """Return the paths of the lessons in reading order: the English ones, then translations."""
    return [*paths.lessons().values(), *paths.translations()]


def _is_stale(lesson: Path) -> bool:
    """Return True if a lesson has no executed copy or has changed since."""
    result = EXECUTED / lesson.name
    return not result.exists() or result.stat().st_mtime < lesson.stat().st_mtime


def gathered() -> int:
    """Empty the folder `SOURCE` and write all sources of the site to it.

    Returns the exit code of the command that writes the labs' handouts.
    """
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(HERE / "pages", SOURCE)
    code = _gather_notebooks()
    texts = [ROOT / name for name in TEXTS] + guides()
    for text in texts:
        _copy_text(text, texts)
    (SOURCE / "routes.txt").write_text(_routes(), encoding="utf-8")
    scorer = (HERE / "search_scorer.js").read_text(encoding="utf-8")
    (SOURCE / "search_scorer.js").write_text(notebook_pages.search_scorer(scorer), encoding="utf-8")
    (SOURCE / "get.txt").write_text(notebook_pages.get_the_course(repository()), encoding="utf-8")
    _list_pages(SOURCE / "index.md", "For instructors", map(_page, guides()))
    _list_pages(SOURCE / "index.md", "About the course", ("/PLATFORMS", "/CHANGELOG"))
    titles = notebook_pages.titles()
    names = (f"{titles[lesson.name]} <{_page(lesson)}>" for lesson in lessons())
    _list_pages(SOURCE / "notebooks" / "README.md", "Lessons", names)
    entries = (f"{lab.title} <{name}>" for name, lab in LABS.items())
    _list_pages(SOURCE / HANDOUTS / "index.md", "Labs", entries)
    for figure in (each for name in FIGURES for each in ROOT.glob(f"data/figures/{name}.svg")):
        shutil.copy(figure, _gathered_path(figure))
    _write_table(SOURCE / HANDOUTS / "labs.csv", _rows_of_labs())
    cards = exercise_page.cards(titles)
    (SOURCE / "labs" / "exercises.txt").write_text(cards, encoding="utf-8")
    _write_table(SOURCE / "terms.csv", _rows_of_terms())
    return code


def _gather_notebooks() -> int:
    """Write the pages of the lessons and the labs, and the notebooks to download.

    Returns the exit code of the command that writes the labs.
    """
    downloads = SOURCE / notebook_pages.DOWNLOADS
    code = labs_command(["handout", "all", "--out", str(downloads)])
    labs = sorted(downloads.glob("*.ipynb"))
    for lesson in lessons():
        shutil.copy(lesson, downloads)
        _write_page(EXECUTED / lesson.name, SOURCE / "notebooks")
    for lab in labs:
        _write_page(lab, SOURCE / HANDOUTS)
    return code


def _write_page(notebook: Path, folder: Path) -> None:
    """Write a notebook, as its page shows it, to a folder of the sources."""
    folder.mkdir(exist_ok=True)
    page = notebook_pages.for_page(
        nbformat.read(notebook, as_version=4), notebook.name, repository()
    )
    nbformat.write(page, folder / notebook.name)


def guides() -> list[Path]:
    """Return the paths of the instructors' pages, without pages of answers, sorted."""
    return [text for text in sorted(ROOT.glob(GUIDES)) if not ANSWERS.search(text.name)]


def _gathered_path(file: Path) -> Path:
    """Return the path of a file's copy among the gathered sources, and make its folder."""
    target = SOURCE / file.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _copy_text(text: Path, texts: list[Path]) -> None:
    """Copy a page to the sources; a link to an existing file that is not on the site becomes words.

    A link that shows the name of a page's file shows the page's title instead. text: the path of
    the page. texts: the paths of all pages that are copied.
    """
    known = {*texts, *lessons()}

    def linked(link: re.Match) -> str:
        file = (text.parent / link[2]).resolve()
        if file.exists() and file not in known:
            return link[1]
        return f"[{_title(file)}]({link[2]}{link[3] or ''})" if link[1] == link[2] else link[0]

    _gathered_path(text).write_text(
        LINK.sub(linked, text.read_text(encoding="utf-8")), encoding="utf-8"
    )


def _title(text: Path) -> str:
    """Return the title of a page: its first heading, without the mark."""
    return text.read_text(encoding="utf-8").partition("# ")[2].partition("\n")[0]


def _routes() -> str:
    """Return the syllabus from its section on routes through the lessons on, as Markdown.

    The section's heading is left out, and links lead to the folder `notebooks`.
    """
    syllabus = (paths.NOTEBOOKS / "README.md").read_text(encoding="utf-8")
    section = syllabus.partition("## Three ways through\n")[2]
    return LINK.sub(r"[\1](notebooks/\2)", section)


def _page(file: Path) -> str:
    """Return Sphinx's name for the page of a file, such as "/notebooks/07_tiling"."""
    return f"/{file.relative_to(ROOT).with_suffix('').as_posix()}"


def _list_pages(page: Path, caption: str, pages: Iterable[str]) -> None:
    """Append a hidden table of contents to a page; the site's navigation shows its entries.

    page: the path of the page in the sources. caption: the heading of these entries. pages:
    Sphinx's names of the pages to list, such as "/notebooks/07_tiling" or "title
    </notebooks/07_tiling>".
    """
    names = "\n".join(pages)
    with page.open("a", encoding="utf-8") as file:
        file.write(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{names}\n```\n")


def _rows_of_labs() -> Iterator[Row]:
    """Yield a header, then a row per lab: page, minutes, points, lessons before it, download."""
    yield ("lab", "minutes", "points", "after lesson", "notebook")
    for lab in LABS.values():
        page = f"[{lab.title}]({lab.name}.ipynb)"
        notebook = f"{{download}}`download <{notebook_pages.download(lab.name)}>`"
        yield (page, lab.minutes, lab.points, lab.after, notebook)


def _rows_of_terms() -> Iterator[Row]:
    """Yield a header, then a row per term of `data/terms.csv`.

    A row has a link to the glossary and the term's words in Spanish and in Chinese, joined by
    commas.
    """
    yield ("term", *LANGUAGES)
    words = pd.read_csv(TERMS).groupby(["term", "language"], sort=False)["word"].agg(", ".join)
    for term, by_language in words.unstack(fill_value="").iterrows():
        anchor = re.sub(r"[^a-z-]", "", term.lower().replace(" ", "-"))
        yield (f"[{term}](notebooks/glossary.md#{anchor})", *by_language[list(LANGUAGES)])


def _write_table(file: Path, rows: Iterable[Row]) -> None:
    """Write rows to a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)


def rendered() -> int:
    """Run Sphinx, which fails at any warning such as a dead link; return its exit code.

    The code is 1 if Sphinx was stopped after TIMEOUT seconds. Prints where the site is, or that it
    failed.
    """
    shutil.rmtree(SITE, ignore_errors=True)
    options = ("--quiet", "--fail-on-warning", "--builder", "html", "--conf-dir", str(HERE))
    doctrees = ("--doctree-dir", str(BUILD / "site-doctrees"))
    command = (str(environment.python()), "-m", "sphinx", *options, *doctrees, SOURCE, SITE)
    try:
        code = subprocess.run(command, cwd=ROOT, check=False, timeout=TIMEOUT).returncode
    except subprocess.TimeoutExpired:
        print(f"Sphinx was stopped after {TIMEOUT} seconds.", file=sys.stderr)
        return 1
    print(f"The site: {SITE / 'index.html'}" if code == 0 else "Sphinx failed: see above.")
    return code


if __name__ == "__main__":
    sys.exit(main())
