"""What the virtual GPU found wrong, for a lesson: in whole sentences."""

from __future__ import annotations

from utils.lessons.cards import Card
from virtual_gpu import Trace


def findings(trace: Trace, first: int = 1) -> Card:
    """The first findings of a launch; a card that says so where there is none."""
    told = tuple(f"{found}" for found in trace.findings[:first])
    if not told:
        return Card("good", (f"The virtual GPU found nothing wrong in `{trace.kernel}`.",))
    return Card("bad", told)
