"""What to do about a finding or a hint, as one sentence."""

from __future__ import annotations

from ..common.errors import Finding
from ..counts.hints import Hint

_OF_HINTS = {
    "strided_access": "Let neighbouring threads access neighbouring elements.",
    "idle_lanes": "Share this work among more lanes of the warp.",
}
_OF_FINDINGS = {
    "uninitialised": "Store to the element before it is read, or guard the read.",
    "overflow": "Use integers with more bits.",
    "stale_element": "Store 0 where there is no element to load, or read only what was loaded.",
}
# Parts of messages on warp functions that say by themselves what to do.
_SAID_OF_BARRIERS = ("Put the call outside of", "The mask must name")


def advice(note: Finding | Hint) -> str:
    """Return a sentence that says how to cure a finding or hint; "" if its own message says it."""
    if isinstance(note, Hint):
        if note.kind == "bank_conflict":
            return _of_a_conflict(note)
        return _OF_HINTS.get(note.kind, "")
    if note.kind == "barrier":
        return _of_a_barrier(note)
    if note.kind == "out_of_bounds" and note.axis is not None:
        return f"Guard the access with the extent of dimension {note.axis}, or change the index."
    if note.kind == "race":
        return _of_a_race(note)
    return _OF_FINDINGS.get(note.kind, "")


def _of_a_conflict(hint: Hint) -> str:
    """Return the sentence that advises to pad the rows of a shared array.

    The padding is as many elements as one access moves per lane, so that accesses stay aligned.
    """
    more = int(hint.figures["elements_per_lane"])
    elements = "one more element" if more == 1 else f"{more} more elements"
    return f"Give each row of the shared array {elements}, or change the index."


def _of_a_barrier(finding: Finding) -> str:
    """Return the advice on a barrier or warp function that some threads do not reach.

    It is one sentence, or "" if the finding's message already says what to do.
    """
    if any(sentence in finding.message for sentence in _SAID_OF_BARRIERS):
        return ""
    if "must take part" in finding.message:
        return "Call the function outside of the if, in blocks of whole warps."
    if "reach this barrier" in finding.message:
        return "Put the barrier outside of the if or the loop, where all threads reach it."
    return "Call the function outside of the if, or name only the lanes that take part."


def _of_a_race(finding: Finding) -> str:
    """Return the advice on a race, as one sentence.

    It depends on whether the two threads are in one block, on whether one of the accesses is an
    asynchronous copy that goes on, and on the lines of the two accesses.
    """
    first, second = finding.threads
    if first.block != second.block:
        return "Use an atomic, let one block do it, or split the kernel into two launches."
    if "copies since" in finding.message:
        return "Commit the copies, wait for them, and put cuda.syncthreads() behind the wait."
    if finding.other_line == finding.line:
        return "Use an atomic, or let each element be stored by one thread."
    return f"Put a barrier between line {finding.other_line} and line {finding.line}."
