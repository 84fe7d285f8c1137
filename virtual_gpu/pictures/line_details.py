"""The details that a line of the annotated source shows on a click: its costs and first request."""

from __future__ import annotations

import html
from collections.abc import Iterable

from ..counts.counters import AccessCount, first_access
from ..counts.transactions import SECTOR_BYTES
from .accesses import lanes_by_banks, lanes_by_sectors, plain, plural

MOST_LINES = 6  # lines with details, the costliest ones, because the page must stay small
MOST_DRAWN = 2  # accesses of a line that are drawn


def details_by_line(accesses: Iterable[AccessCount]) -> dict[tuple[str, int], str]:
    """Return a dict from (file, line number) to HTML for the MOST_LINES lines that cost most.

    The HTML has a sentence per access and a drawing of the first request of the costliest ones.
    """
    lines: dict[tuple[str, int], list[AccessCount]] = {}
    for access in accesses:
        lines.setdefault((access.site.file, access.site.line), []).append(access)
    costliest = sorted(lines, key=lambda place: -sum(map(_cost, lines[place])))[:MOST_LINES]
    return {place: _details(lines[place]) for place in costliest}


def _cost(access: AccessCount) -> int:
    """Return the cost of an access: sectors plus wavefronts, or the lanes of an atomic."""
    return access.sectors + access.wavefronts + (access.kind == "atomic") * access.lanes


def _details(accesses: list[AccessCount]) -> str:
    """Return HTML with a sentence per access, the costliest first, and drawings of MOST_DRAWN."""
    costliest = sorted(accesses, key=_cost, reverse=True)
    sentences = "".join(f"<p>{html.escape(_sentence(access))}</p>" for access in costliest)
    drawn = dict.fromkeys(_drawn(access) for access in costliest[:MOST_DRAWN])
    return f"{sentences}{''.join(drawn)}"


def _sentence(access: AccessCount) -> str:
    """Return a sentence on the cost of an access, summed over the whole launch."""
    name = f"{access.name}, whole launch"
    if access.kind == "atomic":
        return f"{name}: {plural(access.lanes, 'operation')} of threads."
    if access.space == "shared":
        each = access.wavefronts / access.requests
        return (
            f"{name}: {plural(access.requests, 'request')} took "
            f"{plural(access.wavefronts, 'wavefront')}, {each:.3g} per request."
        )
    moved = access.sectors * SECTOR_BYTES
    wasted = 1 - access.used_bytes / moved
    return (
        f"{name}: {plural(access.requests, 'request')} moved {plural(access.sectors, 'sector')}, "
        f"{moved:,} bytes; {access.used_bytes:,} used, {wasted:.0%} wasted as far as one request "
        "knows."
    )


def _drawn(access: AccessCount) -> str:
    """Return an SVG of the first request of an access."""
    first = first_access(access)
    request = plain(first.addresses), first.itemsize, f"first {access.name}"
    if access.space == "global":
        return lanes_by_sectors(*request)[0]
    return lanes_by_banks(*request, pairs=access.instruction == "load")[0]
