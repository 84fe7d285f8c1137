"""Write the list of the rules that lessons still break: `python -m tools.rule_exceptions`.

Rules on notebooks are checked on the notebooks. Rules on outputs are checked on executed notebooks;
for a lesson without one, the list keeps its entries for these rules. `--run` executes the lessons
that are named, or all of them, first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from labs.exercises import find
from tools.numbers_in_prose import unproven
from utils.lessons.lesson_text import Lesson, read
from utils.lessons.rewriting_rules import RULES, SHOWN_RULES
from utils.lessons.rule_exceptions import FILE, exceptions_of
from utils.lessons.rules import Rule, name_of
from utils.lessons.run_notebooks import EXECUTED, RunOptions, run
from utils.paths import ROOT, lessons

OUT = ROOT / "build" / "rules"  # the pages and executed notebooks of `--run`
TIMEOUT = 300  # seconds for a cell
LEAST_KINDS = 2
HEAD = """\
# The rules that each lesson still breaks. `python -m tools.rule_exceptions` writes this file, and
# tests hold that it lists exactly what is broken. The rules are in utils/lessons/rewriting_rules.py
# and tools/rule_exceptions.py.
"""


def proves_its_numbers(lesson: Lesson) -> Iterator[str]:
    """Yield an excerpt for each number in the prose that no quote in the lesson's tests proves.

    An excerpt has the words around the number, such as "…words 12 words…".
    """
    yield from unproven(lesson.number)


def has_tasks_of_two_kinds(lesson: Lesson) -> Iterator[str]:
    """Yield a sentence unless a lesson checks tasks of two kinds, one of them to write a kernel.

    An exercise that names no kind is one to write.
    """
    kinds = {getattr(find(name), "kind", "write") for name in lesson.positions("check")}
    if len(kinds) < LEAST_KINDS or "write" not in kinds:
        yield f"its tasks are of the kinds {', '.join(sorted(kinds))}; write and another are wanted"


# The rules that also need the exercises or the tests, of which `utils` knows nothing.
WIDER_RULES = (proves_its_numbers, has_tasks_of_two_kinds)


def broken(lesson: Lesson, among: tuple[Rule, ...]) -> list[str]:
    """Return the names of the rules in `among` that a lesson breaks, in the order of `among`."""
    return [name_of(rule) for rule in among if list(rule(lesson))]


def listed(number: str, executed: Path) -> list[str]:
    """Return the names of the rules that a lesson breaks, which the list of exceptions must hold.

    number: the lesson's number. executed: the folder of executed notebooks. If it does not have
    this lesson, the rules on executed notebooks are those that the list has now.
    """
    file = lessons()[number]
    if (executed / file.name).exists():
        shown = broken(read(executed / file.name), SHOWN_RULES)
    else:
        shown = [name for name in exceptions_of(number) if name in map(name_of, SHOWN_RULES)]
    return broken(read(file), (*RULES, *WIDER_RULES)) + shown


def text(names: dict[str, list[str]]) -> str:
    """Return the content of `rule_exceptions.toml`.

    names: number of a lesson -> names of the rules that it breaks.
    """
    rows = (
        f'"{number}" = [\n' + "".join(f'    "{name}",\n' for name in broken) + "]\n"
        for number, broken in names.items()
        if broken
    )
    return HEAD + "".join(rows)


def main(arguments: list[str] | None = None) -> int:
    """Write the file of exceptions, print the violations of the lessons in the arguments; return 0.

    With --run, these lessons are executed first, or all if there are no arguments. arguments: the
    words of the command line, by default those of this process.
    """
    parser = argparse.ArgumentParser(prog="rule_exceptions", description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", help="lessons whose violations are printed")
    parser.add_argument("--run", action="store_true", help="execute the lessons first")
    options = parser.parse_args(arguments)
    for number in (options.lessons or lessons()) if options.run else ():
        OUT.mkdir(parents=True, exist_ok=True)
        result = run(lessons()[number], OUT, RunOptions(TIMEOUT, rules=False))
        print(f"{number} {result.failure or 'ran'}", flush=True)
    names = {number: listed(number, OUT / EXECUTED) for number in lessons()}
    FILE.write_text(text(names), encoding="utf-8")
    for number in options.lessons:
        print(*violations(number, OUT / EXECUTED), sep="\n")
    print(f"{sum(map(len, names.values()))} broken rules of {len(names)} lessons: {FILE}")
    return 0


def violations(number: str, executed: Path) -> Iterator[str]:
    """Yield a line for each violation of a lesson, with the name of its rule.

    executed: the folder of executed notebooks; without one of this lesson, the notebook is read.
    """
    file = executed / lessons()[number].name
    lesson = read(file if file.exists() else lessons()[number])
    for rule in (*RULES, *WIDER_RULES, *SHOWN_RULES):
        yield from (f"{number} {name_of(rule)}: {sentence}" for sentence in rule(lesson))


if __name__ == "__main__":
    sys.exit(main())
