"""The verdict that `check` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from utils.translation import translate


@dataclass(frozen=True)
class Verdict:
    """The answer of `check`: why a submission is not right yet, or what it reached.

    exercise, title: the name and the heading of the exercise. causes: sentences on what is wrong;
    empty if the submission passed. facts: sentences on what a right submission reached. counts:
    measured figures by the name of their target (`Target.what`). notes: sentences on other things,
    which are no mistakes. reached: phrases on the counts that the task is about, with their
    targets; empty if the submission did not pass. Code is in backticks in all sentences.
    """

    exercise: str
    title: str
    causes: tuple[str, ...]
    facts: tuple[str, ...] = ()
    counts: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True if there are no causes, so the submission is right and reaches all targets."""
        return not self.causes

    @property
    def head(self) -> str:
        """The exercise's title, followed by "right" or "not yet", in the reader's language."""
        title = translate(self.title)
        if self.passed:
            return translate("{title}: right.", title=title)
        return translate("{title}: not yet.", title=title)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences below the head: the causes, or else the facts, followed by the notes."""
        return (*(self.causes or self.facts), *self.notes)

    def __str__(self) -> str:
        """Return the head, sentences and reached counts, one per line, without backticks."""
        lines = (self.head, *self.sentences, *(f"- {one}" for one in self.reached))
        return "\n".join(lines).replace("`", "")

    def _repr_html_(self) -> str:
        """Return the verdict as the HTML of a card for a notebook."""
        from utils.lessons.cards import Card  # this import takes a second

        kind = "good" if self.passed else "bad"
        return Card(kind, (self.head, *self.sentences), items=self.reached)._repr_html_()
