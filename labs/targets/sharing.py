"""Targets of work that is shared: by the threads of a block, and through shared memory.

A kernel in which one thread does everything reaches the targets of `counts`, because a request of
one lane needs one sector and one wavefront. It misses the targets of this module.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

import numpy as np

from labs.checking.phrasing import at_line, block_number, counted
from labs.checking.run import Run
from labs.checking.target import Target
from utils.translation import translate
from virtual_gpu.counts.counters import AccessCount
from virtual_gpu.counts.recorder import Recording

EXCHANGES = ("shuffle", "vote", "match")  # kinds of events that bring values of other threads
COUNTING_BARRIERS = ("syncthreads_and", "syncthreads_count", "syncthreads_or")
MOST_SHARES = 2  # a thread may load for another one that only adds


def elements_per_thread(each: int) -> Target:
    """Return the target that no thread stores more than `each` elements, at every shape.

    The count is the largest number of elements of the result that a thread of block 0 or of a drawn
    block stores. It is larger if the threads of all blocks but block 0 store more on average; then
    the count is this average.
    """

    def measure(run: Run) -> float:
        first, blocks = _stored_by_thread(run, run.samples[0]), run.job.launch(run.shape).blocks
        others = (run.out.size - first.sum()) / (max(1, blocks - 1) * first.size)
        return float(max(others, *(_stored_by_thread(run, one).max() for one in run.samples)))

    def cause(run: Run, value: float) -> str:
        most = max(run.samples, key=lambda one: _stored_by_thread(run, one).max())
        stored = _stored_by_thread(run, most)
        threads = run.job.launch(run.shape).threads
        return translate(
            "thread {thread} of block {block} stores {elements} of `{result}`, and {idle} of the "
            "{threads} threads of the block store nothing. The launch has a thread for {each}, so "
            "let every thread store its own.",
            thread=int(stored.argmax()),
            block=block_number(most.block),
            elements=counted(int(stored.max()), "element"),
            result=run.result,
            idle=int((stored == 0).sum()),
            threads=threads,
            each=translate("every element") if each == 1 else counted(each, "element"),
        )

    what = "one element" if each == 1 else f"{each} elements"
    words = f"each thread stores {what}"
    return Target("elements per thread", each, words, measure, cause, every_shape=True)


def _stored_by_thread(run: Run, recording: Recording) -> np.ndarray:
    """Return how many elements of the result each thread of a block stores, int64, (threads,)."""
    stored = np.zeros(run.job.launch(run.shape).threads, int)
    for event in recording.events:
        if (event.kind, event.array) == ("store", run.result):
            stored += (event.first >= 0) * event.width
    return stored


def full_shared_requests() -> Target:
    """Return the target that all requests to shared memory have 32 active lanes.

    The count is 32 divided by the average number of active lanes in the worst source line, at the
    first shape; its limit is 1. Without a request to shared memory the count is 0.
    """

    def worst(run: Run) -> AccessCount | None:
        return min(_shared(run), key=lambda one: one.lanes / one.requests, default=None)

    def measure(run: Run) -> float:
        one = worst(run)
        return 32 * one.requests / one.lanes if one else 0.0

    def cause(run: Run, value: float) -> str:
        one = worst(run)
        return translate(
            "{where}: in the requests to `{array}` only {lanes:.3g} of 32 lanes work, while the "
            "others wait. Lanes that come one after the other never meet in a bank, and take much "
            "longer.",
            where=at_line(one.site),
            array=one.array,
            lanes=one.lanes / one.requests,
        )

    words = "each request to shared memory serves all 32 lanes of a warp"
    return Target("shared requests for 32 lanes", 1, words, measure, cause)


def from_shared_memory(least: float, unit: str = "multiply-add") -> Target:
    """Return the target of at least `least` words loaded from shared memory per unit of work.

    unit: "multiply-add", or "element" for an element of the result. The count is the number of
    words per unit that are missing; its limit is 0. Of the words loaded from an array, only the
    share counts that `Run.used_shares` gives: those that another thread has stored and on which the
    result depends. At shapes that do not fill all blocks every word counts, because a block of few
    elements may use only its own words.
    """

    def work(run: Run) -> int:
        return math.prod(run.shape) if unit == "multiply-add" else run.out.size

    def loads(run: Run) -> list[AccessCount]:
        return [one for one in _shared(run) if one.kind == "load"]

    def loaded(run: Run) -> float:
        """Return the number of used words that are loaded from shared memory per unit of work."""
        words = (one.words * run.used_shares.get(one.array, 0) for one in loads(run))
        return sum(words) / work(run)

    def missing_at_edges(run: Run) -> float:
        return max(0.0, least - sum(one.words for one in loads(run)) / work(run))

    def measure(run: Run) -> float:
        return max(0.0, least - loaded(run))

    def cause(run: Run, value: float) -> str:
        if not any(one.kind == "store" for one in _shared(run)):
            return translate(
                "the kernel stores nothing in shared memory. The task is to exchange words through "
                "it: at least {least:g} per {unit} are to be loaded from there.",
                unit=translate(unit),
                least=least,
            )
        return translate(
            "the kernel loads {loaded:.3g} words from shared memory per {unit} that bring input "
            "of another thread to the result, and the task needs at least {least:g}.",
            loaded=loaded(run),
            unit=translate(unit),
            least=least,
        )

    words = f"at least {least:g} word{'s' * (least != 1)} from shared memory per {unit}"
    what = "words missing from shared memory"
    return Target(what, 0, words, measure, cause, at_edges=missing_at_edges)


def loads_of_one_thread(at_most: int, every_shape: bool = True) -> Target:
    """Return the target of at most `at_most` loads in each thread of block 0 and a drawn block.

    Loads from shared and global memory count; those from local arrays do not. Shuffles and votes
    count as well, because they also bring values of other threads. every_shape: False to test only
    shapes that fill all blocks, for kernels whose threads load more at others.
    """

    def received(run: Run, recording: Recording) -> np.ndarray:
        return _loads_of_each_thread(recording) + _exchanges_of_each_thread(run, recording)

    def measure(run: Run) -> float:
        return float(max(received(run, one).max() for one in run.samples))

    def cause(run: Run, value: float) -> str:
        busiest = max(run.samples, key=lambda one: received(run, one).max())
        loads = received(run, busiest)
        exchanges = _exchanges_of_each_thread(run, busiest)
        if 2 * exchanges.max() > value:
            return translate(
                "thread {thread} of block {block} takes part in {exchanges:,} shuffles and votes. "
                "With its loads that is {value:g}, and the target is {at_most}. In a tree, each "
                "step halves the number of values that are left.",
                thread=int(exchanges.argmax()),
                block=block_number(busiest.block),
                exchanges=int(exchanges.max()),
                value=value,
                at_most=at_most,
            )
        made = [one for one in run.trace.access_counts if one.kind == "load"]
        most = max(made, key=lambda one: one.requests)
        return translate(
            "thread {thread} of block {block} makes {loads}, one after the other, and the target "
            "is {at_most}. Most of the block's loads are in {where}. Which threads could share "
            "this work?",
            thread=int(loads.argmax()),
            block=block_number(busiest.block),
            loads=counted(int(value), "load"),
            at_most=at_most,
            where=at_line(most.site),
        )

    words = f"at most {at_most} loads by one thread"
    return Target("loads of one thread", at_most, words, measure, cause, every_shape)


def loads_by_all_threads(share: Callable[[Run], float], *parameters: str) -> Target:
    """Return the target that the threads of a block load its words together, at every shape.

    The count is the number of words that the busiest thread of block 0 and a drawn block loads from
    these inputs, divided by its share, and its limit is MOST_SHARES. A warp that loads for the
    whole block loads many shares. share: returns the words that each thread of a full block loads
    if all load equally many. parameters: the exercise's names of the inputs.
    """

    def loaded(run: Run, recording: Recording) -> np.ndarray:
        """Return how many words of the inputs each thread of a block loads, int64, (threads,)."""
        arrays = {one.name for one in recording.arrays if one.space == "global"}
        arrays &= {run.names[one] for one in parameters}
        words = np.zeros(math.prod(recording.shape), int)
        for event in recording.events:
            if event.kind == "load" and event.array in arrays:
                words += (event.first >= 0) * event.width
        return words

    def measure(run: Run) -> float:
        return max(loaded(run, one).max() for one in run.samples) / share(run)

    def cause(run: Run, value: float) -> str:
        busiest = max(run.samples, key=lambda one: loaded(run, one).max())
        words = loaded(run, busiest)
        return translate(
            "thread {thread} of block {block} loads {words} from global memory, and {idle} of the "
            "{threads} threads of the block load nothing. If all of them load together, {most} "
            "per thread are enough.",
            thread=int(words.argmax()),
            block=block_number(busiest.block),
            words=counted(int(words.max()), "word"),
            idle=int((words == 0).sum()),
            threads=words.size,
            most=counted(math.ceil(share(run)), "word"),
        )

    words = "all threads of a block load together"
    what = "loads of the busiest thread, in shares"
    return Target(what, MOST_SHARES, words, measure, cause, every_shape=True)


def _loads_of_each_thread(recording: Recording) -> np.ndarray:
    """Return how many loads of shared and global memory each thread makes, int64, (threads,)."""
    arrays = {one.name for one in recording.arrays if one.space in ("shared", "global")}
    loads = np.zeros(math.prod(recording.shape), int)
    for event in recording.events:
        if event.kind == "load" and event.array in arrays:
            loads += event.first >= 0
    return loads


def _exchanges_of_each_thread(run: Run, recording: Recording) -> np.ndarray:
    """Return in how many shuffles and votes each thread takes part, int64, (threads,).

    A barrier that also counts the threads with a condition is a vote.
    """
    counting = {
        node.lineno
        for node in ast.walk(run.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in COUNTING_BARRIERS
    }
    exchanges = np.zeros(math.prod(recording.shape), int)
    for event in recording.events:
        if event.kind in EXCHANGES or (event.kind == "barrier" and event.line in counting):
            exchanges += event.first >= 0
    return exchanges


def _shared(run: Run) -> list[AccessCount]:
    """Return the AccessCounts of shared memory: one per source line, array and kind of access."""
    return [one for one in run.trace.access_counts if one.space == "shared"]
