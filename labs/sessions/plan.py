"""Read the plan of a session: `labs/sessions/NN.md`, or `NN_second.md` for a second sitting.

A plan has a heading, six sections with fixed names, and questions for a show of hands. Each
question has four answers with the letters A to D; below them stands which one is right, and why
each other one is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from utils.errors import CourseError
from utils.paths import ROOT

FOLDER = ROOT / "labs" / "sessions"
SECOND = "_second"  # ends the name of a plan for the second sitting of a lesson
SECTIONS = (
    "Before", "Minute by minute", "The demonstration", "Where a class gets stuck",
    "What to leave out", "Answers",
)  # fmt: skip
_PIECES = re.compile(r"^## (.+)$", re.MULTILINE)
_ANSWER = re.compile(r"^- \*\*([A-D])\*\* (.+)$", re.MULTILINE)
_RIGHT = re.compile(r"^\*\*([A-D]) is right\.\*\* (.+)$", re.MULTILINE)
_WRONG = re.compile(r"^- ([A-D]): (.+)$", re.MULTILINE)
_CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ASKED = re.compile(r"^Ask: (.+)$", re.MULTILINE)
_OPENS = re.compile(r"^Begin with: (.+)$", re.MULTILINE)
_TAKEN_HOME = re.compile(r"^Take home: (.+)$", re.MULTILINE)
_MINUTES = re.compile(r"^\| (\d+) to (\d+) \|", re.MULTILINE)
_TESTED = re.compile(r"\bquestion (\d), then the demonstration")
_SHOWN = re.compile(r"\bquestion (\d)|\bdemonstration\b")


@dataclass(frozen=True)
class Question:
    """A question for a show of hands.

    text: as Markdown, without the answers. answers: a dict from the letter, A to D, to the answer.
    right: the letter of the right answer. because: why it is right. wrong: a dict from the letter
    of each other answer to why it is wrong.
    """

    text: str
    answers: Mapping[str, str]
    right: str
    because: str
    wrong: Mapping[str, str]


@dataclass(frozen=True)
class Session:
    """The plan of a session.

    number: the lesson's number, such as "05", or the name of an extra one; "05_second" for the
    second sitting. title: without the number. sections: a dict from each heading in `SECTIONS` to
    the Markdown below it. questions: in order. asked: the question that the class answers before it
    sees the demonstration. taken_home: the sentence that ends the session. opens: the question of
    the first slide, as Markdown; "" if it is the one with which the lesson begins.
    """

    number: str
    title: str
    sections: Mapping[str, str]
    questions: tuple[Question, ...]
    asked: str
    taken_home: str
    opens: str

    @property
    def lesson(self) -> str:
        """The number or name of the lesson."""
        return self.number.removesuffix(SECOND)

    @property
    def heading(self) -> str:
        """The title, with "second sitting" if the plan is for one."""
        return self.title if self.lesson == self.number else f"{self.title}, second sitting"

    @property
    def minutes(self) -> list[tuple[int, int]]:
        """The (first, last) minute of each row of the table of minutes."""
        rows = _MINUTES.findall(self.sections["Minute by minute"])
        return [(int(first), int(last)) for first, last in rows]

    @property
    def order(self) -> list[int]:
        """Numbers of the questions in the order of the table of minutes, 0 for the demonstration.

        Those that the table does not name come last: first 0, and then the questions in order.
        """
        named = [int(number or 0) for number in _SHOWN.findall(self.sections["Minute by minute"])]
        return list(dict.fromkeys([*named, *range(len(self.questions) + 1)]))

    @property
    def tested(self) -> int:
        """The number, from 1 on, of the question that the demonstration answers, or 0."""
        found = _TESTED.search(self.sections["Minute by minute"])
        return int(found[1]) if found else 0

    @property
    def demonstration(self) -> list[str]:
        """The Python code of each code block in the section on the demonstration, in order."""
        return _CODE.findall(self.sections["The demonstration"])


def plan_files() -> dict[str, Path]:
    """Return a dict from a session's number, such as "05" or "05_second", to its plan's path.

    It is in the order of the file names.
    """
    return {file.stem: file for file in sorted(FOLDER.glob("*.md")) if file.stem != "README"}


def find(number: str) -> Session:
    """Return the plan of a session. Raises CourseError if there is none."""
    files = plan_files()
    if number not in files:
        raise CourseError(f"There is no plan for {number}: there are {', '.join(files)}.")
    return read(files[number])


def read(file: Path) -> Session:
    """Return the plan in a file. Raises CourseError if a part of it is missing."""
    head, *pieces = _PIECES.split(file.read_text(encoding="utf-8"))
    title = re.match(r"# Session \w+(?:, second sitting)?: (.+)", head)
    named = dict(zip(pieces[::2], pieces[1::2], strict=True))
    missing = [name for name in SECTIONS if name not in named]
    if missing or not title:
        raise CourseError(f"{file.name} has no {missing[0] if missing else 'heading'}.")
    questions = (_question(name, text) for name, text in named.items() if name not in SECTIONS)
    sections = {name: named[name].strip() for name in SECTIONS}
    asked = _ASKED.search(sections["The demonstration"])
    taken_home = _TAKEN_HOME.search(sections["Answers"])
    if not asked or not taken_home:
        line = "Take home" if asked else "Ask"
        raise CourseError(f'{file.name} needs a line that begins with "{line}: ".')
    opens = _OPENS.search(sections["Before"])
    return Session(
        file.stem, title[1], sections, tuple(questions), asked[1], taken_home[1],
        opens[1] if opens else "",
    )  # fmt: skip


def _question(name: str, text: str) -> Question:
    """Return the question in a section. Raises CourseError if an answer or a reason is missing."""
    answers, right = dict(_ANSWER.findall(text)), _RIGHT.search(text)
    wrong = dict(_WRONG.findall(text))
    if sorted(answers) != list("ABCD") or not right:
        raise CourseError(f"{name} needs the answers A to D, and a line that says which is right.")
    if sorted([*wrong, right[1]]) != sorted(answers):
        raise CourseError(f"{name} needs a reason for each wrong answer.")
    return Question(text[: _ANSWER.search(text).start()].strip(), answers, *right.groups(), wrong)
