"""A remark on a thread that stores a word of shared memory and leaves before the next barrier."""

from __future__ import annotations

import ast

import numpy as np

from labs.checking.run import Run
from utils.translation import translate
from virtual_gpu.counts.recorder import Event, Recording

ACCESSES = ("load", "store", "atomic")


def stored_before_leaving(run: Run) -> str | None:
    """Return sentences if a thread reads a word of another one that has left without a barrier.

    The word is one of shared memory, and its thread stored it after its last barrier. Block 0 of
    the run is examined. The result is None for a kernel without `return`.
    """
    if not any(isinstance(node, ast.Return) for node in ast.walk(run.tree)):
        return None
    found = _read_without_barrier(run.recorded(0))
    if found is None:
        return None
    store, load, lane = found
    word = int(load.first[lane])
    return translate(
        "Thread {writer} stores `{array}[{word}]` in line {store} and leaves the kernel before it "
        "reaches a further barrier. Thread {reader} reads this word in line {load}. A barrier "
        "orders only what the threads do that reach it, so nothing guarantees that the word is "
        "stored before it is read. Let threads leave after the barrier that follows their last "
        "store.",
        writer=int(np.flatnonzero(store.first == word)[-1]),
        array=load.array,
        word=word,
        store=store.line,
        reader=lane,
        load=load.line,
    )


def _read_without_barrier(recording: Recording) -> tuple[Event, Event, int] | None:
    """Return a store, the load that reads one of its words, and the reading thread, or None.

    Between both, the storing thread takes part in no barrier and in no other meeting of threads,
    such as a shuffle. The virtual GPU reports such a pair as a race while the storing thread lives,
    so in a launch without a race this thread has ended.
    """
    events, threads = recording.events, int(np.prod(recording.shape))
    words = {one.name: int(np.prod(one.shape)) for one in recording.arrays if one.space == "shared"}
    writer = {name: np.full(size, -1) for name, size in words.items()}
    stored = {name: np.full(size, -1) for name, size in words.items()}  # the number of the event
    met = np.full(threads, -1)  # the number of each thread's latest meeting
    for number, event in enumerate(events):
        active = np.flatnonzero(event.first >= 0)
        if event.kind not in ACCESSES:
            met[active] = number
        if event.array not in words:
            continue
        at = event.first[active]
        if event.kind == "load":
            by = writer[event.array][at]
            late = (by >= 0) & (by != active) & (met[by] < stored[event.array][at])
            if late.any():
                first = int(np.flatnonzero(late)[0])
                return events[stored[event.array][at[first]]], event, int(active[first])
        else:
            writer[event.array][at], stored[event.array][at] = active, number
    return None
