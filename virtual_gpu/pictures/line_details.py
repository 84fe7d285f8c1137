"""The details that a line of the annotated source shows on a click: its costs and first request."""

from __future__ import annotations

import html
from collections.abc import Iterable

from ..common.wording import counted, translate
from ..counts.counters import AccessCount, first_access
from ..counts.transactions import SECTOR_BYTES
from .accesses import lanes_by_banks, lanes_by_sectors, plain

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
    """Return HTML with a sentence per access, the costliest first, and the drawings.

    The MOST_DRAWN costliest accesses are drawn, and equal drawings are drawn once.
    """
    costliest = sorted(accesses, key=_cost, reverse=True)
    sentences = "".join(f"<p>{html.escape(_sentence(access))}</p>" for access in costliest)
    drawn = dict.fromkeys(_drawn(access) for access in costliest[:MOST_DRAWN])
    return f"{sentences}{''.join(drawn)}"


def _sentence(access: AccessCount) -> str:
    """Return a sentence on the cost of an access, summed over the whole launch."""
    name = _name(access)
    if access.kind == "atomic":
        return translate(
            "{access}, whole launch: {operations} of threads.",
            access=name,
            operations=counted(access.lanes, "operation"),
        )
    if access.space == "shared":
        return translate(
            "{access}, whole launch: {requests} took {wavefronts}, {each:.3g} per request.",
            access=name,
            requests=counted(access.requests, "request"),
            wavefronts=counted(access.wavefronts, "wavefront"),
            each=access.wavefronts / access.requests,
        )
    moved = access.sectors * SECTOR_BYTES
    return translate(
        "{access}, whole launch: {requests} moved {sectors}, {moved:,} bytes; {used:,} used, "
        "{wasted:.0%} wasted as far as one request knows.",
        access=name,
        requests=counted(access.requests, "request"),
        sectors=counted(access.sectors, "sector"),
        moved=moved,
        used=access.used_bytes,
        wasted=1 - access.used_bytes / moved,
    )


def _name(access: AccessCount) -> str:
    """Return the name of an access, such as ``load of x``, for the beginning of a sentence."""
    if access.instruction == "load":
        return translate("load of {array}", array=access.array)
    if access.instruction == "store":
        return translate("store of {array}", array=access.array)
    return access.name


def _drawn(access: AccessCount) -> str:
    """Return an SVG of the first request of an access."""
    first = first_access(access)
    title = translate("first {access}", access=_name(access))
    request = plain(first.addresses), first.itemsize, title
    if access.space == "global":
        return lanes_by_sectors(*request)[0]
    return lanes_by_banks(*request, pairs=access.instruction == "load")[0]
