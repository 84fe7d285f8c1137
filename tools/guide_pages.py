"""Make the generated pages of the instructor's guide: answers and mistakes.

`python -m tools.guide_pages` writes them, and the tests require them to be up to date. `python -m
tools.guide_pages scale "no test"` prints a wrong solution of the page of mistakes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat

from labs import EXERCISES, check
from labs.checking.variants import Wrong, function_in, wrong_versions
from labs.checking.verdict import Verdict
from labs.grading.labs import LABS, Lab
from utils.paths import ROOT, lessons, number_of

GUIDE = ROOT / "labs" / "guide"
ANSWERS, MISTAKES = GUIDE / "answers.md", GUIDE / "mistakes.md"
SHOWN = 6  # mistakes per exercise
PATIENCE = 10.0  # seconds of a launch
# The files of answers that are code, by lesson and exercise number.
CODE = {("04", 1): "chain", ("05", 2): "four_rows", ("09", 2): "eight_loads"}
_MADE = "<!-- Made by `python -m tools.guide_pages`. -->"

# ------------------------------------------------------------------------------------- answers

_TITLE = re.compile(r"\*\*(\d\. .+?)\*\*")
_ANSWER = re.compile(
    r"<details><summary>(?:Solution|Answer)[^<]*</summary>(.*?)</details>", re.DOTALL
)
# Control characters that mark the text of a code cell within prose.
_BEGIN, _END = "\x02", "\x03"
_CODE = re.compile(f"{_BEGIN}(.*?){_END}", re.DOTALL)


def answers() -> str:
    """Return the page of answers to the exercises at the end of the lessons, as Markdown.

    A lesson whose tasks are all checked has no such exercises and no section.
    """
    return "\n".join((
        "# Answers to the exercises of the lessons",
        "",
        _MADE,
        "",
        "This page lists the exercises at the end of the lessons, and their answers, which also "
        "fold out in the lesson. The figures are those of the lessons: computed by their cells, or "
        "taken from the records. If the lesson gives a cell for a task, it is printed below the "
        "task; it uses names from earlier cells of the lesson. To give these exercises as "
        "homework, give students a copy of the course without the answers "
        "([how](../GUIDE.md#a-copy-of-the-course-for-students)).",
        *(section for lesson in lessons().values() for section in _lesson(lesson)),
        "",
    ))  # fmt: skip


def _lesson(file: Path) -> Iterator[str]:
    """Yield the texts of a lesson's section of the page; none if the lesson has no exercises.

    The heading comes first; then each exercise has its task, the code if there is any, and its
    answer. A text may have several lines.
    """
    cells = nbformat.read(file, 4).cells
    numbered = list(enumerate(exercises(cells), start=1))
    if not numbered:
        return
    title = cells[0].source.splitlines()[0].removeprefix("# ")
    yield f"\n## [{title}](../../notebooks/{file.name})"
    for number, (name, task, code, answer) in numbered:
        yield f"\n**{name}** {task}\n"
        if code:
            yield f"```python\n{code}\n```\n"
        yield f"> {answer}"
        if (number_of(file.name), number) in CODE:
            yield _listing(CODE[number_of(file.name), number])


def _listing(name: str) -> str:
    """Return the code of the file `labs/guide/NAME.py` as Markdown, without its docstring."""
    _, _, code = (GUIDE / f"{name}.py").read_text(encoding="utf-8").partition('"""\n\n')
    return f"\n```python\n{code}```"


def exercises(cells: list) -> Iterator[tuple[str, str, str, str]]:
    """Yield (title, task, code, answer) of each exercise in the section "Exercises" of a lesson.

    A lesson without this section has none. cells: the lesson's cells. The title begins with the
    exercise's number, such as "1. ". The task and the answer are one line of Markdown; code is ""
    if the lesson gives none.
    """
    prose = "\n\n".join(
        cell.source if cell.cell_type == "markdown" else f"{_BEGIN}{cell.source.rstrip()}{_END}"
        for cell in cells
    )
    _, *after = re.split(r"^## Exercises$", prose, flags=re.MULTILINE)
    if not after:
        return
    section = re.split(r"^## ", after[0], flags=re.MULTILINE)[0]
    for exercise in re.split(r"^(?=\*\*\d\. )", section, flags=re.MULTILINE)[1:]:
        title, answer = _TITLE.match(exercise), _ANSWER.search(exercise)
        task = exercise[title.end() : answer.start()]
        code = "\n\n".join(_CODE.findall(task))
        yield title[1], _one_line(_CODE.sub("", task)), code, _one_line(answer[1])


def _one_line(text: str) -> str:
    """Return prose of a notebook as one line of Markdown, with links relative to the guide."""
    for tag, mark in (("code", "`"), ("em", "*"), ("b", "**")):
        text = re.sub(rf"</?{tag}>", mark, text)
    text = re.sub(r"</?(?:p|details|summary)>", " ", text)
    text = re.sub(r"\]\((?=[\w-]+\.(?:ipynb|md)\))", "](../../notebooks/", text)
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return " ".join(text.split())


# ------------------------------------------------------------------------------------ mistakes


def mistakes() -> str:
    """Return the page of common mistakes of each lab, in the checker's words, as Markdown."""
    return "\n".join((
        "# Common mistakes, as the checker words them",
        "",
        _MADE,
        "",
        f"For each exercise, this page lists {SHOWN} of the wrong solutions that the checker "
        "knows, and the feedback that a student reads. `labs/exercises/NAME/wrong.py` has all of "
        "them. A sentence names the cause with line, thread and number; only the hints say how to "
        "fix it. Line numbers refer to the file that begins with the imports of the starter.",
        "",
        "The wrong solutions themselves are not shown here, because they contain most of the "
        "right one. This command, run in the folder of the course, prints one of them, by the name "
        "of its exercise and its words in the table:",
        "",
        "```bash",
        'python -m tools.guide_pages scale "no test"',
        "```",
        *(section for lab in LABS.values() for section in _lab(lab)),
        "",
    ))  # fmt: skip


def _lab(lab: Lab) -> Iterator[str]:
    """Yield the texts of a lab's section of the page of mistakes.

    The heading comes first, and then a text per exercise. An exercise that an earlier lab has is
    only referred to. A text may have several lines.
    """
    yield f"\n## {lab.title} (`{lab.name}`)"
    for part in lab.parts:
        first = next(o for o in LABS.values() if part.exercise in [p.exercise for p in o.parts])
        if first is lab:
            yield mistakes_of(part.exercise)
        else:
            yield f"\n### `{part.exercise}`\n\nSee *{first.title}*."


def judged(name: str, one: Wrong) -> Verdict:
    """Return what `check` says about a wrong solution of an exercise."""
    return check(name, function_in(name, one.text), PATIENCE)


def mistakes_of(name: str, judge: Callable[[str, Wrong], Verdict] = judged) -> str:
    """Return the Markdown section of an exercise on its mistakes.

    It is a table of up to `SHOWN` wrong solutions, each with another sentence of the checker.
    judge: returns what `check` says, as `judged` does.
    """
    by_cause: dict[str, str] = {}
    for one in wrong_versions(EXERCISES[name]):
        verdict = judge(name, one)
        by_cause.setdefault(" ".join(verdict.causes), one.what)
        if len(by_cause) == SHOWN:
            break
    lines = (f"| {_cell(what)} | {_cell(cause)} |" for cause, what in by_cause.items())
    head = f"\n### `{name}`\n\n| mistake | what `check` says |\n| --- | --- |"
    return "\n".join((head, *lines))


def _cell(text: str) -> str:
    r"""Return a text as a cell of a Markdown table: on one line, and with `\|` for each `|`."""
    return " ".join(text.replace("|", "\\|").split())


def wrong_text(name: str, what: str) -> str:
    """Return the content of a file with one wrong solution of an exercise.

    name: the exercise's name. what: the words on the mistake in the table. The checker's sentences
    name lines of this file. Raises SystemExit with one sentence if there is no such exercise or
    mistake.
    """
    if name not in EXERCISES:
        raise SystemExit(f"There is no exercise {name!r}: {', '.join(EXERCISES)}.")
    wrong = {one.what: one.text for one in wrong_versions(EXERCISES[name])}
    if what not in wrong:
        raise SystemExit(f"{name} has no mistake {what!r}: {'; '.join(wrong)}.")
    return wrong[what]


def main(arguments: list[str] | None = None) -> None:
    """Write the pages of answers and common mistakes; with two arguments, print a wrong solution.

    The two arguments are the exercise's name and the words on the mistake. Any other number of
    arguments ends the program with a sentence.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) == 2:
        print(wrong_text(*words), end="")
        return
    if words:
        raise SystemExit('Give nothing, or an exercise and a mistake: scale "no test".')
    ANSWERS.write_text(answers(), encoding="utf-8")
    MISTAKES.write_text(mistakes(), encoding="utf-8")


if __name__ == "__main__":
    main()
