"""Execute lessons and write each as a page: `python -m utils.lessons.run_notebooks`.

The notebooks themselves are only read. The executed ones are written to `executed/` beside the
pages, and the site takes their outputs from there. Exit code: 0 if all lessons ran; 1 if a cell
failed or a lesson breaks a rule of `utils.lessons.rules` (the others still run); 2 if there is
nothing to run.
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
from traitlets.config import Config

from utils import paths, translation
from utils.lessons import ledger_file, rules
from utils.lessons.first_cell import FOLDED, first_cell, without_setup
from utils.lessons.lesson_text import from_notebook
from utils.lessons.rule_exceptions import exceptions_of
from utils.paths import EXTRA, NOTEBOOKS, lessons, number_of
from utils.reader_folder import LEDGER, PAGE
from virtual_gpu.pictures import once_per_page

TEMPLATES = Path(__file__).parent / "pages"
EXECUTED = "executed"
TRACEBACK_LINES = 15
_LINK = re.compile(r'<a [^>]*?href="(?P<page>[\w-]+\.html)(?:#[^"]*)?"[^>]*>(.*?)</a>', re.DOTALL)
# This makes the machine look like macOS, for which NVIDIA publishes no compiler.
HIDE_COMPILER = "from numba.cuda.cudadrv import nvvm; nvvm.is_available = lambda: False"


@dataclass(frozen=True)
class LessonRun:
    """The result of executing a lesson.

    page: the path of the page that was written. seconds: the duration. failure: the failed cell or
    the broken rules as text; None if the lesson ran and breaks no rule.
    """

    page: Path
    seconds: float
    failure: str | None


@dataclass(frozen=True)
class RunOptions:
    """Options for executing lessons.

    timeout: seconds that one cell may take. compiler: False hides the compiler, as on macOS.
    kernels: a folder of Jupyter kernel specifications whose "python3" runs the lessons; None runs
    them with this interpreter. rules: False leaves out the check of the outputs.
    """

    timeout: int
    compiler: bool = True
    kernels: Path | None = None
    rules: bool = True


def run(notebook: Path, out: Path, options: RunOptions) -> LessonRun:
    """Execute a notebook file, write the page `out/<name>.html`, and return the result.

    If a cell fails, the page has the cells below it too, but they are not executed. If the lesson
    ran and breaks no rule, the notebook with its outputs is written to `out/executed/`; as on the
    page, its opening cell has no sentence on the set-up and no badge. Otherwise a notebook of an
    earlier run is deleted there.
    """
    started = time.perf_counter()
    lesson = nbformat.read(notebook, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder) / ledger_file.NAME
        failure = _execute(lesson, notebook, predictions, options)
        if options.rules:
            failure = failure or _broken_rules(lesson, notebook, predictions)
    page = out / f"{notebook.stem}.html"
    page.write_text(_page(lesson, notebook.stem), encoding="utf-8")
    _keep(lesson, out / EXECUTED / notebook.name, failure)
    return LessonRun(page, time.perf_counter() - started, failure)


def _keep(lesson: nbformat.NotebookNode, file: Path, failure: str | None) -> None:
    """Write the executed lesson to `file`; if it failed, delete the file of an earlier run."""
    file.parent.mkdir(exist_ok=True)
    if failure:
        file.unlink(missing_ok=True)
    else:
        nbformat.write(lesson, file)


def _broken_rules(lesson: nbformat.NotebookNode, notebook: Path, predictions: Path) -> str | None:
    """Return the file name and the rules that the outputs break, as text with a line for each.

    Return None if they break no rule. predictions: the file in which the lesson kept its measured
    answers. A notebook without the course's first cell has no rules to keep.
    """
    if not any(cell.source == first_cell(number_of(notebook.stem)) for cell in lesson.cells):
        return None
    measured = {
        name: entry.measured
        for name, entry in ledger_file.read(predictions).items()
        if entry.revealed
    }
    shown, number = from_notebook(lesson, notebook.stem), number_of(notebook.stem)
    broken = rules.broken_when_shown(shown, measured, exceptions_of(number))
    return "\n".join([f"{notebook.name}:", *broken]) if broken else None


def _execute(
    lesson: nbformat.NotebookNode, notebook: Path, predictions: Path, options: RunOptions
) -> str | None:
    """Execute `lesson`, which gets the outputs; return the failing cell and its error as text.

    Return None if no cell fails. predictions: the file for the lesson's predictions and answers.
    While the cells run, a progress bar is shown.
    """
    index = 0
    hidden = [] if options.compiler else [f"--IPKernelApp.exec_lines={HIDE_COMPILER}"]
    # Without folders to search, "python3" can only mean the interpreter that runs this.
    folders = [str(options.kernels)] if options.kernels else []
    kernel = AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=folders))
    with tqdm(
        total=len(lesson.cells), desc=notebook.stem, unit="cell", leave=False, disable=None
    ) as bar:

        def note_start(cell: nbformat.NotebookNode, cell_index: int) -> None:
            nonlocal index
            index = cell_index
            bar.update()

        client = NotebookClient(
            lesson,
            km=kernel,
            timeout=options.timeout,
            extra_arguments=["--log-level=ERROR", *hidden],
            resources={"metadata": {"path": str(notebook.parent)}},
            # No program runs behind a page, so it shows a widget's static output instead.
            store_widget_state=False,
            on_cell_start=note_start,
        )
        try:
            client.execute(cleanup_kc=True, env=_environment(notebook, predictions))
        except (CellControlSignal, DeadKernelError) as error:
            return _describe(f"{notebook.name}, cell {index + 1}", lesson.cells[index], error)
    return None


def _environment(notebook: Path, predictions: Path) -> dict[str, str]:
    """Return the environment variables, by name, of the kernel that runs a notebook.

    They are those of this process, and those that choose inline figures, no progress bars, page
    mode, the notebook's language and `predictions` as the file of predictions.
    """
    return {
        **os.environ,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "VIRTUAL_GPU_PROGRESS": "0",  # a page cannot show a line that changes
        PAGE: "1",
        translation.LANGUAGE: paths.tag(notebook) or translation.ENGLISH,
        LEDGER: str(predictions),
    }


def _describe(where: str, cell: nbformat.NotebookNode, error: Exception) -> str:
    """Return a failed cell as text: the line `where`, its source, and the end of its traceback."""
    text = str(error).partition("\n")[0]
    if isinstance(error, CellExecutionError):
        raised = [output for output in cell.outputs if output.output_type == "error"]
        text = "\n".join(raised[-1].traceback)
    last = strip_ansi(text).splitlines()[-TRACEBACK_LINES:]
    source = [f"    {line}" for line in cell.source.splitlines()]
    return "\n".join([f"{where}:", "", *source, "", *last])


def _page(lesson: nbformat.NotebookNode, name: str) -> str:
    """Return the HTML page of a notebook. name: its title if the notebook has no heading.

    It changes the notebook: the opening cell loses its sentence on the set-up and its badge.
    """
    for cell in lesson.cells[:1]:
        cell.source = without_setup(cell.source)  # a page loads nothing from other hosts
    exporter = HTMLExporter(
        template_name="lesson",
        extra_template_basedirs=[str(TEMPLATES)],
        config=Config({"TagRemovePreprocessor": {"remove_input_tags": set(FOLDED["tags"])}}),
    )
    title = _title(lesson) or name
    body, _ = exporter.from_notebook_node(lesson, resources={"metadata": {"name": title}})
    # All pages are in one folder, as the notebooks are.
    linked = re.sub(r'href="([\w-]+)\.(?:ipynb|md)(#[^"]*)?"', r'href="\1.html\2"', body)
    return once_per_page(linked)


def _title(lesson: nbformat.NotebookNode) -> str:
    """Return the heading with which a notebook begins; "" if there is none."""
    text = next((cell.source for cell in lesson.cells if cell.cell_type == "markdown"), "")
    match = re.match(r"# (.+)", text)
    return match[1] if match else ""


def unlink_missing(out: Path) -> None:
    """Replace links to pages that are not in `out` by their words, in each page in `out`."""
    for page in out.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        linked = _LINK.sub(lambda link: link[0] if (out / link["page"]).exists() else link[2], text)
        if linked != text:
            page.write_text(linked, encoding="utf-8")


def write_texts(folder: Path, out: Path) -> None:
    """Write each Markdown file in `folder`, such as the glossary, as the page `out/<name>.html`."""
    for text in folder.glob("*.md"):
        page = new_notebook(cells=[new_markdown_cell(text.read_text(encoding="utf-8"))])
        (out / f"{text.stem}.html").write_text(_page(page, text.stem), encoding="utf-8")


def write_index(out: Path) -> Path:
    """Write `out/index.html` and return its path.

    The page links, by title, every page of a lesson in `out`.
    """
    index = out / "index.html"
    pages = [*sorted(out.glob("[0-9]*.html")), *sorted(out.glob(f"{EXTRA}*.html"))]
    lines = (f"- [{_title_of(page)}]({page.name})" for page in pages)
    listed = new_markdown_cell("\n".join(("# The lessons", "", *lines)))
    index.write_text(_page(new_notebook(cells=[listed]), "The lessons"), encoding="utf-8")
    return index


def _title_of(page: Path) -> str:
    """Return the title of a page that was written, with markup escaped for Markdown.

    Without a title it is the name of the file, without its suffix.
    """
    title = re.search(r"<title>(.*?)</title>", page.read_text(encoding="utf-8"), re.DOTALL)
    return re.sub(r"([][*_`<\\])", r"\\\1", html.unescape(title[1]).strip()) if title else page.stem


def main(arguments: list[str] | None = None) -> int:
    """Execute the lessons of the command line, print their results, and return the exit code.

    The pages, those of the Markdown files beside the notebooks, and the index are written into the
    folder of --out. The exit code is 0 if all lessons ran and break no rule, 1 if one failed, and 2
    if a notebook is missing. arguments: the words of the command line, by default those of this
    process.
    """
    parser = argparse.ArgumentParser(prog="run_notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: every lesson in English")
    parser.add_argument("--out", type=Path, default=Path("build"), help="folder of the pages")
    parser.add_argument("--timeout", type=int, default=300, help="seconds that a cell may take")
    parser.add_argument(
        "--without-compiler", action="store_true", help="hide the compiler, as on macOS"
    )
    parser.add_argument(
        "--kernels", type=Path, help="folder of kernel specifications whose python3 runs them"
    )
    parsed = parser.parse_args(arguments)
    options = RunOptions(parsed.timeout, not parsed.without_compiler, parsed.kernels)
    notebooks = parsed.notebooks or list(lessons().values())
    missing = [str(notebook) for notebook in notebooks if not notebook.is_file()]
    if missing or not notebooks:
        print(f"No such notebook: {', '.join(missing) or NOTEBOOKS / '*.ipynb'}.", file=sys.stderr)
        return 2
    parsed.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for notebook in tqdm(notebooks, desc="lessons", unit="lesson", disable=None):
        result = run(notebook, parsed.out, options)
        failed += result.failure is not None
        verdict = "FAILED" if result.failure else "ran"
        tqdm.write(f"{verdict:6} {result.seconds:6.1f} s  {result.page}", file=sys.stdout)
        if result.failure:
            tqdm.write(f"\n{result.failure}\n", file=sys.stdout)
    for folder in {notebook.parent for notebook in notebooks}:
        write_texts(folder, parsed.out)
    unlink_missing(parsed.out)
    print(f"{len(notebooks) - failed} of {len(notebooks)} lessons ran: {write_index(parsed.out)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
