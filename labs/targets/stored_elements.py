"""Probes that look at which thread stores which elements, for elements stored twice or never."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from labs.checking.phrasing import counted
from labs.checking.run import Run
from utils.translation import translate
from virtual_gpu import VirtualGpuError

BLOCKS = 4  # the most blocks that are looked at
LISTED = 4  # the most elements of one thread that a sentence lists

Thread = tuple[int, int]  # (block, thread of the block)
Stored = Mapping[Thread, list[int]]


def overlap_or_gap(run: Run) -> str | None:
    """Return sentences on two threads that store one element, or on an element that none stores.

    The two threads come first. An element that none stores is named only if it is before all stored
    ones, between the elements of thread 0, or between those of threads 0 and 1. Returns None if
    neither is found, or if the second launch fails, for example because it does not end. Only the
    first BLOCKS blocks are looked at; the kernel is launched again to record them.
    """
    try:
        stored = _stored(run)
    except VirtualGpuError:  # it takes longer than the run did
        return None
    return _overlap(stored) or _gap(run, stored)


def stored_twice(run: Run) -> str | None:
    """Return a sentence on an element that is stored more than once, or None if there is none.

    It is the lowest element that two threads store, and the sentence names both; if there is none,
    it is the element that the first thread with a repetition stores most often. Also returns None
    for a result with several dimensions, and if the second launch fails, for example because it
    does not end. Only the first blocks are looked at; the kernel is launched again to record them.
    """
    if run.out.ndim > 1:
        return None
    try:
        stored = _stored(run)
    except VirtualGpuError:  # it takes longer than the run did
        return None
    if owners := _owners_of_shared(stored):
        element, one, other = owners
        return translate(
            "{threads} both store element {element}.", threads=_both(one, other), element=element
        )
    for (block, thread), elements in stored.items():
        element = max(elements, key=elements.count)
        if elements.count(element) > 1:
            return translate(
                "Thread {thread} of block {block} stores element {element} {times}. Is the line "
                "inside a loop that it does not need?",
                thread=thread,
                block=block,
                element=element,
                times=counted(elements.count(element), "time"),
            )
    return None


def _stored(run: Run) -> Stored:
    """Return a dict from (block, thread) to the elements of the result that it stores, in order.

    Threads that store nothing are left out. Only the first BLOCKS blocks are looked at; the kernel
    is launched again for each of them.
    """
    elements = defaultdict(list)
    for block in range(min(BLOCKS, run.job.launch(run.shape).blocks)):
        for event in run.recorded(block).events:
            if (event.kind, event.array) == ("store", run.result):
                for thread in np.flatnonzero(event.first >= 0):
                    first = int(event.first[thread])
                    elements[block, int(thread)] += range(first, first + event.width)
    return elements


def _overlap(stored: Stored) -> str | None:
    """Return sentences on the first element that two threads store, or None if there is none."""
    owners = _owners_of_shared(stored)
    if owners is None:
        return None
    twice, one, other = owners
    if stored[one] == stored[other] == [twice]:
        return translate(
            "{threads} both store element {element}, and nothing else. Which index gives every "
            "thread an element of its own?",
            threads=_both(one, other),
            element=twice,
        )
    return translate(
        "{threads} both store element {element}. One of them stores {elements}, and the other "
        "{others}. Which index gives every thread elements of its own?",
        threads=_both(one, other),
        element=twice,
        elements=_listed(stored[one]),
        others=_listed(stored[other]),
    )


def _owners_of_shared(stored: Stored) -> tuple[int, Thread, Thread] | None:
    """Return (element, thread, other thread) for the first element that two threads store.

    Returns None if each element is stored by one thread at most.
    """
    owners = defaultdict(list)
    for thread, elements in stored.items():
        for element in dict.fromkeys(elements):
            owners[element].append(thread)
    twice = min((element for element in owners if len(owners[element]) > 1), default=None)
    return None if twice is None else (twice, *owners[twice][:2])


def _gap(run: Run, stored: Stored) -> str | None:
    """Return sentences on the first element that no thread stores, or None.

    Returns None unless the element is before all stored ones, between the elements of thread 0 of
    block 0, or between those of threads 0 and 1; in the last two cases thread 1 must store
    elements, too. Also returns None if thread 0 stores nothing.
    """
    missing = int(np.flatnonzero(run.unwritten)[0])
    own, next_own = stored.get((0, 0)), stored.get((0, 1))
    if not own:
        return None
    if missing < min(map(min, stored.values())):
        return translate(
            "The first element that a thread stores is {element}, and thread 0 of block 0 stores "
            "{elements}. Which element should it begin with?",
            element=min(map(min, stored.values())),
            elements=_listed(own),
        )
    between = next_own and max(own) < missing < min(next_own)
    if not next_own or not (between or min(own) < missing < max(own)):
        return None
    return translate(
        "No thread stores element {element}: thread 0 of block 0 stores {elements}, and thread 1 "
        "{others}. How far apart are the elements of neighbouring threads, and those of one "
        "thread?",
        element=missing,
        elements=_listed(own),
        others=_listed(next_own),
    )


def _both(one: Thread, other: Thread) -> str:
    """Return a phrase for the beginning of a sentence, such as "Threads 0 and 1 of block 0"."""
    values = {"thread": one[1], "block": one[0], "other": other[1], "other_block": other[0]}
    if one[0] == other[0]:
        return translate("Threads {thread} and {other} of block {block}", **values)
    return translate(
        "Thread {thread} of block {block} and thread {other} of block {other_block}", **values
    )


def _listed(elements: list[int]) -> str:
    """Return a phrase on the elements of one thread, such as "elements 0, 32 and 64".

    Each element is named once. More than four are shortened to their number, the first and the
    last. A single element that is stored several times is followed by the number of times.
    """
    different = list(dict.fromkeys(elements))
    if len(different) == 1:
        name = translate("element {element}", element=different[0])
        times = counted(len(elements), "time")
        return name if len(elements) == 1 else f"{name}, {times}"
    if len(different) > LISTED:
        return translate(
            "{number:,} elements, among them {first} and {last}",
            number=len(different),
            first=different[0],
            last=different[-1],
        )
    *first, last = map(str, different)
    return translate("elements {first} and {last}", first=", ".join(first), last=last)
