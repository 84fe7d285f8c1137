"""What `check` says, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Verdict:
    """Why a kernel is not right yet, or what it reached.

    exercise, title: which. causes: sentences; empty where it passed. facts: what a right kernel
    reached. counts: the figures by name, as far as they were taken. notes: what is worth knowing
    and is no flaw. In all sentences `code` stands between backticks.
    """

    exercise: str
    title: str
    causes: tuple[str, ...]
    facts: tuple[str, ...] = ()
    counts: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is left to do."""
        return not self.causes

    @property
    def head(self) -> str:
        """The title, and whether it passed."""
        return f"{self.title}: {'right' if self.passed else 'not yet'}."

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is shown below the head."""
        return (*(self.causes or self.facts), *self.notes)

    def __str__(self) -> str:
        return "\n".join((self.head, *self.sentences)).replace("`", "")

    def _repr_html_(self) -> str:
        from utils.lessons.cards import Card  # a second that graders need not wait

        kind = "good" if self.passed else "bad"
        return Card(kind, (self.head, *self.sentences))._repr_html_()
