"""Execute lessons and write each as a page: `python -m utils.lessons.run_notebooks`.

The notebooks themselves are only read; what they showed is kept in `executed/` beside the pages,
from where the site takes it. Exit code: 0 when all ran, 1 when a cell failed or a lesson
shows what the rules of lessons forbid (the others still run), 2 when there is nothing to run.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError
from nbconvert import HTMLExporter
from nbconvert.filters import strip_ansi
from nbformat.v4 import new_markdown_cell, new_notebook
from tqdm import tqdm

from utils.lessons import ledger_file, rules
from utils.lessons.first_cell import first_cell, without_badge
from utils.paths import NOTEBOOKS
from virtual_gpu.pictures import once_per_page

LESSONS = NOTEBOOKS
TEMPLATES = Path(__file__).parent / "pages"
EXECUTED = "executed"
TRACEBACK_LINES = 15
# As on macOS, for which no compiler is published.
HIDE_COMPILER = "from numba.cuda.cudadrv import nvvm; nvvm.is_available = lambda: False"


@dataclass(frozen=True)
class Run:
    """One executed lesson: its page, how long it took, and what failed (None: nothing did)."""

    page: Path
    seconds: float
    failure: str | None


@dataclass(frozen=True)
class Way:
    """How lessons are executed.

    timeout: seconds that one cell may take. compiler: False hides it, as on macOS. kernels: a
    folder of kernel specifications whose "python3" runs the lessons; None: this interpreter does.
    """

    timeout: int
    compiler: bool = True
    kernels: Path | None = None


def run(notebook: Path, out: Path, way: Way) -> Run:
    """Execute a notebook file and write `out/<name>.html`, up to the failing cell if one fails.

    The notebook with its outputs goes to `out/executed/`, unless it failed.
    """
    started = time.perf_counter()
    lesson = nbformat.read(notebook, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder) / ledger_file.NAME
        failure = _execute(lesson, notebook, predictions, way)
        failure = failure or _against_the_rules(lesson, notebook, predictions)
    page = out / f"{notebook.stem}.html"
    page.write_text(_page(lesson, notebook.stem), encoding="utf-8")
    _keep(lesson, out / EXECUTED / notebook.name, failure)
    return Run(page, time.perf_counter() - started, failure)


def _keep(lesson: nbformat.NotebookNode, file: Path, failure: str | None) -> None:
    """Write the executed lesson, or take away what an earlier run left if this one failed."""
    file.parent.mkdir(exist_ok=True)
    if failure:
        file.unlink(missing_ok=True)
    else:
        nbformat.write(lesson, file)


def _against_the_rules(
    lesson: nbformat.NotebookNode, notebook: Path, predictions: Path
) -> str | None:
    """What the executed lesson shows and should not, as text; None for one without our engine."""
    if not any(cell.source == first_cell(notebook.stem[:2]) for cell in lesson.cells):
        return None
    measured = {
        name: entry.measured
        for name, entry in ledger_file.read(predictions).items()
        if entry.revealed
    }
    broken = rules.broken_when_shown(rules.from_notebook(lesson, notebook.stem), measured)
    return "\n".join([f"{notebook.name}:", *broken]) if broken else None


def _execute(
    lesson: nbformat.NotebookNode, notebook: Path, predictions: Path, way: Way
) -> str | None:
    """Fill in the outputs of `lesson`; returns the failing cell and its error as text."""
    at = 0
    hidden = [] if way.compiler else [f"--IPKernelApp.exec_lines={HIDE_COMPILER}"]
    # Without folders to search, "python3" can only mean the interpreter that runs this.
    folders = [str(way.kernels)] if way.kernels else []
    kernel = AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=folders))
    with tqdm(
        total=len(lesson.cells), desc=notebook.stem, unit="cell", leave=False, disable=None
    ) as bar:

        def note_start(cell: nbformat.NotebookNode, cell_index: int) -> None:
            nonlocal at
            at = cell_index
            bar.update()

        client = NotebookClient(
            lesson,
            km=kernel,
            timeout=way.timeout,
            extra_arguments=["--log-level=ERROR", *hidden],
            resources={"metadata": {"path": str(notebook.parent)}},
            # Behind a page no program runs: what stands beside a widget is shown instead of it.
            store_widget_state=False,
            on_cell_start=note_start,
        )
        try:
            client.execute(cleanup_kc=True, env=_environment(predictions))
        except (CellControlSignal, DeadKernelError) as error:
            return _describe(f"{notebook.name}, cell {at + 1}", lesson.cells[at], error)
    return None


def _environment(predictions: Path) -> dict[str, str]:
    return {
        **os.environ,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "VIRTUAL_GPU_PROGRESS": "0",  # a line that comes and goes has no place on a page
        ledger_file.PAGE: "1",
        ledger_file.PLACE: str(predictions),
    }


def _describe(where: str, cell: nbformat.NotebookNode, error: Exception) -> str:
    text = str(error).partition("\n")[0]
    if isinstance(error, CellExecutionError):
        raised = [output for output in cell.outputs if output.output_type == "error"]
        text = "\n".join(raised[-1].traceback)
    last = strip_ansi(text).splitlines()[-TRACEBACK_LINES:]
    source = [f"    {line}" for line in cell.source.splitlines()]
    return "\n".join([f"{where}:", "", *source, "", *last])


def _page(lesson: nbformat.NotebookNode, name: str) -> str:
    for cell in lesson.cells[:1]:
        cell.source = without_badge(cell.source)  # a page asks no other host
    exporter = HTMLExporter(
        template_name="lesson", extra_template_basedirs=[str(TEMPLATES)], embed_images=True
    )
    body, _ = exporter.from_notebook_node(lesson, resources={"metadata": {"name": name}})
    # Pages stand side by side as the notebooks do.
    linked = re.sub(r'href="([\w-]+)\.(?:ipynb|md)(#[^"]*)?"', r'href="\1.html\2"', body)
    return once_per_page(linked)


def write_texts(folder: Path, out: Path) -> None:
    """Write what lessons link to besides each other, such as the glossary, as pages."""
    for text in folder.glob("*.md"):
        page = new_notebook(cells=[new_markdown_cell(text.read_text(encoding="utf-8"))])
        (out / f"{text.stem}.html").write_text(_page(page, text.stem), encoding="utf-8")


def write_index(out: Path) -> Path:
    """Write `out/index.html`, which links every page in `out`."""
    index = out / "index.html"
    names = sorted(page.stem for page in out.glob("[0-9]*.html"))
    items = "\n".join(
        f'<li><a href="{html.escape(name)}.html">{html.escape(name.replace("_", " "))}</a></li>'
        for name in names
    )
    index.write_text(
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>The lessons</title>\n'
        "<style>:root { color-scheme: light dark; font-family: sans-serif; }</style>\n"
        f"<h1>The lessons</h1>\n<ul>\n{items}\n</ul>\n</html>\n",
        encoding="utf-8",
    )
    return index


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="run_notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: every lesson")
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder of the pages")
    parser.add_argument("--timeout", type=int, default=300, help="seconds that a cell may take")
    parser.add_argument(
        "--without-compiler", action="store_true", help="hide the compiler, as on macOS"
    )
    parser.add_argument(
        "--kernels", type=Path, help="folder of kernel specifications whose python3 runs them"
    )
    asked = parser.parse_args(arguments)
    way = Way(asked.timeout, not asked.without_compiler, asked.kernels)
    notebooks = asked.notebooks or sorted(LESSONS.glob("*.ipynb"))
    missing = [str(notebook) for notebook in notebooks if not notebook.is_file()]
    if missing or not notebooks:
        print(f"No such notebook: {', '.join(missing) or LESSONS / '*.ipynb'}.", file=sys.stderr)
        return 2
    asked.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for notebook in tqdm(notebooks, desc="lessons", unit="lesson", disable=None):
        done = run(notebook, asked.out, way)
        failed += done.failure is not None
        verdict = "FAILED" if done.failure else "ran"
        tqdm.write(f"{verdict:6} {done.seconds:6.1f} s  {done.page}", file=sys.stdout)
        if done.failure:
            tqdm.write(f"\n{done.failure}\n", file=sys.stdout)
    for folder in {notebook.parent for notebook in notebooks}:
        write_texts(folder, asked.out)
    print(f"{len(notebooks) - failed} of {len(notebooks)} lessons ran: {write_index(asked.out)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
