"""The notebook that a student gets, made from a lab's record, so that it matches what is graded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from labs.checking.exercise import KernelExercise
from labs.checking.line_order import OrderExercise
from labs.checking.target import Target
from labs.grading.hidden import HiddenCases, count_shapes
from labs.grading.labs import Lab, Part
from labs.grading.marks import main_targets, other_targets, points_of_rows, rows_of, scores
from labs.host.exercise import HostExercise
from utils.lessons.first_cell import FOLDED, first_cell
from utils.paths import is_extra
from utils.translation import translate

# One line for each kind of line in a submission; `labs/GUIDE.md` has the same table.
ALLOWED = """| | you may write | refused, with the line |
| --- | --- | --- |
| imports | `cuda` and types from `numba`, `numpy`, `math`, `statistics`, by any name: \
`import numba.cuda as nc`, `from numba.cuda import jit, grid` | imports within functions |
| the task's functions | `def` at the left margin, with plain parameters; \
`name = another_function`; for functions of numbers also `name = lambda side: 4 * side` | \
defaults, `*`, `**`, `/`; a `def` within `if`, `try` or a class |
| decorators | `@cuda.jit`, `@cuda.jit(device=True)`, `@njit`, with options; \
`kernel = cuda.jit(function)` outside of functions | others; `cuda.jit` within a function |
| orders of lines | `order_tree = [3, 1, 2]`: the name of the task and a list of whole numbers | \
a list that a call or a loop makes |
| constants | numbers, types such as `float32`, tuples of them, and expressions of these: \
`2**4`, `max(128, 256)`, `SHAPE[0]`, `256 if LARGE else 128`, `math.ceil(100 / 32)`. A function \
sees the value at its definition | constants that a loop, an `if` or a function sets, or that \
other functions return |
| in all functions | `if`, `for`, `while`, assignments, calls of functions from `cuda`, `math` and \
your own text | classes, `try`, `with`, `match`, `global`, `:=`, attributes of other objects |
| in functions without a decorator | also `lambda`, comprehensions, dictionaries with `items()`, \
`raise ValueError("...")` | these in kernels and device functions |
"""
RULES = f"""## What is graded, and how

Your functions are graded **by their text**. {{how}}

{ALLOWED}
All other lines of this notebook, such as calls of `check` and lines that begin with `%` or `!`, \
are ignored. If this notebook defines a function of a task twice, remove one.

"""
HAND_IN = "Hand in this notebook, or a `.py` file with the same functions."

_KERNELS = """Nothing of your Python is run. Kernels run on the virtual GPU, at the shapes of \
this notebook and at others that you do not know. `check` gives the same feedback as the grader, \
at the shapes of this notebook."""
_HOST = """Host functions are checked against the rules below. Then the grader calls them in a \
sandbox without a network and without your files."""
HOW = {
    (True, False): _KERNELS,
    (False, True): f"{_HOST} `check` gives the same feedback as the grader.",
    (True, True): f"{_KERNELS} {_HOST}",
}


def notebook(lab: Lab, hand_in: str = HAND_IN, hints: bool = True) -> nbformat.NotebookNode:
    """Return a lab's notebook for students: objectives, tasks with points, starters and checks.

    hand_in: the last sentence, which says what to hand in. hints: False to leave hints out.
    """
    cells = [_text(f"lab-{lab.name}", _head(lab)), _code("start", first_cell(lab.lessons[0]))]
    cells[1].metadata.update(FOLDED)
    for number, part in enumerate(lab.parts, start=1):
        cells += _task(number, part, hints)
    read = any(not isinstance(part.definition, HostExercise) for part in lab.parts)
    how = translate(HOW[read, lab.needs_sandbox])
    cells.append(_text("rules", translate(RULES, how=how) + translate(hand_in)))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _lesson(number: str) -> str:
    """Return the words for a lesson, such as "lesson 07" or "the extra lesson on lane maps"."""
    if is_extra(number):
        return translate("the extra lesson on {subject}", subject=number.replace("_", " "))
    return translate("lesson {number}", number=number)


def _head(lab: Lab) -> str:
    """Return the Markdown of the first cell: title, objectives, time, lessons and points."""
    goals = "\n".join(f"- {translate(goal)};" for goal in lab.objectives)
    lessons = map(_lesson, lab.lessons)
    return translate(
        "# Lab: {title}\n\n**After this lab you can**\n\n{goals}.\n\n"
        "**Time:** about {minutes} minutes (an estimate). **You need** {lessons}. "
        "**Points:** {points}. You do not need a GPU.",
        title=translate(lab.title),
        goals=goals[:-1],
        minutes=lab.minutes,
        lessons=translate(" and ").join(lessons),
        points=lab.points,
    )


def _task(number: int, part: Part, hints: bool) -> Iterator[nbformat.NotebookNode]:
    """Yield the three cells of a task: its text, its starter, and a call of `check`.

    number: the task's number in the lab. hints: False to leave hints out.
    """
    exercise, name = part.definition, part.exercise
    text = "\n\n".join(map(translate, exercise.text))
    title = translate(
        "## {number}. {title} ({points} points)",
        number=number,
        title=translate(exercise.title),
        points=part.points,
    )
    if isinstance(exercise, OrderExercise):
        text = f"{text}\n\n{_numbered(exercise)}"
    folded = _hints(tuple(map(translate, exercise.hints))) if hints else ""
    yield _text(f"{name}-task", f"{title}\n\n{text}\n\n{_points(part)}{folded}")
    yield _code(name, exercise.starter_text.split('"""\n', 1)[-1].strip(), ["your-turn"])
    yield _code(f"{name}-check", f'from labs import check\n\ncheck("{name}", {name})')


def _numbered(exercise: OrderExercise) -> str:
    """Return the lines to be put in order, and the given lines, as a Markdown code block."""
    lines = (f"{label:>3}  {line}".rstrip() for label, line in exercise.listing)
    return "\n".join(("```text", *lines, "```"))


def _points(part: Part) -> str:
    """Return a Markdown table of the points of a part and what they are given for.

    For a kernel, a note below names the targets that give no points.
    """
    exercise = part.definition
    if not isinstance(exercise, KernelExercise):
        rows = rows_of(part, [{"refused": "-"}], HiddenCases(()), "")
        return _table([(row.of, row.what) for row in rows])
    lines = (
        translate(
            "a right result at {count} shapes where the virtual GPU finds nothing; each shape "
            "gives its share",
            count=count_shapes(exercise),
        ),
        translate("the idea of the task: {targets}", targets=_listed(main_targets(part))),
        translate(
            "the targets, if the kernel uses the idea: {targets}",
            targets=_listed(other_targets(part)),
        ),
    )
    of_rows = zip(points_of_rows(part), lines, strict=True)
    table = _table([(points, what) for points, what in of_rows if points])
    beside = [one for one in exercise.targets if not scores(part, one)]
    if not beside:
        return table
    note = translate(
        "Reported beside the mark, without points: {targets}.", targets=_listed(beside)
    )
    return f"{table}\n\n{note}"


def _listed(targets: list[Target]) -> str:
    """Return the words of targets, separated by semicolons."""
    return "; ".join(translate(target.words) for target in targets)


def _table(lines: list[tuple[int, str]]) -> str:
    """Return a Markdown table. lines: pairs of points and what they are given for."""
    rows = "\n".join(f"| {points} | {translate(what)} |" for points, what in lines)
    points, reason = translate("points"), translate("for")
    return f"| {points} | {reason} |\n| ---: | --- |\n{rows}"


def _hints(hints: tuple[str, ...]) -> str:
    """Return the hints as folded HTML, each inside the one before it, or "" without hints."""
    folded = ""
    for number, hint in reversed(list(enumerate(hints, start=1))):
        title = translate("Hint {number}", number=number)
        folded = f"<details><summary>{title}</summary>\n\n{hint}\n\n{folded}</details>\n"
    return f"\n\n{folded}" if folded else ""


def _text(name: str, source: str) -> nbformat.NotebookNode:
    """Return a Markdown cell with this text. name: determines the cell's identifier."""
    return new_markdown_cell(source, id=_id(name))


def _code(name: str, source: str, tags: list[str] | None = None) -> nbformat.NotebookNode:
    """Return a code cell with this text.

    name: determines the cell's identifier. tags: the cell's tags, such as "your-turn", or None.
    """
    return new_code_cell(source, id=_id(name), metadata={"tags": tags} if tags else {})


def _id(name: str) -> str:
    """Return a cell's identifier: 8 hexadecimal digits that depend on its name only.

    So a lab's notebook is the same each time that it is made.
    """
    return hashlib.sha256(name.encode()).hexdigest()[:8]
