"""The order in which a CPU function accesses its arrays: strides, and loads before a store."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from labs.checking.run import Run
from virtual_gpu import Site
from virtual_gpu.counts.recorder import Event

RARE = 0.2  # the share of an array's accesses that may be outside of the innermost loop
FEWEST = 4  # steps of the loops per access, above which the access is outside of the innermost one
LARGER = 1 / 3  # the share of an access' distances that may be larger than its stride, at least


@dataclass(frozen=True)
class StridedAccess:
    """A load or store in the source code of a CPU function that was executed at least twice.

    site: its source line. array: the reader's name of the array. kind: "load" or "store".
    executions: the number of times it was executed. stride: for each execution but the first, take
    the smallest distance, in elements, to any element of the array that was loaded (or stored)
    since the previous execution of this access; stride is the most frequent of these distances or,
    if more than a third of them are larger, the most frequent of these. In rows of two elements
    that may be a half, because every second distance leads to another row. By this definition a
    loop that is unrolled by hand also has a stride of 1.
    """

    site: Site
    array: str
    kind: str
    executions: int
    stride: int


def innermost_accesses(run: Run) -> list[StridedAccess]:
    """Return a list of the loads and stores in the innermost loop of a CPU function.

    The loads of an array, or its stores, count as part of it, except for the least frequent ones
    that together are at most a fifth of them. So other accesses, however frequent, cannot hide
    those of the innermost loop. An array is left out if its loads, or its stores, are together
    fewer than the product of the sizes in `run.shape`, divided by FEWEST, because its element then
    waits in a variable. The list is grouped by array and kind; it is empty if no access was
    executed twice.
    """
    accesses = _strided_accesses(run)
    steps = math.prod(run.shape)
    return [
        one
        for one in accesses
        if _share_up_to(one, accesses) > RARE and FEWEST * _executions_of(one, accesses) >= steps
    ]


def _executions_of(access: StridedAccess, accesses: list[StridedAccess]) -> int:
    """Return the number of executions of all accesses with the array and the kind of this one."""
    same = [one for one in accesses if (one.array, one.kind) == (access.array, access.kind)]
    return sum(one.executions for one in same)


def _share_up_to(access: StridedAccess, accesses: list[StridedAccess]) -> float:
    """Return the share, 0 to 1, of executions by accesses that are not more frequent than this one.

    Only accesses with its array and kind count, and it counts itself.
    """
    same = [one for one in accesses if (one.array, one.kind) == (access.array, access.kind)]
    rare = sum(one.executions for one in same if one.executions <= access.executions)
    return rare / sum(one.executions for one in same)


def read_before_stored(run: Run) -> tuple[Site, tuple[int, ...]] | None:
    """Return the first load of a result element into which a CPU function has stored nothing yet.

    It is returned as (source line, index of the element), or None if there is no such load.
    """
    stored = set()
    for event in run.trace.recording.events:
        if event.array != run.result:
            continue
        first = int(event.first[0])
        elements = range(first, first + event.width)
        if event.kind == "store":
            stored.update(elements)
        elif early := [element for element in elements if element not in stored]:
            index = np.unravel_index(early[0], run.out.shape)
            return _sites(run)[event.array, event.kind, event.line], tuple(map(int, index))
    return None


def _sites(run: Run) -> dict[tuple[str, str, int], Site]:
    """Return a dict from (reader's array name, "load" or "store", line number) to source line."""
    return {(one.array, one.kind, one.site.line): one.site for one in run.trace.access_counts}


def _strided_accesses(run: Run) -> list[StridedAccess]:
    """Return a StridedAccess for each load or store in the code that was executed at least twice.

    They are grouped by array and kind, in the order of the first access; in a group they are in the
    order of their first execution.
    """
    sites = _sites(run)
    groups: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in run.trace.recording.events:
        groups[event.array, event.kind].append(event)
    accesses = []
    for (array, kind), events in groups.items():
        parameter = run.parameter(array)
        row = run.array(parameter).shape[-1] if parameter else math.inf
        for operation in dict.fromkeys(event.operation for event in events):
            indices = [i for i, event in enumerate(events) if event.operation == operation]
            if len(indices) > 1:
                site = sites[array, kind, events[indices[0]].line]
                stride = _stride(events, indices, max(LARGER, 1 / row))
                accesses.append(StridedAccess(site, array, kind, len(indices), stride))
    return accesses


def _stride(events: list[Event], indices: list[int], most: float) -> int:
    """Return the stride of an access, in elements, as `StridedAccess` defines it.

    events: the loads, or the stores, of one array in order. indices: the positions in `events` of
    the executions of one operation. Each execution but the first is compared with the accesses
    since the previous execution. most: the share of all distances that may be larger than the most
    frequent one; if more are, the most frequent of the larger ones is returned.
    """
    elements = [int(event.first[0]) for event in events]
    strides = Counter(
        min(abs(elements[now] - other) for other in elements[before:now])
        for before, now in pairwise(indices)
    )
    frequent = strides.most_common(1)[0][0]
    larger = Counter({one: count for one, count in strides.items() if one > frequent})
    if larger.total() > most * strides.total():
        return larger.most_common(1)[0][0]
    return frequent
