"""The notebook that a student gets: made from a lab's record, so it promises what is graded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from labs.checking.exercise import KernelExercise
from labs.grading.feedback import shown
from labs.grading.hidden import Hidden, HiddenCases
from labs.grading.labs import Lab, Part
from labs.grading.marks import rows_of
from labs.host.exercise import HostExercise
from utils.lessons.first_cell import first_cell

_RULES = """## What is graded, and how

Your functions are graded **by their text**. {how}

You may write

- functions with the names of the tasks, device functions with `@cuda.jit(device=True)`, and \
constants: numbers, types such as `float32`, and tuples of them;
- imports of `cuda` and of types from `numba`, of `numpy`, `math` and `statistics`;
- in functions: `if`, `for`, `while`, assignments, and calls of what `cuda`, `math` and your own \
text define.

Classes, `try`, `with`, `match`, `global`, imports within functions, default arguments and \
attributes of other objects are refused, and the mark names the line. All other lines of this \
notebook, such as calls of `check`, are passed over. If a function of a task stands here twice, \
leave one.

"""
HAND_IN = "Hand in this notebook, or a `.py` file with the same functions."

_KERNELS = """Nothing of your Python is run. Kernels run on the virtual GPU, at the shapes of \
this notebook and at others that you do not know. `check` says the same as the grader, with the \
shapes of this notebook."""
_HOST = """Functions of the host are held against the rules below; then the grader calls them in \
a sandbox, which has no network and no files of yours."""
_HOW = {
    (True, False): _KERNELS,
    (False, True): f"{_HOST} `check` says the same as the grader.",
    (True, True): f"{_KERNELS} {_HOST}",
}


def notebook(lab: Lab, hand_in: str = HAND_IN) -> nbformat.NotebookNode:
    """The handout: objectives, tasks with their points and hints, starters and checks.

    hand_in: its last sentence.
    """
    cells = [_text(f"lab-{lab.name}", _head(lab)), _code("start", first_cell(lab.lessons[0]))]
    for number, part in enumerate(lab.parts, start=1):
        cells += _task(number, part)
    read = any(not isinstance(part.asked, HostExercise) for part in lab.parts)
    how = _HOW[read, lab.needs_sandbox]
    cells.append(_text("rules", _RULES.format(how=how) + hand_in))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _head(lab: Lab) -> str:
    goals = "\n".join(f"- {goal};" for goal in lab.objectives)
    lessons = " and ".join(f"lesson {lesson}" for lesson in lab.lessons)
    return (
        f"# Lab: {lab.title}\n\n**After this lab you can**\n\n{goals[:-1]}.\n\n"
        f"**Time:** about {lab.minutes} minutes (an estimate). **You need** {lessons}. "
        f"**Points:** {lab.points}. You do not need a GPU."
    )


def _task(number: int, part: Part) -> Iterator[nbformat.NotebookNode]:
    asked = part.asked
    text = "\n\n".join(asked.text)
    title = f"## {number}. {asked.title} ({part.points} points)"
    yield _text(f"{asked.name}-task", f"{title}\n\n{text}\n\n{_points(part)}{_hints(asked.hints)}")
    yield _code(asked.name, asked.starter_text.split('"""\n', 1)[-1].strip(), ["your-turn"])
    yield _code(
        f"{asked.name}-check", f'from labs import check\n\ncheck("{asked.name}", {asked.name})'
    )


def _points(part: Part) -> str:
    """What a part gives points for; rows of one kind stand together."""
    asked = part.asked
    if not isinstance(asked, KernelExercise):
        rows = rows_of(part, [{"refused": "-"}], HiddenCases(()), "")
        return _table([(row.of, row.what) for row in rows])
    rows = rows_of(part, [{"refused": "-"}], Hidden(asked.shapes, 0), "")
    shapes, (found, *targets) = rows[: len(asked.shapes)], rows[len(asked.shapes) :]
    told = list(zip(asked.targets, targets, strict=True))
    main = [row for target, row in told if target.what in part.main]
    others = [row for _, row in told if row.of and row not in main]
    lines = [
        (sum(row.of for row in shapes), f"a right result at {len(shapes)} shapes, in even shares"),
        (found.of, found.what),
        *((row.of, row.what) for row in main),
        (sum(row.of for row in others), f"in even shares: {'; '.join(r.what for r in others)}"),
    ]
    beside = "; ".join(row.what for row in targets if row.beside)
    note = f"\n\nReported beside the mark, without points: {beside}." if beside else ""
    return _table([line for line in lines if line[0]]) + note


def _table(lines: list[tuple[int, str]]) -> str:
    rows = "\n".join(f"| {shown(points)} | {what} |" for points, what in lines)
    return f"| points | for |\n| ---: | --- |\n{rows}"


def _hints(hints: tuple[str, ...]) -> str:
    """Each hint folds out inside the one before it."""
    folded = ""
    for number, hint in reversed(list(enumerate(hints, start=1))):
        folded = f"<details><summary>Hint {number}</summary>\n\n{hint}\n\n{folded}</details>\n"
    return f"\n\n{folded}" if folded else ""


def _text(name: str, source: str) -> nbformat.NotebookNode:
    return new_markdown_cell(source, id=_id(name))


def _code(name: str, source: str, tags: list[str] | None = None) -> nbformat.NotebookNode:
    return new_code_cell(source, id=_id(name), metadata={"tags": tags} if tags else {})


def _id(name: str) -> str:
    """The same for the same cell, so that a handout that is made again does not differ."""
    return hashlib.sha256(name.encode()).hexdigest()[:8]
