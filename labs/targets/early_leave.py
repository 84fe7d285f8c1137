"""Threads that leave a kernel before its end: one that is too early, and warps that may leave."""

from __future__ import annotations

import ast

import numpy as np

from labs.checking.phrasing import at, block_number
from labs.checking.run import Run
from utils.division import cdiv
from utils.translation import translate
from virtual_gpu.common.lanes import WARP
from virtual_gpu.counts.recorder import Event, Recording

ACCESSES = ("load", "store", "atomic")


def left_before_a_barrier(run: Run) -> str | None:
    """Return sentences if a thread reads a word of another one that has left without a barrier.

    The word is one of shared memory, and its thread stored it after its last barrier. Block 0 and
    a drawn block are examined. The virtual GPU reports no race with a thread that has ended. The
    result is None for a kernel without `return`.
    """
    if not _has_return(run):
        return None
    for recording in run.samples:
        if found := _read_without_barrier(recording):
            return _sentences(run, recording, *found)
    return None


def warps_that_leave(run: Run) -> str | None:
    """Return a sentence if warps of block 0 pass fewer barriers than others, because they leave.

    The result is None for a kernel without `return`.
    """
    if not _has_return(run):
        return None
    recording = run.samples[0]
    passed = np.zeros(cdiv(int(np.prod(recording.shape)), WARP), np.int64)
    for event in recording.events:
        if event.kind == "barrier":
            passed[np.unique(np.flatnonzero(event.first >= 0) // WARP)] += 1
    if passed.min() == passed.max():
        return None
    return translate(
        "Warps leave your kernel: a warp passes {mean:.3g} barriers on average, and one that stays "
        "to the end passes {most}.",
        mean=passed.mean(),
        most=passed.max(),
    )


def _has_return(run: Run) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(run.tree))


def _sentences(run: Run, recording: Recording, store: Event, load: Event, reader: int) -> str:
    """Return sentences on a word that a thread reads although it may not be stored yet.

    They name the word that thread `reader` loads in the event `load`, and the thread that stores
    the word in the event `store` and then leaves.
    """
    word = int(load.first[reader])
    site = next(
        one.site
        for one in run.trace.access_counts
        if (one.kind, one.site.line) == ("load", load.line)
    )
    return translate(
        "{where}: thread {reader} of block {block} reads `{array}[{word}]`, which thread {writer} "
        "stores in line {store}. Thread {writer} then leaves the kernel, and passes no barrier "
        "between its store and its end. So nothing guarantees on a GPU that the word is stored "
        "before it is read, although these sums are right. Let a thread leave only after the "
        "barrier that follows its last store.",
        where=at(site),
        writer=int(np.flatnonzero(store.first == word)[-1]),
        block=block_number(recording.block),
        array=load.array,
        word=word,
        store=store.line,
        reader=reader,
    )


def _read_without_barrier(recording: Recording) -> tuple[Event, Event, int] | None:
    """Return (store, load, thread) of the first word that is read without a barrier, or None.

    store: the event that stored the word. load: the event in which the thread with this number
    reads it. Between both, the storing thread takes part in no barrier and in no other meeting of
    threads, such as a shuffle. The virtual GPU reports such a pair as a race while the storing
    thread lives, so in a launch without a race this thread has ended.
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
