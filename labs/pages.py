"""How a task and a verdict look in a notebook: plain HTML, the text's colours."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.bank import exercise
from labs.exercise import Exercise

if TYPE_CHECKING:
    from labs.verdict import Verdict

_STYLE = """<style>
.lab {font-family: system-ui, sans-serif; font-size: 14px; line-height: 1.5; max-width: 46em;
 box-sizing: border-box; margin: 4px 0; padding: 6px 12px; border-left: 4px solid #1f7fc4;
 border-radius: 4px; background: rgba(128,128,128,.10); color: inherit}
.lab.right {border-color: #0a9a6c} .lab.not-yet {border-color: #d9730d}
.lab p, .lab ul {margin: 4px 0} .lab ul {padding-left: 1.4em}
.lab code {font-family: monospace; font-size: 13px; background: rgba(128,128,128,.16);
 padding: 0 3px; border-radius: 3px; color: inherit; overflow-wrap: anywhere}
.lab details {margin: 4px 0 4px 2px} .lab summary {cursor: pointer}
</style>"""


@dataclass(frozen=True)
class Task:
    """What is asked, with the targets, and hints that fold out one inside the other."""

    exercise: Exercise

    @property
    def goals(self) -> tuple[str, ...]:
        """What a right kernel is held to."""
        shapes = len(self.exercise.shapes)
        return (f"right at any shape ({shapes} are tried)", *(t.words for t in self._targets))

    @property
    def _targets(self):
        return self.exercise.targets

    def __str__(self) -> str:
        goals = "; ".join(self.goals)
        paragraphs = (f"{self.exercise.title}.", *self.exercise.text, f"Targets: {goals}.")
        return "\n".join(paragraphs).replace("`", "")

    def _repr_html_(self) -> str:
        goals = "".join(f"<li>{_words(one)}</li>" for one in self.goals)
        hints = ""
        for number, hint in reversed(list(enumerate(self.exercise.hints, start=1))):
            summary = f"Hint {number} of {len(self.exercise.hints)}"
            hints = f"<details><summary>{summary}</summary><p>{_words(hint)}</p>{hints}</details>"
        text = "".join(f"<p>{_words(one)}</p>" for one in self.exercise.text)
        title = f"<p><b>{_words(self.exercise.title)}</b></p>"
        return f'{_STYLE}<div class="lab">{title}{text}<ul>{goals}</ul>{hints}</div>'


def task(name: str) -> Task:
    """The task of an exercise, to be shown. Raises CourseError for a name that there is not."""
    return Task(exercise(name))


def verdict_html(verdict: Verdict) -> str:
    """A verdict as a page shows it."""
    kind = "right" if verdict.passed else "not-yet"
    lines = "".join(f"<p>{_words(one)}</p>" for one in verdict.sentences)
    return f'{_STYLE}<div class="lab {kind}"><p><b>{_words(verdict.head)}</b></p>{lines}</div>'


def _words(text: str) -> str:
    """The text escaped, with `code` as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
