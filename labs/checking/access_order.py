"""How a function of the CPU walks through its arrays: from one access to the next.

Seen from its innermost loop, where nearly all accesses happen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from labs.checking.run import Run
from virtual_gpu import Site
from virtual_gpu.counts.recorder import Event


@dataclass(frozen=True)
class Walk:
    """A load or a store of the source code that was executed again and again.

    array: the reader's name of it. kind: load or store. times: how often it was executed.
    step: elements from the nearest one that the array gave, or took, since the execution before,
    as it happened most often. So a loop that is unrolled by hand has a step of 1, too.
    """

    site: Site
    array: str
    kind: str
    times: int
    step: int


def innermost_walks(seen: Run) -> list[Walk]:
    """Those of the innermost loop: executed at least half as often as the most frequent one.

    seen: of a function of the CPU.
    """
    walks = _walks(seen)
    most = max((walk.times for walk in walks), default=0)
    return [walk for walk in walks if 2 * walk.times >= most]


def read_before_stored(seen: Run) -> tuple[Site, tuple[int, ...]] | None:
    """The first load of an element of the result that nothing was stored in: where, and which.

    seen: of a function of the CPU.
    """
    stored = set()
    for event in seen.trace.recording.events:
        if event.array != seen.result:
            continue
        first = int(event.first[0])
        elements = range(first, first + event.width)
        if event.kind == "store":
            stored.update(elements)
        elif early := [element for element in elements if element not in stored]:
            index = np.unravel_index(early[0], seen.out.shape)
            return _sites(seen)[event.array, event.kind, event.line], tuple(map(int, index))
    return None


def _sites(seen: Run) -> dict[tuple[str, str, int], Site]:
    """The source line of each array, kind of access and number of a line."""
    return {(one.array, one.kind, one.site.line): one.site for one in seen.trace.access_counts}


def _walks(seen: Run) -> list[Walk]:
    sites = _sites(seen)
    groups: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in seen.trace.recording.events:
        groups[event.array, event.kind].append(event)
    walks = []
    for (array, kind), events in groups.items():
        for operation in dict.fromkeys(event.operation for event in events):
            places = [at for at, event in enumerate(events) if event.operation == operation]
            if len(places) > 1:
                site = sites[array, kind, events[places[0]].line]
                walks.append(Walk(site, array, kind, len(places), _step(events, places)))
    return walks


def _step(events: list[Event], places: list[int]) -> int:
    """The most frequent distance between two executions, which happened at these places."""
    elements = [int(event.first[0]) for event in events]
    steps = Counter(
        min(abs(elements[now] - there) for there in elements[before:now])
        for before, now in pairwise(places)
    )
    return steps.most_common(1)[0][0]
