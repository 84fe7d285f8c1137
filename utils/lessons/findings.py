"""The virtual GPU's findings, shown in a lesson as sentences."""

from __future__ import annotations

from utils.lessons.cards import Card
from utils.translation import translate
from virtual_gpu import Trace


def findings(trace: Trace, first: int = 1) -> Card:
    """Return a card with what the virtual GPU found wrong in a launch, one sentence per finding.

    first: the largest number of findings shown. If there are no findings, the card says so.
    """
    sentences = tuple(f"{finding}" for finding in trace.findings[:first])
    if not sentences:
        nothing = translate(
            "The virtual GPU found nothing wrong in `{kernel}`.", kernel=trace.kernel
        )
        return Card("good", (nothing,))
    return Card("bad", sentences)
