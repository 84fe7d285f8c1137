"""The pages of the instructor's guide that are made: answers and mistakes.

`python -m tools.guide_pages` writes them; the tests hold them equal to what it would write.
`python -m tools.guide_pages scale "no test"` prints a wrong solution of the page of mistakes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat

from labs import EXERCISES, check
from labs.checking.variants import function_in, wrong_versions
from labs.grading.labs import LABS, Lab
from utils.paths import ROOT

GUIDE = ROOT / "labs" / "guide"
ANSWERS, MISTAKES = GUIDE / "answers.md", GUIDE / "mistakes.md"
SHOWN = 6  # mistakes of each exercise
PATIENCE = 10.0  # seconds of a launch
# Answers that are code, by lesson and number of the exercise.
CODE = {("04", 1): "chain", ("05", 2): "four_rows", ("09", 2): "eight_loads", ("18", 3): "largest"}
_MADE = "<!-- Made by `python -m tools.guide_pages`. -->"

# ------------------------------------------------------------------------------------- answers

_TITLE = re.compile(r"\*\*(\d\. .+?)\*\*")
_ANSWER = re.compile(
    r"<details><summary>(?:Solution|Answer)[^<]*</summary>(.*?)</details>", re.DOTALL
)
# Around the text of a cell of code, among prose.
_BEGIN, _END = "\x02", "\x03"
_CODE = re.compile(f"{_BEGIN}(.*?){_END}", re.DOTALL)


def answers() -> str:
    """The page with the answers to the exercises at the end of all lessons."""
    lessons = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    return "\n".join((
        "# Answers to the exercises of the lessons",
        "",
        _MADE,
        "",
        "The exercises at the end of each lesson, and their answers, which also fold out there. "
        "The figures are those of the lessons: computed by their cells, or taken from the records. "
        "Below a task stands the cell that the lesson gives for it; what this cell uses comes from "
        "earlier cells of the lesson. "
        "Whoever gives these exercises as home work removes the answers from the lessons first "
        "([how](../GUIDE.md#academic-honesty)).",
        *(section for lesson in lessons for section in _lesson(lesson)),
        "",
    ))  # fmt: skip


def _lesson(file: Path) -> Iterator[str]:
    cells = nbformat.read(file, 4).cells
    title = cells[0].source.splitlines()[0].removeprefix("# ")
    yield f"\n## [{title}](../../notebooks/{file.name})"
    for number, (name, task, code, answer) in enumerate(exercises(cells), start=1):
        yield f"\n**{name}** {task}\n"
        if code:
            yield f"```python\n{code}\n```\n"
        yield f"> {answer}"
        if (file.name[:2], number) in CODE:
            yield _listing(CODE[file.name[:2], number])


def _listing(name: str) -> str:
    """The code of an answer, without its first line, which says of which exercise it is."""
    _, _, code = (GUIDE / f"{name}.py").read_text(encoding="utf-8").partition('"""\n\n')
    return f"\n```python\n{code}```"


def exercises(cells: list) -> Iterator[tuple[str, str, str, str]]:
    """Of each exercise at a lesson's end the title, the task, the code given, and the answer."""
    prose = "\n\n".join(
        cell.source if cell.cell_type == "markdown" else f"{_BEGIN}{cell.source.rstrip()}{_END}"
        for cell in cells
    )
    rest = re.split(r"^## Exercises$", prose, flags=re.MULTILINE)[1]
    rest = re.split(r"^## ", rest, flags=re.MULTILINE)[0]
    for piece in re.split(r"^(?=\*\*\d\. )", rest, flags=re.MULTILINE)[1:]:
        title, answer = _TITLE.match(piece), _ANSWER.search(piece)
        task = piece[title.end() : answer.start()]
        code = "\n\n".join(_CODE.findall(task))
        yield title[1], _one_line(_CODE.sub("", task)), code, _one_line(answer[1])


def _one_line(text: str) -> str:
    """Prose of a notebook on one line, with its few tags as Markdown; links lead from the guide."""
    for tag, mark in (("code", "`"), ("em", "*"), ("b", "**")):
        text = re.sub(rf"</?{tag}>", mark, text)
    text = re.sub(r"</?(?:p|details|summary)>", " ", text)
    text = re.sub(r"\]\((?=[\w-]+\.(?:ipynb|md)\))", "](../../notebooks/", text)
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return " ".join(text.split())


# ------------------------------------------------------------------------------------ mistakes


def mistakes() -> str:
    """The page with common mistakes of each lab, as the checker words them."""
    return "\n".join((
        "# Common mistakes, as the checker words them",
        "",
        _MADE,
        "",
        f"For each exercise {SHOWN} of the wrong solutions that the checker knows "
        "(`labs/exercises/NAME/wrong.py` has them all), and what a student reads. A sentence names "
        "the cause with line, thread and number; the cure stands in the hints alone. Lines are "
        "those of the file that begins with the imports of the starter.",
        "",
        "The wrong solutions themselves are not shown here, because they hold most of the right "
        "one. This command, in the folder of the course, prints one of them, by the name of its "
        "exercise and its words in the table:",
        "",
        "```bash",
        'python -m tools.guide_pages scale "no test"',
        "```",
        *(section for lab in LABS.values() for section in _lab(lab)),
        "",
    ))  # fmt: skip


def _lab(lab: Lab) -> Iterator[str]:
    yield f"\n## {lab.title} (`{lab.name}`)"
    for part in lab.parts:
        first = next(o for o in LABS.values() if part.exercise in [p.exercise for p in o.parts])
        if first is lab:
            yield mistakes_of(part.exercise)
        else:
            yield f"\n### `{part.exercise}`\n\nSee *{first.title}*."


def mistakes_of(name: str) -> str:
    """The section of one exercise: its first wrong solutions that are told different causes."""
    told: dict[str, str] = {}
    for one in wrong_versions(EXERCISES[name]):
        verdict = check(name, function_in(name, one.text), PATIENCE)
        told.setdefault(" ".join(verdict.causes), one.what)
        if len(told) == SHOWN:
            break
    lines = (f"| {_cell(what)} | {_cell(cause)} |" for cause, what in told.items())
    head = f"\n### `{name}`\n\n| mistake | what `check` says |\n| --- | --- |"
    return "\n".join((head, *lines))


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def wrong_text(name: str, what: str) -> str:
    """The text of a wrong solution: the whole file, whose lines the checker's sentences name.

    Raises SystemExit with one sentence where there is no such exercise or mistake.
    """
    if name not in EXERCISES:
        raise SystemExit(f"There is no exercise {name!r}: {', '.join(EXERCISES)}.")
    wrong = {one.what: one.text for one in wrong_versions(EXERCISES[name])}
    if what not in wrong:
        raise SystemExit(f"{name} has no mistake {what!r}: {'; '.join(wrong)}.")
    return wrong[what]


def main(arguments: list[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) == 2:
        print(wrong_text(*given), end="")
        return
    if given:
        raise SystemExit('Give nothing, or an exercise and a mistake: scale "no test".')
    ANSWERS.write_text(answers(), encoding="utf-8")
    MISTAKES.write_text(mistakes(), encoding="utf-8")


if __name__ == "__main__":
    main()
