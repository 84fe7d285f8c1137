"""The instructor's page: what a class got wrong, grouped by cause."""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import nbformat

from labs.grading.feedback import page
from labs.grading.grade import Mark
from labs.grading.labs import Lab, Part
from utils.paths import is_extra, lessons
from virtual_gpu.pictures.svg import in_code

# What may differ between two submissions with one cause: code, elements, numbers, and which of two
# barriers a race lacks, which depends on the warps of the threads that are named.
_OWN = re.compile(r"`[^`]*`|\w+\[[^\]]*\]|[-−]?\d[\d.,×:]*|syncwarp\(\) or ")
_FILE = re.compile(r"`[^`]*(\.\w{1,6})`")
_LINE = re.compile(r"[Ll]ine \d+, `")
_WORD = re.compile(r"[a-z]{4,}")
_HEADING = re.compile(r"^#{2,3} +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Group:
    """Submissions to one exercise that have the same cause.

    sentence: what the checker said of one of them: of the first whose line of code it quotes, or
    else of the first. count: how many there are. refused: True if they were refused because of
    their text or their file, so that nothing ran.
    """

    sentence: str
    count: int
    refused: bool = False


@dataclass(frozen=True)
class Section:
    """A section of a lesson: the lesson's number or name, the heading, and all text below it."""

    lesson: str
    heading: str
    text: str


def groups(marks: Iterable[Mark], part: Part) -> list[Group]:
    """Return the causes for which submissions lost points in one part, the most frequent first.

    A submission counts once, for its first cause. Two sentences are one cause if they differ only
    in numbers, in elements of arrays, and in the code that they quote. A submission that was
    refused before it ran has another cause than one that ran. Causes with the same count keep the
    order in which they first appear in `marks`.
    """
    causes: dict[tuple[str, bool], list[str]] = {}
    for mark in marks:
        if sentence := _cause(mark, part):
            key = _OWN.sub("", sentence), part.exercise in mark.refused
            causes.setdefault(key, []).append(sentence)
    found = (
        Group(next(filter(_LINE.search, each), each[0]), len(each), refused)
        for (_, refused), each in causes.items()
    )
    return sorted(found, key=lambda group: -group.count)


def _cause(mark: Mark, part: Part) -> str:
    """Return the first sentence on why a mark lost points in a part, or "" if no row has a reason.

    A row without points, which only reports a target, is no loss. The result is the first sentence
    about the whole exercise, if there is one, else the reason of the first row that has one. In it,
    "…" replaces the student's name and the names of files, without their suffixes.
    """
    rows = [r for r in mark.rows if r.part == part.exercise and r.told and not r.beside]
    if not rows:
        return ""
    told = next((cause for name, cause in mark.told if name == part.exercise), rows[0].told)
    return _FILE.sub(r"`…\1`", told).replace(mark.student, "…")


def sections(numbers: Iterable[str]) -> Iterator[Section]:
    """Yield the sections of these lessons, in order, without the exercises at the end.

    numbers: the lessons' numbers, such as "07", or their names. The text before the first heading
    of the second level, and the code, belong to no section.
    """
    for number in numbers:
        cells = nbformat.read(lessons()[number], as_version=4).cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        _, *pieces = _HEADING.split(text)
        for heading, below in zip(pieces[::2], pieces[1::2], strict=True):
            if heading != "Exercises":
                yield Section(number, heading, below)


def explaining(sentence: str, among: Sequence[Section]) -> Section | None:
    """Return the section whose words a sentence shares most, or None if no word tells them apart.

    Each word of at least four letters counts once. It weighs more the fewer sections have it, and
    less the more different words its own section has. A word that all sections have weighs nothing.
    If several sections share most, the first of them is returned.
    """
    words = [set(_WORD.findall(f"{one.heading} {one.text}".lower())) for one in among]
    spread = Counter(word for each in words for word in each)
    wanted = set(_WORD.findall(sentence.lower()))
    scores = [
        sum(math.log(len(among) / spread[word]) for word in wanted & each) / math.sqrt(len(each))
        for each in words
    ]
    best = max(range(len(among)), key=scores.__getitem__, default=None)
    return among[best] if best is not None and scores[best] > 0 else None


def as_html(lab: Lab, marks: Sequence[Mark]) -> str:
    """Return the page of a class as HTML, which names no student and loads nothing.

    It has how many submissions have all points and, per part, a row per cause of `groups`, with the
    section of a lesson that explains it.
    """
    among = list(sections(lab.lessons))
    full = sum(mark.points == mark.of for mark in marks)
    body = [f"<p>{_of(full, len(marks))} have all {lab.points} points.</p>"]
    for part in lab.parts:
        found = groups(marks, part)
        right = len(marks) - sum(group.count for group in found)
        body.append(f"<h2>{html.escape(part.definition.title)}</h2>")
        body.append(f"<p>{_of(right, len(marks))} have all {part.points} points.</p>")
        body += [_as_row(group, len(marks), among) for group in found]
    return page(f"{lab.title}: what the class got wrong", "".join(body))


def _of(count: int, all_: int) -> str:
    """Return a phrase such as "<strong>3</strong> of 40 submissions"."""
    return f"<strong>{count}</strong> of {all_} submissions"


def _as_row(group: Group, all_: int, among: Sequence[Section]) -> str:
    """Return HTML for one group: a bar with its share of submissions, its count, its sentence.

    The section that explains the sentence is named below. It is left out if the submissions were
    refused, or if no section of `among` explains it. all_: the number of submissions. among: the
    sections of the lab's lessons.
    """
    share = 100 * group.count / all_
    section = None if group.refused else explaining(group.sentence, among)
    lesson = f'<p class="told">Explained in {_name(section)}</p>' if section else ""
    return (
        f'<div class="group"><div class="share"><span style="width:{share:.1f}%"></span></div>'
        f"<p>{_of(group.count, all_)}</p><p>{in_code(group.sentence)}</p>{lesson}</div>"
    )


def _name(section: Section) -> str:
    """Return HTML such as "lesson 07, “Two barriers”."."""
    lesson = "the extra lesson" if is_extra(section.lesson) else f"lesson {section.lesson}"
    return f"{lesson}, “{in_code(section.heading)}”."
