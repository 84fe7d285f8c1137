"""Make the site, `build/site`, from the executed lessons: `python site/make_site.py`.

The sources lie in many places of the course. They are gathered in `build/site-source`, in the same
folders, so that links between them hold; Sphinx makes pages of them and takes a warning for an
error. Lessons that were not executed since they changed are executed first.
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
import pandas as pd

from labs.__main__ import main as labs_command
from labs.grading.labs import LABS
from utils.lessons import run_notebooks
from utils.paths import ROOT

HERE = ROOT / "site"
BUILD = ROOT / "build"
EXECUTED = BUILD / run_notebooks.EXECUTED
SOURCE = BUILD / "site-source"
SITE = BUILD / "site"
HANDOUTS = "labs/handouts"
# Pages of the course; a guide for instructors is added when it is there, its answers never.
TEXTS = (
    "notebooks/README.md",
    "notebooks/glossary.md",
    "virtual_gpu/README.md",
    "gpu_xray/README.md",
    "gemm_kernels/tuning/TUNING.md",
    "gemm_kernels/cpu/tuning/TUNING.md",
)
GUIDES = "labs/**/*.md"
ANSWERS = re.compile(r"answer|solution", re.IGNORECASE)
TERMS = ROOT / "data" / "terms.csv"
LANGUAGES = ("Spanish", "Chinese")
FIGURES = "data/figures/gemm_staircase_*.svg"
LINK = re.compile(r"(?<!!)\[([^][]+)\]\(([^():#\s]+)(#[^()\s]*)?\)")
TIMEOUT = 600  # seconds for Sphinx
Row = tuple[object, ...]


def main() -> int:
    """Exit code: 0 when the site is there, else that of the step that failed."""
    return executed() or gathered() or rendered()


def executed() -> int:
    """Execute the lessons that have no result yet, or one that is older than they are."""
    stale = [lesson for lesson in lessons() if _is_stale(lesson)]
    return run_notebooks.main([*map(str, stale), "--out", str(BUILD)]) if stale else 0


def lessons() -> list[Path]:
    """In reading order."""
    return sorted(run_notebooks.LESSONS.glob("*.ipynb"))


def _is_stale(lesson: Path) -> bool:
    result = EXECUTED / lesson.name
    return not result.exists() or result.stat().st_mtime < lesson.stat().st_mtime


def gathered() -> int:
    """Lay all sources in one folder."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(HERE / "pages", SOURCE)
    (SOURCE / "notebooks").mkdir()
    for lesson in lessons():
        shutil.copy(EXECUTED / lesson.name, SOURCE / "notebooks")
    failed = labs_command(["handout", "all", "--out", str(SOURCE / HANDOUTS)])
    texts = [ROOT / name for name in TEXTS] + guides()
    for text in texts:
        _copy_text(text, texts)
    (SOURCE / "routes.txt").write_text(_routes(), encoding="utf-8")
    _list_pages(SOURCE / "index.md", "For instructors", map(_page, guides()))
    _list_pages(SOURCE / "notebooks" / "README.md", "Lessons", map(_page, lessons()))
    titled = (f"{lab.title} <{name}>" for name, lab in LABS.items())
    _list_pages(SOURCE / HANDOUTS / "index.md", "Labs", titled)
    for figure in ROOT.glob(FIGURES):
        shutil.copy(figure, _to(figure))
    _write_table(SOURCE / HANDOUTS / "labs.csv", _rows_of_labs())
    _write_table(SOURCE / "terms.csv", _rows_of_terms())
    return failed


def guides() -> list[Path]:
    """What is written for instructors, but the answers."""
    return [text for text in sorted(ROOT.glob(GUIDES)) if not ANSWERS.search(text.name)]


def _to(file: Path) -> Path:
    """Its place among the sources."""
    place = SOURCE / file.relative_to(ROOT)
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def _copy_text(text: Path, texts: list[Path]) -> None:
    """Copy a page; of a link to a file of the course that is no page, its words are left."""
    known = {*texts, *lessons()}

    def linked(link: re.Match) -> str:
        file = (text.parent / link[2]).resolve()
        return link[1] if file.exists() and file not in known else link[0]

    _to(text).write_text(LINK.sub(linked, text.read_text(encoding="utf-8")), encoding="utf-8")


def _routes() -> str:
    """The ways through the lessons, as the syllabus tells them, for the first page."""
    syllabus = (run_notebooks.LESSONS / "README.md").read_text(encoding="utf-8")
    section = syllabus.partition("## Three ways through\n")[2]
    return LINK.sub(r"[\1](notebooks/\2)", section)


def _page(file: Path) -> str:
    """A file of the course as Sphinx names its page."""
    return f"/{file.relative_to(ROOT).with_suffix('').as_posix()}"


def _list_pages(above: Path, caption: str, pages: Iterable[str]) -> None:
    """Add pages to the navigation, below another page."""
    names = "\n".join(pages)
    with above.open("a", encoding="utf-8") as opened:
        opened.write(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{names}\n```\n")


def _rows_of_labs() -> Iterator[Row]:
    yield ("lab", "minutes", "points", "after lesson", "notebook")
    for lab in LABS.values():
        page, notebook = f"[{lab.title}]({lab.name}.ipynb)", f"{{download}}`{lab.name}.ipynb`"
        yield (page, lab.minutes, lab.points, ", ".join(lab.lessons), notebook)


def _rows_of_terms() -> Iterator[Row]:
    """The terms, each linked to its entry, with the words of each language."""
    yield ("term", *LANGUAGES)
    words = pd.read_csv(TERMS).groupby(["term", "language"], sort=False)["word"].agg(", ".join)
    for term, by_language in words.unstack(fill_value="").iterrows():
        anchor = re.sub(r"[^a-z-]", "", term.lower().replace(" ", "-"))
        yield (f"[{term}](notebooks/glossary.md#{anchor})", *by_language[list(LANGUAGES)])


def _write_table(file: Path, rows: Iterable[Row]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows(rows)


def rendered() -> int:
    """Run Sphinx; a warning fails, such as that of a link that leads nowhere."""
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
