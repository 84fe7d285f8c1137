"""The sub-command `slides` of `python -m labs`: a session's questions and demonstration.

The slides are one HTML file for a browser, made by nbconvert with reveal.js.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import SlidesExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from labs.sessions import plan
from labs.sessions.plan import Question, Session
from utils.errors import CourseError
from utils.lessons.lesson_text import read
from utils.paths import ROOT, lessons

SLIDE, BELOW, TOGETHER = "slide", "subslide", "-"  # how a cell follows the one before it
TIMEOUT = 300  # seconds for a cell
STYLE = """<style>
.reveal .jp-RenderedHTMLCommon p, .reveal .jp-RenderedHTMLCommon li { font-size: 120%; }
.reveal blockquote { width: auto; margin: 0; padding: 0; border: 0; box-shadow: none; }
.reveal .jp-RenderedHTMLCommon blockquote p { font-size: 90%; font-style: normal; color: #555; }
.reveal .jp-OutputArea-output { zoom: 1.8; }
.reveal .jp-OutputArea-output:has(input, ol) { zoom: 1.1; }  /* tall: it has controls */
.reveal .jp-OutputArea-output :is(svg, img) { max-height: 340px; width: auto; }
.reveal .jp-OutputPrompt, .reveal .jp-InputPrompt { display: none; }
</style>
"""


def add_to(commands) -> None:
    """Add the sub-command to an argparse parser; commands: what `add_subparsers` returned."""
    parser = commands.add_parser("slides", help="write the slides of a session for a class")
    parser.description = "Write the slides of sessions: the question, a demonstration, two votes."
    named = "such as 05 or 05_second; or all"
    parser.add_argument("lessons", nargs="+", metavar="LESSON", help=named)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write one HTML file per session, print its path, and return exit code 0.

    arguments: those of the sub-command. Raises CourseError if there is no plan for a lesson, a
    demonstration fails, or the folder cannot be written.
    """
    numbers = list(plan.plan_files()) if arguments.lessons == ["all"] else arguments.lessons
    for session in map(plan.find, numbers):
        page = as_html(executed(notebook(session)))
        file = arguments.out / f"session_{session.number}.html"
        try:
            arguments.out.mkdir(parents=True, exist_ok=True)
            file.write_text(page, encoding="utf-8")
        except OSError as error:
            raise CourseError(f"{file} cannot be written: {error.strerror}.") from None
        print(file)
    return 0


def notebook(session: Session) -> nbformat.NotebookNode:
    """Return the slides of a session as a notebook whose demonstration has not run yet."""
    cells = [_text(f"# {session.heading}\n\n{session.opens or _opening(session.lesson)}", SLIDE)]
    for number in session.order:
        if number:
            cells += _question(session.questions[number - 1], number == session.tested)
            continue
        cells += _demonstration(session)
        if session.tested:
            cells.append(_answer(session.questions[session.tested - 1], SLIDE))
    cells.append(_text(f"## To take home\n\n{session.taken_home}", SLIDE))
    return new_notebook(cells=cells)


def _text(source: str, follows: str) -> nbformat.NotebookNode:
    """Return a Markdown cell with this source.

    follows: how its slide follows the one before, `SLIDE`, `BELOW` or `TOGETHER`.
    """
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": follows}})


def _opening(number: str) -> str:
    """Return the question with which a lesson begins, as Markdown, or "" if it has none.

    It is the first paragraph in the lesson's first text cell that ends with a bold question.
    """
    paragraphs = read(lessons()[number]).prose[0].source.split("\n\n")
    return next((text for text in paragraphs if text.endswith("?**")), "")


def _demonstration(session: Session) -> Iterator[nbformat.NotebookNode]:
    """Yield the cell with the question to ask, then a cell per code block of the demonstration."""
    yield _text(f"### {session.asked}", SLIDE)
    for code in session.demonstration:
        yield new_code_cell(code.strip(), metadata={"slideshow": {"slide_type": SLIDE}})


def _question(question: Question, tested: bool) -> Iterator[nbformat.NotebookNode]:
    """Yield a slide with a question and its four answers, and below it a slide with the right one.

    tested: True if the demonstration tests the answers; then the second slide is left out.
    """
    answers = "\n".join(f"- **{letter}** {text}" for letter, text in question.answers.items())
    yield _text(f"### {question.text}\n\n{answers}", SLIDE)
    if not tested:
        yield _answer(question, BELOW)


def _answer(question: Question, follows: str) -> nbformat.NotebookNode:
    """Return the slide of an answer, which repeats the question; follows: `SLIDE` or `BELOW`."""
    wrong = "\n".join(
        f"- **{letter}** {why[0].upper()}{why[1:]}" for letter, why in question.wrong.items()
    )
    right = f"**{question.right}** {question.answers[question.right]}"
    asked = indent(question.text, "> ", lambda line: True)
    return _text(f"{asked}\n\n### {right}\n\n{question.because}\n\n{wrong}", follows)


def executed(slides: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Run the demonstration in the course's folder, and return the same notebook with outputs.

    Raises CourseError with the last line of the error if a cell fails.
    """
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    client = NotebookClient(
        slides, timeout=TIMEOUT, kernel_name="python3", store_widget_state=False,
        resources={"metadata": {"path": str(ROOT)}},
    )  # fmt: skip
    try:
        client.execute()
    except CellExecutionError as error:
        last = str(error).strip().splitlines()[-1]
        raise CourseError(f"The demonstration fails: {last}") from None
    return slides


def as_html(slides: nbformat.NotebookNode) -> str:
    """Return the slides without code as one HTML page, which loads reveal.js from the network."""
    exporter = SlidesExporter(
        embed_images=True, reveal_scroll=True, reveal_transition="none", exclude_input=True
    )
    return exporter.from_notebook_node(slides)[0].replace("</head>", f"{STYLE}</head>", 1)
